//! Gelu. To the left, where 1 + erf and 1 + tanh cancel, by forms that do not; elsewhere as written, since there
//! the other forms round at a larger scale.

use ops::elementwise::Gelu;

use super::unary::sigmoid;
use crate::cpu::call::Call;
use crate::cpu::element::{Real, dispatch_real};
use crate::cpu::error::Outputs;

pub(crate) fn run(op: Gelu, c: &Call<'_>) -> Outputs {
    dispatch_real!(c.dtype(0)?, T => c.map_numbers::<T>(|x| if op.tanh { by_tanh(x) } else { by_erf(x) }))
}

/// ½x·(1 + erf(x / √2)) = ½x·erfc(-x / √2)
fn by_erf<R: Real>(x: R) -> R {
    let v = x.mul(R::from_f64(std::f64::consts::FRAC_1_SQRT_2));
    let gate = if v < R::from_f64(-0.5) { v.neg().erfc() } else { R::ONE.add(v.erf()) };
    x.mul(R::from_f64(0.5)).mul(gate)
}

/// ½x·(1 + tanh(u)) = x / (1 + e⁻²ᵘ), with u = √(2/π)·(x + 0.044715·x³)
fn by_tanh<R: Real>(x: R) -> R {
    let factor = R::ONE.add(R::from_f64(0.044_715).mul(x.mul(x)));
    let u = R::from_f64((2.0 * std::f64::consts::FRAC_1_PI).sqrt()).mul(x.mul(factor));
    if u < R::from_f64(-0.5) {
        x.mul(sigmoid(u.add(u)))
    } else {
        x.mul(R::from_f64(0.5)).mul(R::ONE.add(u.tanh()))
    }
}
