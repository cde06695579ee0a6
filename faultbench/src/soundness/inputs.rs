//! The inputs of cases: those that were drawn, and in half of the cases harder ones.

use harness::{Case, case};
use ir::{Stream, Tensor};
use rand::RngExt;

/// One of so many elements is special where some are.
const GRAINS: u32 = 12;

/// The inputs of a case. Of four cases, two keep the inputs as drawn, one gets special elements, and one gets
/// elements that are much alike.
pub(super) fn of(case: &Case, stream: Stream) -> Vec<Tensor> {
    let inputs = case::tensors(&case.inputs);
    let harder: fn(&Tensor, Stream) -> Tensor = match case.index % 4 {
        1 => alike,
        3 => salted,
        _ => return inputs,
    };
    let other = |(tensor, at): (&Tensor, u64)| {
        if tensor.dtype().is_float() { harder(tensor, stream.at(at)) } else { tensor.clone() }
    };
    inputs.iter().zip(0..).map(other).collect()
}

/// The elements drawn together about another number, so that whatever subtracts them cancels.
fn alike(tensor: &Tensor, stream: Stream) -> Tensor {
    let about: f64 = stream.rng().random_range(0.5..8.0);
    let values = tensor.to_f64s();
    Tensor::from_f64_fn(&tensor.ty(), |i| about + values[i] / 64.0)
}

/// Some elements such that an operator need not be defined on them: infinities, NaN, −0, denormals, the largest numbers.
fn salted(tensor: &Tensor, stream: Stream) -> Tensor {
    let Some(format) = tensor.dtype().float() else { return tensor.clone() };
    let (denormal, largest) = (format.min_normal() * 0.75, format.max_finite());
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, denormal, -denormal, largest, -largest];
    let mut choices = stream.rng();
    let values = tensor.to_f64s();
    let element = |i: usize| {
        let is_special = choices.random_ratio(1, GRAINS);
        if is_special { special[choices.random_range(0..special.len())] } else { values[i] }
    };
    Tensor::from_f64_fn(&tensor.ty(), element)
}
