//! Functions of `f64` that the platform lacks or gets wrong by more than rounding, by other ways than `libm` goes: the reference
//! takes that, and a mistake there must not be shared.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2};

/// From here on the square of a number is all there is of the square and 1.
const SQUARE_ALONE: f64 = (1u64 << 28) as f64;

pub(crate) fn asinh(x: f64) -> f64 {
    let a = x.abs();
    let y = if a > SQUARE_ALONE { a.ln() + LN_2 } else { (a + a * a / (1.0 + (a * a + 1.0).sqrt())).ln_1p() };
    y.copysign(x)
}

pub(crate) fn acosh(x: f64) -> f64 {
    let above = x - 1.0;
    match x {
        _ if x < 1.0 => f64::NAN,
        _ if x > SQUARE_ALONE => x.ln() + LN_2,
        _ => (above + (2.0 * above + above * above).sqrt()).ln_1p(),
    }
}

pub(crate) fn atanh(x: f64) -> f64 {
    let a = x.abs();
    (0.5 * (2.0 * a / (1.0 - a)).ln_1p()).copysign(x)
}

pub(crate) fn erf(x: f64) -> f64 {
    let a = x.abs();
    let y = if a < 1.0 { near_zero(a) } else { 1.0 - far_out(a) };
    y.copysign(x)
}

pub(crate) fn erfc(x: f64) -> f64 {
    if x < 0.75 { 1.0 - erf(x) } else { far_out(x) }
}

/// erf x = 2/√π · e^(-x²) · Σ 2ⁿx²ⁿ⁺¹ / (1·3·…·(2n+1)), whose terms do not cancel.
fn near_zero(x: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term > sum * f64::EPSILON / 4.0 {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        sum += term;
    }
    FRAC_2_SQRT_PI * bell(x) * sum
}

/// erfc x = e^(-x²)/√π / (x + ½/(x + 1/(x + 3/2/(x + …)))), from the last quotient that counts.
fn far_out(x: f64) -> f64 {
    if x > 28.0 {
        return 0.0;
    }
    let quotients = 20 + (200.0 / (x * x)) as u32;
    let rest = (1..=quotients).rev().fold(x, |rest, n| x + 0.5 * f64::from(n) / rest);
    0.5 * FRAC_2_SQRT_PI * bell(x) / rest
}

/// e^(-x²), with what is lost of the square when it is rounded.
fn bell(x: f64) -> f64 {
    let square = x * x;
    (-square).exp() * (1.0 - x.mul_add(x, -square))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Function = fn(f64) -> f64;

    /// How far apart two numbers are, in units of the last place of the second.
    fn ulps(found: f64, right: f64) -> f64 {
        if found.to_bits() == right.to_bits() || found.is_nan() && right.is_nan() {
            return 0.0;
        }
        (found - right).abs() / (right.abs().next_up() - right.abs())
    }

    #[test]
    fn values_from_tables() {
        for (f, x, right) in [
            (erf as Function, 0.5, 0.520_499_877_813_046_5),
            (erf, 1.0, 0.842_700_792_949_714_9),
            (erf, 2.0, 0.995_322_265_018_952_7),
            (erfc, 1.0, 0.157_299_207_050_285_13),
            (erfc, 3.0, 2.209_049_699_858_544e-5),
            (erfc, 10.0, 2.088_487_583_762_545e-45),
            (erfc, 26.0, 5.663_192_408_856_143e-296),
            (asinh, 1.0, 0.881_373_587_019_543),
            (acosh, 2.0, 1.316_957_896_924_816_8),
            (atanh, 0.5, 0.549_306_144_334_054_9),
        ] {
            assert!(ulps(f(x), right) <= 4.0, "{x}: {:e} for {right:e}", f(x));
        }
    }

    #[test]
    fn the_two_ways_agree() {
        let pairs: [(Function, Function, f64); 5] = [
            (asinh, libm::asinh, 4.0),
            (acosh, |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }, 4.0),
            (atanh, libm::atanh, 4.0),
            (erf, libm::erf, 6.0),
            (erfc, libm::erfc, 12.0),
        ];
        let steps = (-4000..=4000).map(|i| f64::from(i) * 0.007);
        let powers = (-1074..1024).flat_map(|e| [2f64.powi(e), -1.25 * 2f64.powi(e)]);
        let ends = [0.0, -0.0, 1.0, -1.0, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let near_one = (0..50).flat_map(|e| [1.0 + 2f64.powi(-e - 1), 1.0 - 2f64.powi(-e - 1)]);
        for x in steps.chain(powers).chain(ends).chain(near_one) {
            for (number, (own, other, most)) in pairs.iter().enumerate() {
                let (own, other) = (own(x), other(x));
                assert!(ulps(own, other) <= *most, "function {number} of {x:e}: {own:e} and {other:e}");
            }
        }
    }
}
