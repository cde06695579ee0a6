//! One correctly rounded conversion from `f64` to each float type.
//!
//! `half`'s `from_f64` goes through `f32` and rounds twice, which is off by one unit for about one value in a
//! thousand near a tie; everything in this workspace that stores a float goes through here instead.

use std::ops::RangeInclusive;

use crate::dtype::DType;
use crate::format::{Extent, FloatFormat, Specials, exp2i, exponent_of};

/// Which of the two neighbours a number between them becomes: ONNX's `round_mode`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RoundMode {
    /// The nearer one. Of two that are equally near, the one with an even mantissa; in a format of powers of
    /// two, which have no mantissa, the larger one.
    Nearest,
    /// The one farther from zero.
    Up,
    /// The one nearer to zero.
    Down,
}

/// What a number becomes if it is beyond the largest one after rounding: ONNX's `saturate`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Overflow {
    /// The largest number. So does an infinity, and what is below the smallest where there is no zero becomes that one.
    Saturate,
    /// An infinity, or where the format has none a NaN, or where it has no NaN the largest number.
    Escape,
}

/// A way of converting numbers to a format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Conversion {
    /// The format.
    pub format: FloatFormat,
    /// What becomes of numbers between two of the format.
    pub mode: RoundMode,
    /// What becomes of numbers beyond its largest.
    pub overflow: Overflow,
}

impl Conversion {
    /// The usual one: to nearest, ties to even, and overflow is not hidden.
    pub const fn to(format: FloatFormat) -> Self {
        Self { format, mode: RoundMode::Nearest, overflow: Overflow::Escape }
    }

    /// The number of the format that `v` becomes, rounded once.
    #[inline]
    pub fn of(self, v: f64) -> f64 {
        let up = |quotient: f64| if quotient < 0.0 { quotient.floor() } else { quotient.ceil() };
        let rounded = match self.mode {
            RoundMode::Nearest => round_to_precision(self.format, v),
            RoundMode::Up => scaled(self.format, v, up),
            RoundMode::Down => scaled(self.format, v, f64::trunc),
        };
        self.within(rounded)
    }

    /// A number of the format's precision, NaN or an infinity, as one that the format has.
    #[inline]
    fn within(self, v: f64) -> f64 {
        if v.is_nan() {
            return if self.format.has_nan() { v } else { 0.0 };
        }
        if v.abs() > self.format.max_finite() {
            return self.beyond_the_largest().copysign(v);
        }
        match (self.format.extent, self.format.specials) {
            (Extent::PositiveNormals, _) if v < self.format.min_normal() => self.below_the_smallest(v),
            (_, Specials::NegativeZero) if v == 0.0 => 0.0,
            _ => v,
        }
    }

    fn beyond_the_largest(self) -> f64 {
        match (self.overflow, self.format.specials) {
            (Overflow::Saturate, _) | (Overflow::Escape, Specials::None) => self.format.max_finite(),
            (Overflow::Escape, Specials::Exponent) => f64::INFINITY,
            (Overflow::Escape, Specials::AllOnes | Specials::NegativeZero) => f64::NAN,
        }
    }

    /// What a number becomes that is too small for a format without denormals and zero.
    fn below_the_smallest(self, v: f64) -> f64 {
        match self.overflow {
            Overflow::Saturate if v >= 0.0 => self.format.min_normal(),
            Overflow::Saturate | Overflow::Escape => f64::NAN,
        }
    }
}

/// Rounds to the nearest number of `dtype`, ties to even; overflow gives infinity, NaN stays NaN, both as far as the type
/// has them ([`Overflow::Escape`]). Non-float types return the value unchanged.
#[inline]
pub fn round_to(dtype: DType, v: f64) -> f64 {
    match dtype.float() {
        Some(format) => round_to_format(format, v),
        None => v,
    }
}

/// Rounds to the nearest number of a format no wider than `f64`, ties to even.
#[inline]
pub fn round_to_format(format: FloatFormat, v: f64) -> f64 {
    // What processors have an instruction for is most of what campaigns round.
    match format {
        FloatFormat::F64 => v,
        FloatFormat::F32 => f64::from(v as f32),
        _ => Conversion::to(format).of(v),
    }
}

/// Rounds to the precision of a format, ties to even, whether the format has a number so large or not.
#[inline]
pub fn round_to_precision(format: FloatFormat, v: f64) -> f64 {
    let quantum = quantum(format, v);
    if !v.is_finite() || !ADDED.contains(&quantum) || format.mantissa_bits > MOST_ADDED {
        return scaled(format, v, f64::round_ties_even);
    }
    // From 2^52 to 2^53 quanta the numbers of f64 are the whole ones, and 1.5 * 2^52 is even: a sum there is rounded as
    // is wanted.
    let whole = 1.5 * exp2i(quantum + 52);
    ((v + whole) - whole).copysign(v)
}

