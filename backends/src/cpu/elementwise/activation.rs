//! Activation functions with parameters.

use ops::elementwise::{Activation, ActivationFn};

use super::unary::sigmoid;
use crate::cpu::call::Call;
use crate::cpu::element::{Number, Real, dispatch_real};
use crate::cpu::error::{CpuError, Outputs};

/// A kernel for every float dtype.
macro_rules! floats {
    ($c:expr, $x:ident => $body:expr) => {
        dispatch_real!($c.dtype(0)?, T => $c.map_numbers::<T>(|$x| $body))
    };
}

pub(crate) fn run(op: &Activation, c: &Call<'_>) -> Outputs {
    let parameter = |i: usize| op.parameters.get(i).copied().ok_or(CpuError::Invalid("it lacks a parameter"));
    let (alpha, second) = (parameter(0)?, parameter(1));
    match op.function {
        ActivationFn::LeakyRelu => floats!(c, x => leaky_relu(x, Number::from_attribute(alpha))),
        ActivationFn::Elu => floats!(c, x => elu(x, Number::from_attribute(alpha))),
        ActivationFn::Selu => {
            let gamma = second?;
            floats!(c, x => selu(x, Number::from_attribute(alpha), Number::from_attribute(gamma)))
        }
        ActivationFn::Celu => floats!(c, x => celu(x, Number::from_attribute(alpha))),
        ActivationFn::HardSigmoid => {
            let beta = second?;
            floats!(c, x => hard_sigmoid(x, Number::from_attribute(alpha), Number::from_attribute(beta)))
        }
        ActivationFn::ThresholdedRelu => {
            floats!(c, x => thresholded_relu(x, Number::from_attribute(alpha)))
        }
        ActivationFn::Swish => floats!(c, x => swish(x, Number::from_attribute(alpha))),
    }
}

fn leaky_relu<R: Real>(x: R, alpha: R) -> R {
    if x < R::ZERO { x.mul(alpha) } else { x }
}

fn elu<R: Real>(x: R, alpha: R) -> R {
    if x < R::ZERO { alpha.mul(x.exp_m1()) } else { x }
}

fn selu<R: Real>(x: R, alpha: R, gamma: R) -> R {
    gamma.mul(if x > R::ZERO { x } else { alpha.mul(x.exp_m1()) })
}

fn celu<R: Real>(x: R, alpha: R) -> R {
    let curve = alpha.mul(x.div(alpha).exp_m1());
    x.larger(R::ZERO).add(curve.smaller(R::ZERO))
}

fn hard_sigmoid<R: Real>(x: R, alpha: R, beta: R) -> R {
    alpha.mul(x).add(beta).larger(R::ZERO).smaller(R::ONE)
}

fn thresholded_relu<R: Real>(x: R, alpha: R) -> R {
    if x > alpha { x } else { R::ZERO }
}

fn swish<R: Real>(x: R, alpha: R) -> R {
    x.mul(sigmoid(x.mul(alpha)))
}
