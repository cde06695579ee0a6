//! What is searched, how much may be done for it, and what comes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ir::{NodeId, NodeKind, Tensor};
use ops::Model;

/// Tensors by the node that holds them. Sets of them share what they have in common.
pub type Tensors = BTreeMap<NodeId, Arc<Tensor>>;

/// Whether two sets for the same nodes share all tensors.
pub(crate) fn are_shared(one: &Tensors, other: &Tensors) -> bool {
    one.values().zip(other.values()).all(|(one, other)| Arc::ptr_eq(one, other))
}

/// How much a search may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// How often the graph may be run in search of values, a part of it more where none were found on which all profiles promise
    /// something.
    pub runs: u32,
    /// How many multiply-adds a gradient may be taken of.
    pub tape: usize,
    /// How often values are drawn anew where much is open on them; not at all, and nothing is asked of what is open, where the
    /// results are not to be judged.
    pub anew: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { runs: 120, tape: 200_000, anew: 3 }
    }
}

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct FoundValues {
    /// The values of all variables and of the constants that were free.
    pub tensors: Tensors,
    /// How often the graph was run, gradients included; 1 means that the first draw would do.
    pub runs: u32,
    /// Whether every operator is defined and finite on these values.
    pub all_defined: bool,
    /// The share of the outputs' elements on which the profile that promises least says nothing; 0 in models whose values may be
    /// whatever they are.
    pub open: f64,
}

impl FoundValues {
    /// The values of the model's inputs, in order.
    pub fn inputs(&self, model: &Model) -> Vec<Tensor> {
        model
            .graph
            .variables()
            .filter_map(|(id, ..)| self.tensors.get(&id))
            .map(|t| Tensor::clone(t))
            .collect()
    }

    /// The model with the constants that were found.
    #[must_use]
    pub fn fill(&self, mut model: Model) -> Model {
        for (id, tensor) in &self.tensors {
            if let Some(NodeKind::Constant(held)) = model.graph.nodes.get_mut(id.index()).map(|n| &mut n.kind)
            {
                *held = Arc::clone(tensor);
            }
        }
        model
    }
}

/// The nodes that hold what is searched: the variables, and the constants that are free.
pub(crate) fn free_nodes(model: &Model, constants: &[NodeId]) -> BTreeSet<NodeId> {
    let is_constant = |id: &&NodeId| {
        matches!(model.graph.nodes.get(id.index()).map(|n| &n.kind), Some(NodeKind::Constant(_)))
    };
    model.graph.variables().map(|(id, ..)| id).chain(constants.iter().filter(is_constant).copied()).collect()
}
