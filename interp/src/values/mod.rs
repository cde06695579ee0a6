//! Value search: tensors for a graph's inputs and constants on which every operator is defined.
//!
//! Random values make most graphs of some depth overflow or leave a domain somewhere, and a NaN tests nothing that
//! comes after it. So values are drawn where the operators that read them are defined; the graph is run; and while
//! some operator is not, the tensors it depends on are repaired: drawn anew in a tamer way first, which is cheap,
//! then moved along the gradient of the distance to the operator's domain (GRIST and NNSmith search along
//! gradients too). Everything is counted, nothing is timed, so a search is the same on every machine.

mod draw;
mod fault;
mod repair;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ir::{NodeId, NodeKind, Stream, Tensor};
use ops::Model;

use fault::Fault;
use repair::Repair;

use crate::walk::Error;

/// Tensors by the node that holds them.
pub type Tensors = BTreeMap<NodeId, Tensor>;

/// How much a search may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// How often the graph may be run.
    pub runs: u32,
    /// How many multiply-adds a gradient may be taken of.
    pub tape: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { runs: 40, tape: 200_000 }
    }
}

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The values of all variables and of the constants that were free.
    pub tensors: Tensors,
    /// How often the graph was run, gradients included; 1 means that the first draw would do.
    pub runs: u32,
    /// Whether every operator is defined and finite on these values.
    pub all_defined: bool,
}

impl Found {
    /// The values of the model's inputs, in order.
    pub fn inputs(&self, model: &Model) -> Vec<Tensor> {
        model.graph.variables().filter_map(|(id, ..)| self.tensors.get(&id).cloned()).collect()
    }

    /// The model with the constants that were found.
    pub fn settle(&self, model: &Model) -> Model {
        let mut model = model.clone();
        for (id, tensor) in &self.tensors {
            if let Some(NodeKind::Constant(held)) = model.graph.nodes.get_mut(id.index()).map(|n| &mut n.kind)
            {
                *held = Arc::new(tensor.clone());
            }
        }
        model
    }
}

/// Searches values for the variables of a model's main graph, and for its constants among `free`.
pub fn find_values(model: &Model, free: &[NodeId], stream: Stream, budget: Budget) -> Result<Found, Error> {
    model.validate()?;
    let free = free_nodes(model, free);
    let ranges = draw::ranges(model, &free);
    let draw = |id: NodeId, at: Stream, tamer: draw::Tamer| {
        let ty = model.graph.node(id).outputs.first()?;
        Some(draw::tensor(ty, ranges.get(&id), at.at(id.0.into()), tamer))
    };
    let mut best: Tensors = free
        .iter()
        .filter_map(|&id| Some((id, draw(id, stream.child("first"), draw::Tamer::Not)?)))
        .collect();
    let mut runs = 1;
    let mut fault = fault::first(model, &best);
    while let Some(now) = fault.take() {
        let leaves: BTreeSet<NodeId> = now.leaves(model).intersection(&free).copied().collect();
        let mut improved = None;
        for repair in Repair::PLAN.into_iter().cycle() {
            if runs >= budget.runs || leaves.is_empty() {
                break;
            }
            let at = stream.child("repair").at(runs.into());
            runs += 1;
            let candidate = match repair {
                Repair::Draw(tamer) => redraw(&best, &leaves, |id, _| draw(id, at, tamer)),
                Repair::Mix(tamer) => redraw(&best, &leaves, |id, old| {
                    Some(repair::mix(old, &draw(id, at, tamer)?, at.child("mix").at(id.0.into())))
                }),
                Repair::Gradient => match repair::descend(model, &best, &leaves, &now, budget.tape) {
                    Some(moved) => moved,
                    None => continue,
                },
            };
            let then = fault::first(model, &candidate);
            if then.as_ref().is_none_or(|then| then.better_than(&now)) {
                improved = Some((candidate, then));
                break;
            }
        }
        match improved {
            Some((candidate, then)) => (best, fault) = (candidate, then),
            None => return Ok(Found { tensors: best, runs, all_defined: false }),
        }
    }
    Ok(Found { tensors: best, runs, all_defined: true })
}

fn redraw(
    tensors: &Tensors,
    leaves: &BTreeSet<NodeId>,
    draw: impl Fn(NodeId, &Tensor) -> Option<Tensor>,
) -> Tensors {
    let mut all = tensors.clone();
    all.extend(leaves.iter().filter_map(|&id| Some((id, draw(id, tensors.get(&id)?)?))));
    all
}

fn free_nodes(model: &Model, constants: &[NodeId]) -> BTreeSet<NodeId> {
    let is_constant = |id: &&NodeId| {
        matches!(model.graph.nodes.get(id.index()).map(|n| &n.kind), Some(NodeKind::Constant(_)))
    };
    model.graph.variables().map(|(id, ..)| id).chain(constants.iter().filter(is_constant).copied()).collect()
}

/// The first operator that is undefined or not finite on some values of a model, if there is one.
pub fn first_undefined(model: &Model, tensors: &Tensors) -> Result<Option<NodeId>, Error> {
    model.validate()?;
    Ok(fault::first(model, tensors).map(|f: Fault| f.node))
}
