//! Cast and CastLike, by way of the widest type of the operand's kind.
//!
//! Floats become integers by truncation, what lies outside saturates and NaN becomes 0; integers wrap; whatever
//! is not zero, NaN included, is true.

use half::{bf16, f16};
use ir::DType;
use ir::tensor::Element;

use crate::cpu::call::Call;
use crate::cpu::error::Outputs;

pub(crate) fn run(to: DType, c: &Call<'_>) -> Outputs {
    ir::dispatch!(c.dtype(0)?, T => ir::dispatch!(to, U => c.map::<T, U>(|x| U::narrow(x.widen()))))
}

/// An element that can be widened without loss.
trait Widen: Element {
    type Wide;
    fn widen(self) -> Self::Wide;
}

/// An element that a wide number can become.
trait Narrow<W>: Element {
    fn narrow(v: W) -> Self;
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
}

macro_rules! narrow {
    ($($wide:ident),* => $t:ident) => {$(
        impl Narrow<$wide> for $t {
            fn narrow(v: $wide) -> Self { v as Self }
        }
    )*};
    (halves $($t:ident),*) => {$(
        impl Narrow<u64> for $t {
            fn narrow(v: u64) -> Self { Element::from_f64(v as f64) }
        }
        impl Narrow<i64> for $t {
            fn narrow(v: i64) -> Self { Element::from_f64(v as f64) }
        }
        impl Narrow<f64> for $t {
            fn narrow(v: f64) -> Self { Element::from_f64(v) }
        }
    )*};
    (bool $($wide:ident = $zero:literal),*) => {$(
        impl Narrow<$wide> for bool {
            fn narrow(v: $wide) -> Self { v != $zero }
        }
    )*};
    (each $($t:ident),*) => { $(narrow!(u64, i64, f64 => $t);)* };
}
narrow!(each u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);
narrow!(halves f16, bf16);
narrow!(bool u64 = 0, i64 = 0, f64 = 0.0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit() {
        assert_eq!([i8::narrow(300.7), i8::narrow(-300.0), i8::narrow(f64::NAN)], [127, -128, 0]);
        assert_eq!((u8::narrow(-1i64), i8::narrow(200u64), i64::narrow(u64::MAX)), (255, -56, -1));
        assert!(bool::narrow(f64::NAN) && !bool::narrow(-0.0) && bool::narrow(256i64));
        assert_eq!(f32::narrow((1i64 << 60) + 1), (1i64 << 60) as f32);
        assert_eq!(f16::narrow(1e6), f16::INFINITY);
    }
}
