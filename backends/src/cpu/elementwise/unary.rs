//! Functions of one element.

use ops::elementwise::UnaryFn;

use crate::cpu::call::Call;
use crate::cpu::element::{Int, Number, Real, dispatch_int, dispatch_real, dispatch_work};
use crate::cpu::error::Outputs;

/// A kernel for every float dtype.
macro_rules! floats {
    ($c:expr, $f:expr) => {
        dispatch_real!($c.dtype(0)?, T => $c.map_numbers::<T>($f))
    };
}

/// A kernel for every integer and float dtype.
macro_rules! numbers {
    ($c:expr, $f:expr) => {
        dispatch_work!($c.dtype(0)?, T => $c.map_numbers::<T>($f))
    };
}

pub(crate) fn run(function: UnaryFn, c: &Call<'_>) -> Outputs {
    match function {
        UnaryFn::Identity => Ok(vec![c.tensor(0)?.clone()]),
        UnaryFn::Abs => numbers!(c, Number::abs),
        UnaryFn::Neg => numbers!(c, Number::neg),
        UnaryFn::Sign => numbers!(c, Number::sign),
        UnaryFn::Relu => numbers!(c, relu),
        UnaryFn::Floor => floats!(c, Real::floor),
        UnaryFn::Ceil => floats!(c, Real::ceil),
        UnaryFn::Round => floats!(c, Real::round_ties_even),
        UnaryFn::Reciprocal => floats!(c, reciprocal),
        UnaryFn::Sqrt => floats!(c, Real::sqrt),
        UnaryFn::Exp => floats!(c, Real::exp),
        UnaryFn::Log => floats!(c, Real::ln),
        UnaryFn::Sin => floats!(c, Real::sin),
        UnaryFn::Cos => floats!(c, Real::cos),
        UnaryFn::Tan => floats!(c, Real::tan),
        UnaryFn::Asin => floats!(c, Real::asin),
        UnaryFn::Acos => floats!(c, Real::acos),
        UnaryFn::Atan => floats!(c, Real::atan),
        UnaryFn::Sinh => floats!(c, Real::sinh),
        UnaryFn::Cosh => floats!(c, Real::cosh),
        UnaryFn::Tanh => floats!(c, Real::tanh),
        UnaryFn::Asinh => floats!(c, Real::asinh),
        UnaryFn::Acosh => floats!(c, acosh),
        UnaryFn::Atanh => floats!(c, Real::atanh),
        UnaryFn::Erf => floats!(c, Real::erf),
        UnaryFn::Sigmoid => floats!(c, sigmoid),
        UnaryFn::Softplus => floats!(c, softplus),
        UnaryFn::Mish => floats!(c, mish),
        UnaryFn::Softsign => floats!(c, softsign),
        UnaryFn::HardSwish => floats!(c, hard_swish),
        UnaryFn::Not => c.map::<bool, bool>(|x| !x),
        UnaryFn::BitwiseNot => dispatch_int!(c.dtype(0)?, T => c.map::<T, T>(Int::not)),
    }
}

fn relu<W: Number>(x: W) -> W {
    if x > W::ZERO || x.is_nan() { x } else { W::ZERO }
}

/// `libm` cancels to something finite on some numbers below the domain.
fn acosh<R: Real>(x: R) -> R {
    if x < R::ONE { R::from_f64(f64::NAN) } else { x.acosh() }
}

fn reciprocal<R: Real>(x: R) -> R {
    R::ONE.div(x)
}

fn softsign<R: Real>(x: R) -> R {
    x.div(R::ONE.add(x.abs()))
}

/// 1 / (1 + e⁻ˣ). Far to the left that is eˣ up to rounding, while e⁻ˣ overflows.
pub(crate) fn sigmoid<R: Real>(x: R) -> R {
    if x < R::from_f64(-40.0) { x.exp() } else { R::ONE.div(R::ONE.add(x.neg().exp())) }
}

/// ln(1 + eˣ). Far to the right that is x up to rounding, while eˣ overflows.
fn softplus<R: Real>(x: R) -> R {
    if x > R::from_f64(40.0) { x } else { x.exp().ln_1p() }
}

/// x·tanh(ln(1 + eˣ)), the hyperbolic tangent written out in e = eˣ: (e² + 2e) / (e² + 2e + 2).
fn mish<R: Real>(x: R) -> R {
    if x > R::from_f64(40.0) {
        return x;
    }
    let (e, two) = (x.exp(), R::from_f64(2.0));
    let n = e.mul(e.add(two));
    x.mul(n.div(n.add(two)))
}

/// x·clamp(x/6 + ½, 0, 1), the line as ONNX's function body has it: (x + 3) / 6 rounds at a larger scale.
fn hard_swish<R: Real>(x: R) -> R {
    let line = x.mul(R::from_f64(1.0 / 6.0)).add(R::from_f64(0.5));
    x.mul(line.larger(R::ZERO).smaller(R::ONE))
}
