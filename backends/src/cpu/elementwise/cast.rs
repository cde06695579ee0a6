//! Cast and CastLike, by way of the widest type of the operand's kind.
//!
//! Floats become integers by truncation, what lies outside saturates and NaN becomes 0, but integers of less than 8 bits wrap;
//! integers wrap; whatever is not zero, NaN included, is true. Of floats of 8 bits and less, the attributes say what they do
//! with what they lack; a NaN becomes 0 in the one without.

use half::{bf16, f16};
use ir::DType;
use ir::narrow::{F4E2M1, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0, I2, I4, U2, U4};
use ir::round::{Overflow, RoundMode};
use ir::tensor::Element;
use ops::elementwise::Rounding;

use super::short_floats::Short;
use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(to: DType, rounding: Rounding, c: &Call<'_>) -> Outputs {
    let wide = ir::dispatch!(c.dtype(0)?, T => wide::<T>(c))?;
    ir::dispatch!(to, U => c.only(match &wide {
        Wide::Natural(v) => narrow::<_, U>(v, rounding),
        Wide::Integer(v) => narrow::<_, U>(v, rounding),
        Wide::Real(v) => narrow::<_, U>(v, rounding),
    }))
}

/// The only output: these numbers as floats of 8 bits or less.
pub(crate) fn shorten(x: &[f64], to: DType, rounding: Rounding, c: &Call<'_>) -> Outputs {
    ir::dispatch!(to, U => c.only(narrow::<_, U>(x, rounding)))
}

/// Elements without loss. One step from and one to it for each dtype, where a kernel for each pair would be 529.
enum Wide {
    Natural(Vec<u64>),
    Integer(Vec<i64>),
    Real(Vec<f64>),
}

fn wide<T: Widen>(c: &Call<'_>) -> Result<Wide, CpuError> {
    let x = c.elements::<T>(0)?;
    let mut wide = Vec::with_capacity(x.len());
    wide.extend(x.iter().map(|&x| x.widen()));
    Ok(T::Wide::all(wide))
}

fn narrow<W: Copy, U: Narrow<W>>(wide: &[W], rounding: Rounding) -> Vec<U> {
    let mut out = Vec::with_capacity(wide.len());
    out.extend(wide.iter().map(|&v| U::narrow(v, rounding)));
    out
}

/// The types of [`Wide`].
trait Widest: Sized {
    fn all(elements: Vec<Self>) -> Wide;
}

impl Widest for u64 {
    fn all(elements: Vec<Self>) -> Wide {
        Wide::Natural(elements)
    }
}

impl Widest for i64 {
    fn all(elements: Vec<Self>) -> Wide {
        Wide::Integer(elements)
    }
}

impl Widest for f64 {
    fn all(elements: Vec<Self>) -> Wide {
        Wide::Real(elements)
    }
}

/// An element that can be widened without loss.
trait Widen: Element {
    type Wide: Widest;
    fn widen(self) -> Self::Wide;
}

/// An element that a wide number can become.
trait Narrow<W>: Element {
    fn narrow(v: W, rounding: Rounding) -> Self;
}

macro_rules! widen {
    ($($t:ty => $wide:ty, $f:expr;)*) => {$(
        impl Widen for $t {
            type Wide = $wide;
            fn widen(self) -> $wide { $f(self) }
        }
    )*};
}
widen! {
    bool => u64, u64::from;
    u8 => u64, u64::from;
    u16 => u64, u64::from;
    u32 => u64, u64::from;
    u64 => u64, u64::from;
    i8 => i64, i64::from;
    i16 => i64, i64::from;
    i32 => i64, i64::from;
    i64 => i64, i64::from;
    f16 => f64, f16::to_f64;
    bf16 => f64, bf16::to_f64;
    f32 => f64, f64::from;
    f64 => f64, f64::from;
    I4 => i64, |x: I4| x.get().into();
    U4 => i64, |x: U4| x.get().into();
    I2 => i64, |x: I2| x.get().into();
    U2 => i64, |x: U2| x.get().into();
    F8E4M3FN => f64, F8E4M3FN::to_f64;
    F8E4M3FNUZ => f64, F8E4M3FNUZ::to_f64;
    F8E5M2 => f64, F8E5M2::to_f64;
    F8E5M2FNUZ => f64, F8E5M2FNUZ::to_f64;
    F8E8M0 => f64, F8E8M0::to_f64;
    F4E2M1 => f64, F4E2M1::to_f64;
}

/// The nearest number of a float of 8 bits or less, or what the attributes say instead.
fn shortened<T: Short>(v: f64, rounding: Rounding) -> T {
    if T::FORMAT.has_sign() {
        return T::short(v, Rounding { round_mode: RoundMode::Nearest, ..rounding });
    }
    // Cast's table asks whether the number is beyond the ends, and not what it is rounded to.
    let is_within = (T::FORMAT.min_normal()..=T::FORMAT.max_finite()).contains(&v);
    let is_lost = rounding.overflow == Overflow::Escape && !is_within;
    T::short(if is_lost { f64::NAN } else { v }, rounding)
}

/// A natural number as one that rounds to every float of 16 bits and fewer as it does. `f64` would round it a first time, so all
/// that lies too far below the last place to count is one bit that says whether there is any of it.
fn sticky(v: u64) -> f64 {
    let few = if v >> 50 == 0 { v } else { v & !0xffff | u64::from(v & 0xffff != 0) << 16 };
    few as f64
}

fn sticky_signed(v: i64) -> f64 {
    sticky(v.unsigned_abs()).copysign(v as f64)
}

