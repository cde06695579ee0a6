//! What kernels calculate with.
//!
//! Tensors hold [`Element`]s; kernels calculate in a [`Number`], the element's working type: itself for integers,
//! `f32` and `f64`, and `f32` for the 16-bit floats, which are rounded once when they are stored.
//!
//! In code where the type is concrete, such as the body of a dispatch macro, the methods must be called by path
//! ([`Number::abs`], not `x.abs()`): the standard library's methods of the same names are others.
//!
//! Integers wrap. Where ONNX leaves a result open, they do what common hardware and runtimes do: x / 0 = 0, and
//! the smallest integer divided by -1 is itself.

use half::{bf16, f16};
use ir::tensor::Element;

use super::functions;

/// A number of a working type.
pub(crate) trait Number: Copy + PartialOrd + Send + Sync + 'static {
    const ZERO: Self;
    const ONE: Self;
    /// What every number is at least as large as: -∞, or the smallest integer.
    const LOWEST: Self;
    /// What every number is at most as large as: ∞, or the largest integer.
    const HIGHEST: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// The quotient; integers truncate.
    fn div(self, other: Self) -> Self;
    /// The remainder with the dividend's sign, as C's `%` and `fmod`.
    fn rem(self, other: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    /// -1, 0 or 1; floats keep zeros and NaN as they are.
    fn sign(self) -> Self;
    /// The larger one; NaN if either is, and +0 before -0.
    fn larger(self, other: Self) -> Self;
    /// The smaller one; NaN if either is, and -0 before +0.
    fn smaller(self, other: Self) -> Self;
    fn is_nan(self) -> bool;
    /// A count of elements, rounded or wrapped.
    fn from_count(n: usize) -> Self;
    /// An attribute; integers truncate and wrap.
    fn from_attribute(v: f32) -> Self;
    /// An attribute; integers truncate and saturate.
    fn clamp_attribute(v: f32) -> Self;
}

