//! Gelu of `f32`. To the left, where 1 + erf and 1 + tanh cancel, by forms that do not.

use ir::DType;
use ops::elementwise::Gelu;

use super::each;
use crate::cpu::call::Call;
use crate::cpu::error::Outputs;
use crate::cpu::vector::functions::{erf_near_0, erfc, select, sigmoid, tanh};

pub(crate) fn run(op: Gelu, c: &Call<'_>) -> Option<Outputs> {
    if c.dtype(0) != Ok(DType::F32) {
        return None;
    }
    Some(if op.tanh { each!(c, x => by_tanh(x)) } else { each!(c, x => by_erf(x)) })
}

/// ½x·(1 + erf v) with v = x / √2: that is ½x·erfc(-v) far to the left, and ½x·(2 - erfc v) far to the right.
#[inline(always)]
#[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
fn by_erf(x: f32) -> f32 {
    let v = x * std::f32::consts::FRAC_1_SQRT_2;
    let tail = erfc(v.abs());
    let far = select(v < 0.0, tail, 2.0 - tail);
    0.5 * x * select(v.abs() < 0.5, 1.0 + erf_near_0(v), far)
}

/// ½x·(1 + tanh u), or x / (1 + e⁻²ᵘ), with u = √(2/π)·(x + 0.044715·x³).
#[inline(always)]
#[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
fn by_tanh(x: f32) -> f32 {
    let u = 0.797_884_6 * (x * (1.0 + 0.044_715 * (x * x)));
    select(u < -0.5, x * sigmoid(u + u), 0.5 * x * (1.0 + tanh(u)))
}
