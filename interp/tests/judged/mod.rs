//! What the reference says of a model that is text, and whether it accepts an answer.

use ir::{Tensor, Type};
use onnxsmith_interp::{Bounded, Profile, Taps, compare, evaluate};
use ops::Model;

/// The reference of the first output of a model, of whose variables each is given by its elements.
pub(crate) fn reference(text: &str, inputs: &[&[f64]], profile: &Profile) -> Bounded {
    let model: Model = text.parse().unwrap();
    let tensors = model.graph.variables().zip(inputs);
    let tensors: Vec<Tensor> =
        tensors.map(|((_, _, ty), values)| Tensor::from_f64_fn(ty, |i| values[i])).collect();
    evaluate(&model, &tensors, profile, Taps::Outputs).unwrap().outputs.remove(0)
}

/// Whether these elements are acceptable.
pub(crate) fn accepts(expected: &Bounded, elements: &[f64], profile: &Profile) -> bool {
    let ty: Type = expected.tensor.ty();
    compare(expected, &Tensor::from_f64_fn(&ty, |i| elements[i]), profile).unwrap().passes()
}
