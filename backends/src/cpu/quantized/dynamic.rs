//! DynamicQuantizeLinear: two passes, one for the range and one for the elements.

use super::quantize_linear::{floats, rounded};
use crate::cpu::call::Call;
use crate::cpu::element::Number;
use crate::cpu::error::Outputs;

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    let x = floats(c.tensor(0)?);
    let largest = x.iter().fold(0.0, |y: f32, &x| Number::larger(y, x));
    let smallest = x.iter().fold(0.0, |y: f32, &x| Number::smaller(y, x));
    let scale = (largest - smallest) / 255.0;
    let point = rounded(0.0 - smallest / scale).clamp(0, 255);
    let y = x.iter().map(|x| rounded(x / scale).saturating_add(point).clamp(0, 255) as u8);
    Ok(vec![c.store(0, y.collect())?, c.store(1, vec![scale])?, c.store(2, vec![point as u8])?])
}
