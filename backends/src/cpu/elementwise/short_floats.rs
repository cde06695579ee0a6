//! Rounding to floats of 8 bits and fewer, by a table of all their numbers.
//!
//! The reference rounds by arithmetic on the format (`ir::round`). Here the two neighbours of a number are looked up, so that a
//! mistake there is seen here.

use std::sync::OnceLock;

use ir::format::{FloatFormat, Specials};
use ir::narrow::{F4E2M1, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0};
use ir::round::{Overflow, RoundMode};
use ops::elementwise::Rounding;

/// A float of 8 bits or fewer.
pub(super) trait Short: Sized {
    const FORMAT: FloatFormat;

    fn from_code(code: u8) -> Self;

    /// Zero and the finite numbers above it, ascending, then what would come next.
    fn ladder() -> &'static [f64];

    /// The number of the type that `v` becomes.
    fn short(v: f64, rounding: Rounding) -> Self {
        Self::from_code(code(Self::FORMAT, Self::ladder(), v, rounding))
    }
}

macro_rules! short {
    ($($t:ident),*) => {$(
        impl Short for $t {
            const FORMAT: FloatFormat = FloatFormat::$t;

            fn from_code(code: u8) -> Self {
                Self::from_code(code)
            }

            fn ladder() -> &'static [f64] {
                static LADDER: OnceLock<Vec<f64>> = OnceLock::new();
                LADDER.get_or_init(|| ladder(Self::FORMAT, |code| Self::from_code(code).to_f64()))
            }
        }
    )*};
}
short!(F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0, F4E2M1);

/// The code of -0, or of the NaN in its place; 0 where nothing has a sign.
fn sign_bit(format: FloatFormat) -> u8 {
    if format.has_sign() { 1 << (format.bits() - 1) } else { 0 }
}

fn ladder(format: FloatFormat, value: impl Fn(u8) -> f64) -> Vec<f64> {
    let positive = if format.has_sign() { 0..=sign_bit(format) - 1 } else { 0..=u8::MAX };
    // A format without a sign has no zero either.
    let zero = (!format.has_sign()).then_some(0.0);
    let mut steps: Vec<f64> =
        zero.into_iter().chain(positive.map(value).take_while(|v| v.is_finite())).collect();
    let last = steps[steps.len() - 1];
    steps.push(if format.mantissa_bits == 0 { 2.0 * last } else { 2.0 * last - steps[steps.len() - 2] });
    steps
}

/// The step of a ladder that a magnitude becomes.
fn step(format: FloatFormat, ladder: &[f64], magnitude: f64, mode: RoundMode) -> usize {
    let above = ladder.partition_point(|&step| step <= magnitude);
    if above == ladder.len() {
        return above - 1;
    }
    let (lower, upper) = (magnitude - ladder[above - 1], ladder[above] - magnitude);
    let is_upper = match mode {
        RoundMode::Up => lower > 0.0,
        RoundMode::Down => false,
        // Powers of two have no mantissa that could be even: the larger one. What is halfway to the smallest is none yet.
        RoundMode::Nearest if lower == upper && format.mantissa_bits == 0 => above > 1,
        RoundMode::Nearest if lower == upper => above.is_multiple_of(2),
        RoundMode::Nearest => upper < lower,
    };
    above - usize::from(!is_upper)
}

fn code(format: FloatFormat, ladder: &[f64], v: f64, Rounding { overflow, round_mode }: Rounding) -> u8 {
    let sign = if v.is_sign_negative() { sign_bit(format) } else { 0 };
    let nan = nan(format).map_or(0, |nan| nan | sign);
    if v.is_nan() {
        return nan;
    }
    let (step, beyond) = (step(format, ladder, v.abs(), round_mode), ladder.len() - 1);
    let is_lost = overflow == Overflow::Escape;
    if !format.has_sign() {
        let is_outside = step == 0 || step == beyond;
        let is_negative = v < 0.0 && step > 0;
        return if is_negative || is_lost && is_outside { nan } else { step.clamp(1, beyond - 1) as u8 - 1 };
    }
    match (step, format.specials) {
        (0, Specials::NegativeZero) => 0,
        // An infinity is where the next number would be.
        (step, Specials::Exponent) if step == beyond && is_lost => sign | beyond as u8,
        (step, Specials::AllOnes | Specials::NegativeZero) if step == beyond && is_lost => nan,
        (step, _) => sign | step.min(beyond - 1) as u8,
    }
}

/// The code of a NaN, if there is one: the quiet one without a payload.
fn nan(format: FloatFormat) -> Option<u8> {
    let all = (u8::MAX >> (8 - format.bits())) & !sign_bit(format);
    match format.specials {
        Specials::Exponent => Some(all ^ ((1 << (format.mantissa_bits - 1)) - 1)),
        Specials::AllOnes => Some(all),
        Specials::NegativeZero => Some(sign_bit(format)),
        Specials::None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::DType;
    use ir::round::Conversion;

    /// Numbers at, between and next to all that a type has, and beyond.
    fn numbers<T: Short>() -> Vec<f64> {
        let between = T::ladder()
            .windows(2)
            .flat_map(|pair| [0.25, 0.5, 0.75].map(|at| pair[0] + at * (pair[1] - pair[0])));
        let all: Vec<f64> = T::ladder().iter().copied().chain(between).collect();
        let near = all.iter().flat_map(|&v| [v.next_down(), v, v.next_up()]);
        let far = [1e300, f64::INFINITY, f64::NAN, 1e-300];
        near.chain(far).flat_map(|v| [v, -v]).collect()
    }

    fn check<T: Short + ir::tensor::Element>(mode: RoundMode, overflow: Overflow) {
        for v in numbers::<T>() {
            let right = Conversion { format: T::FORMAT, mode, overflow }.of(v);
            let found = T::short(v, Rounding { overflow, round_mode: mode });
            let (found, right) = (found.to_f64(), T::from_f64(right).to_f64());
            let is_same = found.to_bits() == right.to_bits() || found.is_nan() && right.is_nan();
            assert!(is_same, "{}: {v:e} becomes {found:e}, and {right:e} by arithmetic", T::DTYPE);
        }
    }

    #[test]
    fn the_table_and_arithmetic_agree_at_every_number_and_between() {
        for overflow in [Overflow::Saturate, Overflow::Escape] {
            check::<F8E4M3FN>(RoundMode::Nearest, overflow);
            check::<F8E4M3FNUZ>(RoundMode::Nearest, overflow);
            check::<F8E5M2>(RoundMode::Nearest, overflow);
            check::<F8E5M2FNUZ>(RoundMode::Nearest, overflow);
            check::<F4E2M1>(RoundMode::Nearest, overflow);
            for mode in [RoundMode::Nearest, RoundMode::Up, RoundMode::Down] {
                check::<F8E8M0>(mode, overflow);
            }
        }
        assert_eq!(DType::F8E8M0.float(), Some(F8E8M0::FORMAT));
    }

    #[test]
    fn the_ends_are_those_of_the_formats() {
        let ends = |ladder: &[f64]| (ladder.len(), ladder[ladder.len() - 2], ladder[ladder.len() - 1]);
        assert_eq!(ends(F8E4M3FN::ladder()), (128, 448.0, 480.0));
        assert_eq!(ends(F8E4M3FNUZ::ladder()), (129, 240.0, 256.0));
        assert_eq!(ends(F8E5M2::ladder()), (125, 57344.0, 65536.0));
        assert_eq!(ends(F4E2M1::ladder()), (9, 6.0, 8.0));
        assert_eq!(ends(F8E8M0::ladder()), (257, 2f64.powi(127), 2f64.powi(128)));
    }
}
