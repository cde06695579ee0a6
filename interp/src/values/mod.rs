//! Value search: tensors for a graph's inputs and constants on which every operator is defined.
//!
//! Random values make most graphs of some depth overflow or leave a domain somewhere, and a NaN tests nothing that
//! comes after it. So values are drawn where the operators that read them are defined; the graph is run; and while
//! some operator is not, the tensors it depends on are repaired: drawn anew in a tamer way first, which is cheap,
//! then moved along the gradient of the distance to the operator's domain (GRIST and NNSmith search along
//! gradients too). Where no values help, an edge of the graph can be [cut](find_or_cut). Everything is counted, nothing is timed, so a search is the same on every machine.

mod cut;
mod draw;
mod edge;
mod fault;
mod pull;
mod repair;
mod visit;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ir::{NodeId, NodeKind, Stream, Tensor};
use ops::Model;

pub use cut::{Settled, find_or_cut};
use fault::Fault;
use repair::Repair;
pub use visit::{Edged, visit_edge};

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
        Self { runs: 120, tape: 200_000 }
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
    #[must_use]
    pub fn settle(&self, mut model: Model) -> Model {
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
    Ok(search(model, free, stream, budget).0)
}

/// The search of [`find_values`] in a valid model, and the first fault of what it ends with.
fn search(model: &Model, free: &[NodeId], stream: Stream, budget: Budget) -> (Found, Option<Fault>) {
    let free = free_nodes(model, free);
    let ranges = draw::ranges(model, &free);
    let mut search = Search { model, free: &free, ranges: &ranges, budget, runs: 0 };
    let mut best: Option<(Tensors, Fault)> = None;
    for (start, tamer) in STARTS.into_iter().enumerate() {
        let at = stream.child("start").at(start as u64);
        match search.from(tamer, at, budget.runs * (start as u32 + 1) / STARTS.len() as u32) {
            (tensors, None) => return (Found { tensors, runs: search.runs, all_defined: true }, None),
            (tensors, Some(fault)) => {
                if best.as_ref().is_none_or(|(_, other)| fault.better_than(other)) {
                    best = Some((tensors, fault));
                }
            }
        }
        if !search.can_help(best.as_ref().map(|(_, fault)| fault)) {
            break;
        }
    }
    let (tensors, fault) = best.unzip();
    (Found { tensors: tensors.unwrap_or_default(), runs: search.runs, all_defined: false }, fault)
}

/// From which draws a search starts, one after the other: where one ends at a fault that it cannot repair, the next
/// may not meet it.
const STARTS: [draw::Tamer; 4] =
    [draw::Tamer::Not, draw::Tamer::Positive, draw::Tamer::Small, draw::Tamer::Not];

/// A search in one model.
struct Search<'a> {
    model: &'a Model,
    free: &'a BTreeSet<NodeId>,
    ranges: &'a BTreeMap<NodeId, draw::Range>,
    budget: Budget,
    runs: u32,
}

impl Search<'_> {
    fn draw(&self, id: NodeId, at: Stream, tamer: draw::Tamer) -> Option<Tensor> {
        let ty = self.model.graph.node(id).outputs.first()?;
        Some(draw::tensor(ty, self.ranges.get(&id), at.at(id.0.into()), tamer))
    }

    /// The free tensors on which the operator at fault depends.
    fn leaves(&self, fault: &Fault) -> BTreeSet<NodeId> {
        fault.leaves(self.model).intersection(self.free).copied().collect()
    }

    /// Whether there is anything to choose that a fault depends on.
    fn can_help(&self, fault: Option<&Fault>) -> bool {
        fault.is_some_and(|fault| !self.leaves(fault).is_empty())
    }

    /// A first draw, repaired until nothing is at fault or the runs are used up.
    fn from(&mut self, tamer: draw::Tamer, stream: Stream, runs: u32) -> (Tensors, Option<Fault>) {
        let draw = |&id: &NodeId| Some((id, self.draw(id, stream.child("first"), tamer)?));
        let mut best: Tensors = self.free.iter().filter_map(draw).collect();
        self.runs += 1;
        let mut fault = fault::first(self.model, &best);
        while let Some(now) = fault {
            match self.improve(&best, &now, stream, runs) {
                Some(next) => (best, fault) = next,
                None => return (best, Some(now)),
            }
        }
        (best, None)
    }

    /// Values with which a run gets further than to a fault.
    fn improve(
        &mut self,
        best: &Tensors,
        now: &Fault,
        stream: Stream,
        runs: u32,
    ) -> Option<(Tensors, Option<Fault>)> {
        let leaves = self.leaves(now);
        if leaves.is_empty() {
            return None;
        }
        for repair in Repair::PLAN.into_iter().cycle() {
            if self.runs >= runs {
                return None;
            }
            let at = stream.child("repair").at(self.runs.into());
            self.runs += 1;
            let candidate = match repair {
                Repair::Pull => pull::repair(self.model, best, &leaves, now, self.budget.tape, at),
                Repair::Draw(tamer) => Some(redraw(best, &leaves, |id, _| self.draw(id, at, tamer))),
                Repair::Mix(tamer) => Some(redraw(best, &leaves, |id, old| {
                    Some(repair::mix(old, &self.draw(id, at, tamer)?, at.child("mix").at(id.0.into())))
                })),
                Repair::Gradient => repair::descend(self.model, best, &leaves, now, self.budget.tape),
            };
            let Some(candidate) = candidate else { continue };
            let then = fault::first(self.model, &candidate);
            if then.as_ref().is_none_or(|then| then.better_than(now)) {
                return Some((candidate, then));
            }
        }
        None
    }
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
