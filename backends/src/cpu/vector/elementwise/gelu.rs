//! Gelu of `f32`. To the left, where 1 + erf and 1 + tanh cancel, by forms that do not.

use ir::DType;
use ops::elementwise::Gelu;

use super::of_each;
use crate::cpu::call::Call;
use crate::cpu::error::Outputs;
use crate::cpu::vector::functions::{erf, erfc, select, sigmoid, tanh};

pub(crate) fn run(op: Gelu, c: &Call<'_>) -> Option<Outputs> {
    if c.dtype(0) != Ok(DType::F32) {
        return None;
    }
    Some(if op.tanh { of_each(c, by_tanh) } else { of_each(c, by_erf) })
}

/// ½x·(1 + erf(x / √2)), or ½x·erfc(-x / √2).
#[inline(always)]
#[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
fn by_erf(x: f32) -> f32 {
    let v = x * std::f32::consts::FRAC_1_SQRT_2;
    0.5 * x * select(v < -0.5, erfc(v.abs()), 1.0 + erf(v))
}

/// ½x·(1 + tanh u), or x / (1 + e⁻²ᵘ), with u = √(2/π)·(x + 0.044715·x³).
#[inline(always)]
#[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
fn by_tanh(x: f32) -> f32 {
    let u = 0.797_884_6 * (x * (1.0 + 0.044_715 * (x * x)));
    select(u < -0.5, x * sigmoid(u + u), 0.5 * x * (1.0 + tanh(u)))
}
