//! Stretches of arguments, for errors by argument: the same for every dtype, symmetric about 0, and log-spaced.

/// Exponents from here on upwards, and from its negative on downwards, share a stretch with others: functions are flat there, or
/// the identity, or huge.
const FINE: i32 = 16;

/// How many stretches there are between two powers of two, where functions change.
const PARTS: i32 = 4;

/// How many powers of two share a stretch elsewhere.
const SHARED: i32 = 8;

/// The number of stretches on each side that have a length, from the smallest magnitudes to the largest of an f64.
const SIDE: i32 = 1 + (1024 - FINE) / SHARED + 2 * FINE * PARTS + (1074 - FINE) / SHARED + 1;

/// The stretch of an argument, from left to right: 0 for zeros, negative for negative numbers. Infinities and NaN are
/// in the last.
pub fn place(argument: f64) -> i32 {
    if argument == 0.0 {
        return 0;
    }
    let magnitude = if argument.is_finite() { magnitude(argument.abs()) } else { SIDE };
    if argument.is_sign_negative() { -magnitude } else { magnitude }
}

/// The stretch of a positive number, from 1 on.
fn magnitude(argument: f64) -> i32 {
    let power = argument.log2();
    let fine = 2 * FINE * PARTS;
    let below = (1074 - FINE) / SHARED + 1;
    let at = if power < f64::from(-FINE) {
        below - 1 + ((power + f64::from(FINE)) / f64::from(SHARED)).floor() as i32 + 1
    } else if power < f64::from(FINE) {
        below + ((power + f64::from(FINE)) * f64::from(PARTS)) as i32
    } else {
        below + fine + ((power - f64::from(FINE)) / f64::from(SHARED)) as i32
    };
    at.clamp(1, SIDE - 1)
}

/// Where a stretch begins: the least magnitude that is in it, with its sign.
pub fn argument(place: i32) -> f64 {
    let below = (1074 - FINE) / SHARED + 1;
    let fine = 2 * FINE * PARTS;
    let at = place.abs();
    let power = if at == 0 {
        return 0.0;
    } else if at >= SIDE {
        return f64::INFINITY.copysign(f64::from(place));
    } else if at < below {
        f64::from(-FINE) + f64::from((at - below) * SHARED)
    } else if at < below + fine {
        f64::from(-FINE) + f64::from(at - below) / f64::from(PARTS)
    } else {
        f64::from(FINE) + f64::from((at - below - fine) * SHARED)
    };
    power.exp2().copysign(f64::from(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_begins_where_it_says() {
        for at in [1.0, 1.19, 1.999, 3.0, 0.7, 1e-3, 65_535.0, 65_536.0, 1e9, 1e-9, 1e-40, 1e300] {
            let found = place(at);
            let (begin, end) = (argument(found), argument(found + 1));
            assert!(begin <= at * 1.000_001 && at < end, "{at}: {begin}..{end}");
            assert_eq!(place(-at), -found);
            assert_eq!(argument(-found), -begin);
        }
    }

    #[test]
    fn stretches_are_quarters_of_a_power_of_two_and_eight_powers_far_from_1() {
        let stretch = |at: f64| (argument(place(at)), argument(place(at) + 1));
        // 1 and the fourth root of 2.
        assert_eq!(stretch(1.1), (1.0, 1.189_207_115_002_721));
        // 2^16 and 2^24; 2^-24 and 2^-16.
        assert_eq!(stretch(100_000.0), (65_536.0, 16_777_216.0));
        assert_eq!(stretch(1e-6), (5.960_464_477_539_063e-8, 1.525_878_906_25e-5));
    }

    #[test]
    fn stretches_are_in_the_order_of_their_arguments() {
        let all = [f64::NEG_INFINITY, -1e300, -2.0, -1e-5, -1e-310, 0.0, 1e-310, 1e-5, 0.5, 2.0, 1e300];
        let places = all.map(place);
        assert!(places.is_sorted() && places[5] == 0, "{places:?}");
        assert_eq!(place(f64::NAN).abs(), place(f64::INFINITY));
    }
}
