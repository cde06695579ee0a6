//! Kernels that work element by element.

pub(super) mod activation;
pub(super) mod binary;
pub(super) mod cast;
pub(super) mod gelu;
pub(super) mod unary;

use crate::cpu::call::Call;
use crate::cpu::error::Outputs;

/// The only output: a function of each `f32` of the first operand.
fn of_each(c: &Call<'_>, f: impl Fn(f32) -> f32 + Sync) -> Outputs {
    let y = super::room::map(c.threads(), &c.elements::<f32>(0)?, f);
    c.only(y)
}
