//! Which operator comes next.

mod file;
mod pattern;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ir::Choices;
use ops::Spec;
use ops::spec::ABOUT_NARROW;
use rand::seq::IndexedRandom;

pub use file::{
    PolicyRecord, Taste, TasteError, WantedOperator, dtype, name, opset, opsets, size, wanted_operator,
};
pub use pattern::{Pattern, PatternError, Step};

/// Decides what is inserted.
///
/// A new generator is a new policy: implement this trait, or write a [`Taste`].
pub trait Policy {
    /// How often an operator is chosen, relative to the others; 0 is never.
    fn weight(&self, spec: &Spec) -> u32;

    /// Operators that often occur together, connected in a certain way.
    fn patterns(&self) -> &[Pattern] {
        &[]
    }

    /// What differs from [`Weights`], for a campaign that is to go on with the same policy.
    fn record(&self) -> PolicyRecord {
        PolicyRecord::default()
    }
}

/// Every operator equally often, but the elementwise tables together no more than a third of all nodes, casts somewhat
/// more often, and some chains that optimisers look for.
#[derive(Clone, Copy, Default, Debug)]
pub struct Weights;

/// Chains that graph optimisers fuse or rewrite.
const CHAINS: &[&[&str]] = &[
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
    &["Concat", "Concat"],
    &["Slice", "Concat"],
    &["Pad", "Conv"],
    &["Unsqueeze", "Expand"],
    &["Div", "Erf", "Add", "Mul"],
    &["Sub", "Pow", "ReduceMean", "Sqrt"],
    &["Transpose", "Add"],
    &["Transpose", "Mul"],
    &["Transpose", "Concat"],
    &["Transpose", "Softmax"],
    &["Transpose", "ReduceSum"],
    &["MatMul", "Mul"],
    &["Mul", "MatMul"],
    &["Slice", "Slice"],
    &["Sub", "Sub"],
    &["Greater", "Not"],
    &["LessOrEqual", "Not"],
    &["And", "Not"],
    &["Or", "Not"],
];

/// Operators that take many operations for each element. Without one of them a graph reaches a large amount of operations
/// with tensors of many megabytes alone.
pub(crate) const DENSE: &[&str] = &["Conv", "Gemm", "MatMul"];

/// [`CHAINS`] as patterns.
static PATTERNS: LazyLock<Vec<Pattern>> =
    LazyLock::new(|| CHAINS.iter().filter_map(|chain| Pattern::chain(chain).ok()).collect());

impl Policy for Weights {
    fn weight(&self, spec: &Spec) -> u32 {
        static WEIGHTS: LazyLock<BTreeMap<&str, u32>> =
            LazyLock::new(|| ops::registry().map(|spec| (spec.name, weight(spec))).collect());
        WEIGHTS.get(spec.name).copied().unwrap_or_default()
    }

    fn patterns(&self) -> &[Pattern] {
        &PATTERNS
    }
}

fn weight(spec: &Spec) -> u32 {
    let schema = ops::schema::in_force(spec.name, *ir::graph::OPSETS.end());
    let mut attributes = schema.iter().flat_map(|schema| &schema.attributes).map(|attribute| attribute.name);
    // One that is told the dtype of its result has as many uses as there are pairs.
    if attributes.any(|name| name == "to") {
        return 8;
    }
    // A unary row has one operand and one output of the same dtypes.
    let is_plain = spec.fields.iter().all(|field| ABOUT_NARROW.contains(&field.name));
    let is_unary = spec.inputs.len() == 1 && spec.inputs[0].types == spec.outputs[0];
    if is_plain && is_unary { 2 } else { 5 }
}

/// One of the operators, by the policy's weights.
pub(crate) fn choose(
    policy: &dyn Policy,
    available: &[&'static Spec],
    rng: &mut Choices,
) -> Option<&'static Spec> {
    available.choose_weighted(rng, |s| policy.weight(s)).ok().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chain_is_a_pattern() {
        assert_eq!(Weights.patterns().len(), CHAINS.len());
    }
}
