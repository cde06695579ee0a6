//! Which operator comes next.

use ops::Spec;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

/// Decides what is inserted.
///
/// A new generator is a new policy: implement this trait, or compose [`Weights`] with templates of your own.
pub trait Policy {
    /// How often an operator is chosen, relative to the others; 0 is never.
    fn weight(&self, spec: &Spec) -> u32;

    /// Chains of operators that often occur together; each node uses the outputs of the one before.
    fn templates(&self) -> &[&'static [&'static str]] {
        &[]
    }
}

/// Every operator equally often, but the elementwise tables together no more than a third of all nodes, and
/// some chains that optimisers look for.
#[derive(Clone, Copy, Default, Debug)]
pub struct Weights;

/// Chains that graph optimisers fuse or rewrite.
const TEMPLATES: &[&[&str]] = &[
    &["Conv", "BatchNormalization", "Relu"],
    &["Conv", "Add", "Relu"],
    &["MatMul", "Add"],
    &["MatMul", "Add", "Gelu"],
    &["Transpose", "Transpose"],
    &["Transpose", "MatMul"],
    &["Reshape", "Transpose", "Reshape"],
    &["Sigmoid", "Mul"],
    &["Mul", "Add", "LayerNormalization"],
    &["Cast", "Cast"],
    &["Concat", "Split"],
    &["Slice", "Concat"],
    &["Pad", "Conv"],
    &["Unsqueeze", "Expand"],
    &["Div", "Erf", "Add", "Mul"],
    &["Sub", "Pow", "ReduceMean", "Sqrt"],
];

impl Policy for Weights {
    fn weight(&self, spec: &Spec) -> u32 {
        // A unary row has one operand and one output of the same dtypes and no attributes.
        let plain =
            spec.fields.is_empty() && spec.inputs.len() == 1 && spec.inputs[0].types == spec.outputs[0];
        if plain { 2 } else { 5 }
    }

    fn templates(&self) -> &[&'static [&'static str]] {
        TEMPLATES
    }
}

/// One of the operators, by the policy's weights.
pub(crate) fn choose(
    policy: &dyn Policy,
    available: &[&'static Spec],
    rng: &mut ChaCha8Rng,
) -> Option<&'static Spec> {
    available.choose_weighted(rng, |s| policy.weight(s)).ok().copied()
}