/// A floating-point number of a working type, with the functions of a math library.
pub(crate) trait Real: Number {
    const INFINITY: Self;
    fn from_f64(v: f64) -> Self;
    fn to_f64(self) -> f64;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    /// eˣ - 1
    fn exp_m1(self) -> Self;
    fn ln(self) -> Self;
    /// ln(1 + x)
    fn ln_1p(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn asinh(self) -> Self;
    fn acosh(self) -> Self;
    fn atanh(self) -> Self;
    fn erf(self) -> Self;
    /// 1 - erf(x)
    fn erfc(self) -> Self;
    fn pow(self, exponent: Self) -> Self;
}

/// An integer that tensors hold, with what only integers have.
pub(crate) trait Int: Numeric<Work = Self> + Number + Ord {
    fn not(self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// Shifted towards the most significant bit; 0 where all bits fall off.
    fn shift_left(self, places: Self) -> Self;
    /// Shifted towards the least significant bit, the sign coming in; only that is left where all bits fall off.
    fn shift_right(self, places: Self) -> Self;
    fn to_f64(self) -> f64;
    /// Truncated and saturated.
    fn from_f64(v: f64) -> Self;
}

/// An element with a working type.
pub(crate) trait Numeric: Element {
    /// What kernels calculate in.
    type Work: Number;
    fn load(self) -> Self::Work;
    /// Rounded once.
    fn store(v: Self::Work) -> Self;
}

/// A floating-point element.
pub(crate) trait Float: Numeric<Work: Real> {}
impl<T: Numeric<Work: Real>> Float for T {}

macro_rules! floats {
    ($($t:ident: $pow:path,
       named { $($name:ident = $function:path),* $(,)? }
       std { $($method:ident),* $(,)? };)*) => {$(
        impl Number for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LOWEST: Self = $t::NEG_INFINITY;
            const HIGHEST: Self = $t::INFINITY;
            fn add(self, other: Self) -> Self { self + other }
            fn sub(self, other: Self) -> Self { self - other }
            fn mul(self, other: Self) -> Self { self * other }
            fn div(self, other: Self) -> Self { self / other }
            fn rem(self, other: Self) -> Self { self % other }
            fn neg(self) -> Self { -self }
            fn abs(self) -> Self { $t::abs(self) }
            fn sign(self) -> Self {
                if self > 0.0 { 1.0 } else if self < 0.0 { -1.0 } else { self }
            }
            fn larger(self, other: Self) -> Self {
                let first = self > other || (self == other && self.is_sign_positive()) || $t::is_nan(self);
                if first { self } else { other }
            }
            fn smaller(self, other: Self) -> Self {
                let first = self < other || (self == other && self.is_sign_negative()) || $t::is_nan(self);
                if first { self } else { other }
            }
            fn is_nan(self) -> bool { $t::is_nan(self) }
            fn from_count(n: usize) -> Self { n as $t }
            fn from_attribute(v: f32) -> Self { v as $t }
            fn clamp_attribute(v: f32) -> Self { v as $t }
        }
        impl Real for $t {
            const INFINITY: Self = $t::INFINITY;
            fn from_f64(v: f64) -> Self { v as $t }
            fn to_f64(self) -> f64 { self as f64 }
            fn pow(self, exponent: Self) -> Self { $pow(self, exponent) }
            $(fn $name(self) -> Self { $function(self) })*
            $(fn $method(self) -> Self { $t::$method(self) })*
        }
        impl Numeric for $t {
            type Work = Self;
            fn load(self) -> Self { self }
            fn store(v: Self) -> Self { v }
        }
    )*};
}

// `f32` has `libm`'s single-precision functions, the same on every platform. `f64` has the platform's, where they
// are accurate, and else our own: the reference semantics uses `libm`'s, and a mistake there must not be shared.
floats! {
    f32: libm::powf,
    named {
        exp = libm::expf, exp_m1 = libm::expm1f, ln = libm::logf, ln_1p = libm::log1pf, sin = libm::sinf,
        cos = libm::cosf, tan = libm::tanf, asin = libm::asinf, acos = libm::acosf, atan = libm::atanf,
        sinh = libm::sinhf, cosh = libm::coshf, tanh = libm::tanhf, asinh = libm::asinhf,
        acosh = acosh_f32, atanh = libm::atanhf, erf = libm::erff, erfc = libm::erfcf,
    }
    std { floor, ceil, round_ties_even, sqrt };
    f64: f64::powf,
    named {
        asinh = functions::asinh, acosh = functions::acosh, atanh = functions::atanh, erf = functions::erf,
        erfc = functions::erfc,
    }
    std {
        floor, ceil, round_ties_even, sqrt, exp, exp_m1, ln, ln_1p, sin, cos, tan, asin, acos, atan, sinh, cosh,
        tanh,
    };
}

// `libm` calculates on below 1, where nothing but rounding errors are left: acoshf(-1000) is not NaN.
fn acosh_f32(x: f32) -> f32 {
    if x < 1.0 { f32::NAN } else { libm::acoshf(x) }
}

macro_rules! halves {
    ($($t:ident),*) => {$(
        impl Numeric for $t {
            type Work = f32;
            fn load(self) -> f32 { self.to_f32() }
            fn store(v: f32) -> Self { Element::from_f64(f64::from(v)) }
        }
    )*};
}
halves!(f16, bf16);

macro_rules! integers {
    ($($t:ident: $neg:expr, $abs:expr;)*) => {$(
        impl Number for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = $t::MIN;
            const HIGHEST: Self = $t::MAX;
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn div(self, other: Self) -> Self { if other == 0 { 0 } else { self.wrapping_div(other) } }
            fn rem(self, other: Self) -> Self { if other == 0 { 0 } else { self.wrapping_rem(other) } }
            fn neg(self) -> Self { self.wrapping_neg() }
            fn abs(self) -> Self { $abs(self) }
            fn sign(self) -> Self { if self > 0 { 1 } else if self == 0 { 0 } else { $neg } }
            fn larger(self, other: Self) -> Self { self.max(other) }
            fn smaller(self, other: Self) -> Self { self.min(other) }
            fn is_nan(self) -> bool { false }
            fn from_count(n: usize) -> Self { n as $t }
            fn from_attribute(v: f32) -> Self { v as i64 as $t }
            fn clamp_attribute(v: f32) -> Self { v as $t }
        }
        impl Numeric for $t {
            type Work = Self;
            fn load(self) -> Self { self }
            fn store(v: Self) -> Self { v }
        }
        impl Int for $t {
            fn not(self) -> Self { !self }
            fn and(self, other: Self) -> Self { self & other }
            fn or(self, other: Self) -> Self { self | other }
            fn xor(self, other: Self) -> Self { self ^ other }
            fn shift_left(self, places: Self) -> Self {
                u32::try_from(places).ok().and_then(|n| self.checked_shl(n)).unwrap_or(0)
            }
            fn shift_right(self, places: Self) -> Self {
                u32::try_from(places).ok().and_then(|n| self.checked_shr(n)).unwrap_or(Number::sign(self).min(0))
            }
            fn to_f64(self) -> f64 { self as f64 }
            fn from_f64(v: f64) -> Self { v as $t }
        }
    )*};
}

integers! {
    i8: -1, i8::wrapping_abs;
    i16: -1, i16::wrapping_abs;
    i32: -1, i32::wrapping_abs;
    i64: -1, i64::wrapping_abs;
    u8: 0, std::convert::identity;
    u16: 0, std::convert::identity;
    u32: 0, std::convert::identity;
    u64: 0, std::convert::identity;
}

