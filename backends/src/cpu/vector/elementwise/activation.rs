//! Activation functions with parameters, of `f32`.

use ir::DType;
use ops::elementwise::{Activation, ActivationFn};

use super::each;
use crate::cpu::call::Call;
use crate::cpu::error::Outputs;
use crate::cpu::vector::functions::{exp_m1, select, sigmoid};

pub(crate) fn run(op: &Activation, c: &Call<'_>) -> Option<Outputs> {
    if c.dtype(0) != Ok(DType::F32) {
        return None;
    }
    let alpha = *op.parameters.first()?;
    let second = op.parameters.get(1).copied();
    Some(match op.function {
        ActivationFn::LeakyRelu => each!(c, x => select(x < 0.0, alpha * x, x)),
        ActivationFn::Elu => each!(c, x => select(x < 0.0, alpha * exp_m1(x), x)),
        ActivationFn::Selu => {
            let gamma = second?;
            each!(c, x => gamma * select(x > 0.0, x, alpha * exp_m1(x)))
        }
        ActivationFn::HardSigmoid => {
            let beta = second?;
            each!(c, x => {
                let line = alpha * x + beta;
                let line = select(line < 0.0, 0.0, line);
                select(line > 1.0, 1.0, line)
            })
        }
        ActivationFn::ThresholdedRelu => each!(c, x => select(x > alpha, x, 0.0)),
        ActivationFn::Swish => each!(c, x => x * sigmoid(alpha * x)),
        // Its two parts and the sign of its parameter make cases that only branches tell apart.
        ActivationFn::Celu => return None,
    })
}