/// Binary exponents of quanta of which 2^53 neither overflow nor are denormal.
const ADDED: RangeInclusive<i32> = -1000..=960;

/// The most bits of a mantissa such that a number stays between 2^52 and 2^53 quanta if it is added to what is halfway.
const MOST_ADDED: i32 = 49;

/// The binary exponent of the distance of a format's numbers near `v`.
#[inline]
fn quantum(format: FloatFormat, v: f64) -> i32 {
    exponent_of(v).max(format.min_exponent()) - format.mantissa_bits
}

/// Rounds a number as `round` does to integers where the format's numbers are the integers.
#[inline]
fn scaled(format: FloatFormat, v: f64, round: impl Fn(f64) -> f64) -> f64 {
    if !v.is_finite() || v == 0.0 {
        return v;
    }
    let quantum = exp2i(quantum(format, v));
    // Scaling by a power of two is exact here: the quotient has at most 53 significant bits.
    round(v / quantum) * quantum
}

/// `v` rounded once to `f16`.
pub fn to_f16(v: f64) -> half::f16 {
    // The second conversion is exact: the value is already representable.
    half::f16::from_f64(round_to(DType::F16, v))
}

/// `v` rounded once to `bf16`.
pub fn to_bf16(v: f64) -> half::bf16 {
    half::bf16::from_f64(round_to(DType::BF16, v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_is_a_fixed_point_and_every_midpoint_goes_to_even() {
        for bits in 0..=u16::MAX {
            let x = half::f16::from_bits(bits);
            if x.is_nan() {
                continue;
            }
            assert_eq!(to_f16(x.to_f64()).to_bits(), bits);
            let next = half::f16::from_bits(bits.wrapping_add(1));
            if x.is_finite() && next.is_finite() && x.is_sign_positive() == next.is_sign_positive() {
                let middle = f64::midpoint(x.to_f64(), next.to_f64());
                let even = if bits & 1 == 0 { x } else { next };
                assert_eq!(to_f16(middle), even, "{x} .. {next}");
            }
        }
    }

    #[test]
    fn adding_rounds_as_scaling_does() {
        let bits = (0..=u64::MAX).step_by(0x0005_9e37_79b9_7f4b);
        let ties = (-60..60).flat_map(|e| [1.5, 2.5, 1025.5, 2049.0].map(|x| x * exp2i(e)));
        for v in bits.map(f64::from_bits).chain(ties).chain([0.0, -0.0]) {
            for format in [FloatFormat::F16, FloatFormat::BF16, FloatFormat::F32, FloatFormat::F8E4M3FN] {
                let by_scaling = scaled(format, v, f64::round_ties_even);
                assert_eq!(round_to_precision(format, v).to_bits(), by_scaling.to_bits(), "{v:e}");
            }
        }
    }

    #[test]
    fn scaling_rounds_as_the_processor_does() {
        let bits = (0..=u64::MAX).step_by(0x0003_9e37_79b9_7f4a);
        let special =
            [0.0, -0.0, 1e-45, 7e-46, 1e-38, f64::from(f32::MAX), 3.402_823_6e38, 1e39, f64::INFINITY];
        for v in bits.map(f64::from_bits).filter(|v| !v.is_nan()).chain(special) {
            let by_scaling = Conversion::to(FloatFormat::F32).of(v);
            assert_eq!(by_scaling.to_bits(), round_to(DType::F32, v).to_bits(), "{v:e}");
        }
    }

    #[test]
    fn rounds_once_where_half_rounds_twice() {
        // Just above the middle of 1 and 1 + 2^-10; through f32 it becomes the middle itself.
        let v = 1.0 + 2f64.powi(-11) + 2f64.powi(-30);
        assert_eq!(to_f16(v).to_f64(), 1.0 + 2f64.powi(-10));
        assert_eq!(half::f16::from_f64(v).to_f64(), 1.0);
    }

    #[test]
    fn overflow_and_underflow() {
        assert_eq!(to_f16(65_519.999), half::f16::MAX);
        assert_eq!(to_f16(65_520.0), half::f16::INFINITY);
        assert_eq!(to_bf16(-1e39), half::bf16::NEG_INFINITY);
        assert_eq!(to_f16(2f64.powi(-25)).to_bits(), 0);
        assert_eq!(to_f16(-(2f64.powi(-25) + 2f64.powi(-40))).to_bits(), 0x8001);
        assert_eq!(round_to(DType::F32, 1e300), f64::INFINITY);
    }
}