/// Runs the same expression with `$T` standing for the element type, if that is a float that kernels calculate in; else it is an
/// error about operand 0. 16-bit floats are `f32` by then: see `halves`.
macro_rules! dispatch_real {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::cpu::element::dispatch_real!($dtype, $T => $body,
            found => Err($crate::cpu::CpuError::DType { operand: 0, found }))
    };
    ($dtype:expr, $T:ident => $body:expr, $other:pat_param => $otherwise:expr) => {
        match $dtype {
            ir::DType::F32 => { type $T = f32; $body }
            ir::DType::F64 => { type $T = f64; $body }
            $other => $otherwise,
        }
    };
}
pub(crate) use dispatch_real;

/// [`dispatch_real`] for 16-bit floats too.
macro_rules! dispatch_float {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::cpu::element::dispatch_float!($dtype, $T => $body,
            found => Err($crate::cpu::CpuError::DType { operand: 0, found }))
    };
    ($dtype:expr, $T:ident => $body:expr, $other:pat_param => $otherwise:expr) => {
        match $dtype {
            ir::DType::F16 => { type $T = half::f16; $body }
            ir::DType::BF16 => { type $T = half::bf16; $body }
            wide => $crate::cpu::element::dispatch_real!(wide, $T => $body, $other => $otherwise),
        }
    };
}
pub(crate) use dispatch_float;

/// [`dispatch_real`] for integers.
macro_rules! dispatch_int {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::cpu::element::dispatch_int!($dtype, $T => $body,
            found => Err($crate::cpu::CpuError::DType { operand: 0, found }))
    };
    ($dtype:expr, $T:ident => $body:expr, $other:pat_param => $otherwise:expr) => {
        match $dtype {
            ir::DType::I8 => { type $T = i8; $body }
            ir::DType::I16 => { type $T = i16; $body }
            ir::DType::I32 => { type $T = i32; $body }
            ir::DType::I64 => { type $T = i64; $body }
            ir::DType::U8 => { type $T = u8; $body }
            ir::DType::U16 => { type $T = u16; $body }
            ir::DType::U32 => { type $T = u32; $body }
            ir::DType::U64 => { type $T = u64; $body }
            $other => $otherwise,
        }
    };
}
pub(crate) use dispatch_int;

/// [`dispatch_float`] for integers and floats.
macro_rules! dispatch_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::cpu::element::dispatch_float!($dtype, $T => $body,
            other => $crate::cpu::element::dispatch_int!(other, $T => $body))
    };
}
pub(crate) use dispatch_number;

/// [`dispatch_real`] for integers and floats.
macro_rules! dispatch_work {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::cpu::element::dispatch_real!($dtype, $T => $body,
            other => $crate::cpu::element::dispatch_int!(other, $T => $body))
    };
}
pub(crate) use dispatch_work;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_integer_results_are_what_hardware_gives() {
        assert_eq!((Number::div(7i32, 0), Number::rem(7i32, 0)), (0, 0));
        assert_eq!((Number::div(i8::MIN, -1), Number::rem(i8::MIN, -1)), (i8::MIN, 0));
        assert_eq!((Number::abs(i64::MIN), Number::neg(1u8)), (i64::MIN, 255));
        assert_eq!((1u8.shift_left(8), 128u8.shift_left(1), 255u64.shift_right(u64::MAX)), (0, 0, 0));
        assert_eq!((i8::MIN.shift_right(-1), (-7i8).shift_right(1), 7i64.shift_right(64)), (-1, -4, 0));
    }

    #[test]
    fn acosh_has_no_values_below_one() {
        for x in [-4000.0f32, -1000.0, -300.0, -1.0, 0.5] {
            assert!(Real::acosh(x).is_nan() && Real::acosh(f64::from(x)).is_nan(), "{x}");
        }
        assert_eq!((Real::acosh(1f32), Real::acosh(1f64)), (0.0, 0.0));
    }

    #[test]
    fn nan_wins_and_zeros_are_ordered() {
        assert!(f32::NAN.larger(1.0).is_nan() && 1f32.larger(f32::NAN).is_nan());
        assert!(f64::NAN.smaller(1.0).is_nan() && 1f64.smaller(f64::NAN).is_nan());
        for (a, b) in [(0.0f32, -0.0), (-0.0, 0.0)] {
            assert!(a.larger(b).is_sign_positive() && a.smaller(b).is_sign_negative());
        }
        assert!(Number::sign(f32::NAN).is_nan() && Number::sign(-0.0f32).is_sign_negative());
    }
}