macro_rules! narrow {
    ($($wide:ident),* => $t:ident) => {$(
        impl Narrow<$wide> for $t {
            fn narrow(v: $wide, _: Rounding) -> Self { v as Self }
        }
    )*};
    (halves $($t:ident),*) => {$(
        impl Narrow<u64> for $t {
            fn narrow(v: u64, _: Rounding) -> Self { Element::from_f64(sticky(v)) }
        }
        impl Narrow<i64> for $t {
            fn narrow(v: i64, _: Rounding) -> Self { Element::from_f64(sticky_signed(v)) }
        }
        impl Narrow<f64> for $t {
            fn narrow(v: f64, _: Rounding) -> Self { Element::from_f64(v) }
        }
    )*};
    (shorter $($t:ident),*) => {$(
        impl Narrow<u64> for $t {
            fn narrow(v: u64, rounding: Rounding) -> Self { shortened(sticky(v), rounding) }
        }
        impl Narrow<i64> for $t {
            fn narrow(v: i64, rounding: Rounding) -> Self { shortened(sticky_signed(v), rounding) }
        }
        impl Narrow<f64> for $t {
            fn narrow(v: f64, rounding: Rounding) -> Self { shortened(v, rounding) }
        }
    )*};
    (few_bits $($t:ident),*) => {$(
        impl Narrow<u64> for $t {
            fn narrow(v: u64, _: Rounding) -> Self { Self::wrapping(v.into()) }
        }
        impl Narrow<i64> for $t {
            fn narrow(v: i64, _: Rounding) -> Self { Self::wrapping(v.into()) }
        }
        impl Narrow<f64> for $t {
            fn narrow(v: f64, _: Rounding) -> Self { Self::wrapping((v as i64).into()) }
        }
    )*};
    (bool $($wide:ident = $zero:literal),*) => {$(
        impl Narrow<$wide> for bool {
            fn narrow(v: $wide, _: Rounding) -> Self { v != $zero }
        }
    )*};
    (each $($t:ident),*) => { $(narrow!(u64, i64, f64 => $t);)* };
}
narrow!(each u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);
narrow!(halves f16, bf16);
narrow!(shorter F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0, F4E2M1);
narrow!(few_bits I4, U4, I2, U2);
narrow!(bool u64 = 0, i64 = 0, f64 = 0.0);

#[cfg(test)]
mod tests {
    use super::*;

    fn cast<W, T: Narrow<W>>(v: W) -> T {
        T::narrow(v, Rounding::DEFAULT)
    }

    #[test]
    fn what_does_not_fit() {
        assert_eq!([300.7, -300.0, f64::NAN].map(cast::<f64, i8>), [127, -128, 0]);
        assert_eq!((cast::<_, u8>(-1i64), cast::<_, i8>(200u64), cast::<_, i64>(u64::MAX)), (255, -56, -1));
        assert!(cast::<_, bool>(f64::NAN) && !cast::<_, bool>(-0.0) && cast::<_, bool>(256i64));
        assert_eq!(cast::<_, f32>((1i64 << 60) + 1), (1i64 << 60) as f32);
        assert_eq!(cast::<_, f16>(1e6), f16::INFINITY);
    }

    #[test]
    fn integers_of_64_bits_round_once() {
        // A little more than halfway between two neighbours, which as f64 is halfway.
        let above = (1i64 << 62) + (1 << 54) + 1;
        assert_eq!(above as f64, ((1i64 << 62) + (1 << 54)) as f64);
        let bits = |v: bf16| v.to_bits();
        assert_eq!([above, above - 1, -above].map(|v| bits(cast(v))), [0x5e81, 0x5e80, 0xde81]);
        assert_eq!([(above as u64) << 1, u64::MAX].map(|v| bits(cast(v))), [0x5f01, 0x5f80]);
        // 3 · 2⁶¹ is halfway between two powers of 2.
        let near = Rounding { overflow: Overflow::Saturate, round_mode: RoundMode::Nearest };
        let codes = [(3i64 << 61) - 1, (3 << 61) + 1].map(|v| F8E8M0::narrow(v, near).code());
        assert_eq!(codes, [127 + 62, 127 + 63]);
        assert_eq!(
            (cast::<_, bf16>(i64::MIN).to_f64(), cast::<_, f16>(0u64).to_bits()),
            (-(2f64.powi(63)), 0)
        );
    }

    #[test]
    fn attributes_say_what_short_floats_do_with_what_they_lack() {
        let most = cast::<_, F8E4M3FN>(1e9).to_f64();
        assert_eq!((most, cast::<_, F8E5M2FNUZ>(f64::NEG_INFINITY).to_f64()), (448.0, -57344.0));
        let escape = Rounding { overflow: Overflow::Escape, round_mode: RoundMode::Nearest };
        assert!(F8E4M3FN::narrow(1e9, escape).to_f64().is_nan());
        assert_eq!(F8E5M2::narrow(-1e9, escape).to_f64(), f64::NEG_INFINITY);
        assert_eq!(cast::<_, F8E8M0>(0.0).code(), 0);
        let lost = [0.0, 2f64.powi(-127) * 0.75, 2f64.powi(127) * 1.25, f64::INFINITY];
        assert_eq!(lost.map(|v| F8E8M0::narrow(v, escape).code()), [0xff; 4]);
        assert_eq!((cast::<_, F8E8M0>(5.0).to_f64(), F8E8M0::narrow(5.0, escape).to_f64()), (8.0, 4.0));
    }

    #[test]
    fn integers_of_few_bits_wrap() {
        assert_eq!([-9.5, 7.9, 16.0].map(|v| cast::<_, I4>(v).get()), [7, 7, 0]);
        assert_eq!([-1i64, 17].map(|v| cast::<_, U4>(v).get()), [15, 1]);
        assert_eq!([2i64, -3].map(|v| cast::<_, I2>(v).get()), [-2, 1]);
    }
}
