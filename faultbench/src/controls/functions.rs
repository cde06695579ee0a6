//! Library functions by the formulas that implementations have for them. Each step rounds.

use std::f64::consts::LOG2_E;

use ir::DType;
use ops::Arith;
use ops::arith::Fun;
use ops::plain;

use super::arithmetic::Own;

/// √x as x·(1/√x), where the reciprocal root is a number.
pub(super) fn root(own: &Own, x: f64) -> f64 {
    if x.is_normal() && x > 0.0 && x >= own.format.min_normal() {
        own.mul(x, own.rounded(1.0 / libm::sqrt(x)))
    } else {
        Fun::Sqrt.value(x)
    }
}

/// eˣ as 2^(x·log₂e).
fn exp(own: &Own, x: f64) -> f64 {
    let exponent = own.mul(x, own.rounded(LOG2_E));
    own.rounded(libm::exp2(exponent))
}

/// The functions that are exponentials, by 2ˣ.
pub(super) fn by_base_two(own: &Own, f: Fun, x: f64) -> f64 {
    match f {
        Fun::Exp => exp(own, x),
        Fun::Sigmoid if x >= 0.0 => own.div(1.0, own.add(1.0, exp(own, -x))),
        Fun::Sigmoid if x < 0.0 => {
            let power = exp(own, x);
            own.div(power, own.add(1.0, power))
        }
        _ => f.value(x),
    }
}

/// xʸ as 2^(y·log₂x) where x is positive and a normal number.
pub(super) fn power_by_base_two(own: &Own, x: f64, y: f64) -> f64 {
    let is_plain = x >= own.format.min_normal() && x.is_finite() && y.is_finite();
    if !is_plain {
        return plain::pow(x, y);
    }
    let exponent = own.mul(y, own.rounded(libm::log2(x)));
    own.rounded(libm::exp2(exponent))
}

/// Hyperbolic functions, their inverses and their like by exponentials and logarithms.
pub(super) fn by_textbook(own: &Own, f: Fun, x: f64) -> f64 {
    let exp = |x: f64| own.rounded(libm::exp(x));
    let ln = |x: f64| own.rounded(libm::log(x));
    let half = |x: f64| own.mul(0.5, x);
    // Beyond, an exponential or a square overflows.
    let is_moderate =
        x.is_finite() && exp(2.0 * x.abs()).is_finite() && x.abs() < own.format.max_finite().sqrt();
    match f {
        _ if !is_moderate => f.value(x),
        Fun::Tanh => own.sub(1.0, own.div(2.0, own.add(exp(own.mul(2.0, x)), 1.0))),
        Fun::Sinh => half(own.sub(exp(x), exp(-x))),
        Fun::Cosh => half(own.add(exp(x), exp(-x))),
        Fun::Asinh => {
            let root = own.call(Fun::Sqrt, own.add(own.mul(x, x), 1.0));
            ln(own.add(x.abs(), root)).copysign(x)
        }
        Fun::Acosh if x >= 1.0 => {
            let square = own.mul(own.sub(x, 1.0), own.add(x, 1.0));
            ln(own.add(x, own.call(Fun::Sqrt, square)))
        }
        Fun::Atanh if x.abs() < 1.0 => half(ln(own.div(own.add(1.0, x), own.sub(1.0, x)))),
        Fun::Sigmoid => own.div(1.0, own.add(1.0, exp(-x))),
        Fun::Softplus => own.add(x.max(0.0), ln(own.add(1.0, exp(-x.abs())))),
        Fun::Log1p if x > -1.0 => ln(own.add(1.0, x)),
        Fun::Sqrt
        | Fun::Exp
        | Fun::Log
        | Fun::Expm1
        | Fun::Log1p
        | Fun::Sin
        | Fun::Cos
        | Fun::Tan
        | Fun::Asin
        | Fun::Acos
        | Fun::Atan
        | Fun::Acosh
        | Fun::Atanh
        | Fun::Erf
        | Fun::Erfc => f.value(x),
    }
}

/// erf by the polynomial of Abramowitz and Stegun 7.1.26, which is off by 1.5e-7; of f64 that would be far too much.
pub(super) fn by_polynomial(own: &Own, dtype: DType, f: Fun, x: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] =
        [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    if !matches!(f, Fun::Erf | Fun::Erfc) || dtype == DType::F64 || !x.is_finite() {
        return f.value(x);
    }
    let t = own.div(1.0, own.add(1.0, own.mul(0.327_591_1, x.abs())));
    let sum = COEFFICIENTS.iter().fold(0.0, |sum, &c| own.mul(t, own.add(sum, own.rounded(c))));
    let rest = own.mul(sum, own.rounded(libm::exp(-own.mul(x, x))));
    let erf = own.sub(1.0, rest).copysign(x);
    if f == Fun::Erf { erf } else { own.sub(1.0, erf) }
}
