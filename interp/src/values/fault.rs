//! Where a graph is undefined on some values.

use std::collections::BTreeSet;

use ir::NodeId;
use ops::plain::Plain;
use ops::{Data, Hazard, Model, Operator};

use super::Tensors;
use crate::evaluate::Values64;
use crate::walk::{System, Visit, Walk};

/// The first operator of a run that is undefined or not finite.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Fault {
    /// Its node in the main graph; a call if it is inside a function.
    pub node: NodeId,
    /// How many elements are at fault.
    pub elements: usize,
    /// The operands to move and where to; for an operator that is not finite on what should be fine, all of them,
    /// towards smaller magnitudes.
    pub wishes: Vec<(usize, Wish)>,
}

/// Where the elements of an operand should go.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Wish {
    /// Between the bounds.
    Between(f64, f64),
    /// Away from zero.
    NotZero,
    /// To a smaller magnitude.
    Smaller,
}

impl Wish {
    /// Whether an element is where it should be.
    pub(super) fn holds(self, v: f64) -> bool {
        match self {
            Self::Between(low, high) => (low..=high).contains(&v),
            Self::NotZero => v != 0.0,
            Self::Smaller => v.abs() <= 1.0,
        }
    }

    /// Where an element that is not should go.
    pub(super) fn target(self, v: f64) -> f64 {
        match self {
            Self::Between(low, high) => {
                let margin = ((high - low) / 4.0).min(0.5);
                v.clamp(low + margin, high - margin)
            }
            Self::NotZero => 0.5f64.copysign(v),
            Self::Smaller => v / 4.0,
        }
    }
}

impl Fault {
    /// Whether a run got further with this fault than with another.
    pub(super) fn better_than(&self, other: &Self) -> bool {
        (self.node, other.elements) > (other.node, self.elements)
    }

    /// The variables and constants on which the operands at fault depend.
    pub(super) fn leaves(&self, model: &Model) -> BTreeSet<NodeId> {
        let graph = &model.graph;
        let inputs = &graph.node(self.node).inputs;
        let blamed: Vec<usize> = self.wishes.iter().map(|w| w.0).collect();
        let mut open: Vec<NodeId> = inputs
            .iter()
            .enumerate()
            .filter(|(i, _)| blamed.is_empty() || blamed.contains(i))
            .filter_map(|(_, v)| Some((*v)?.node))
            .collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                open.extend(graph.node(id).inputs.iter().flatten().map(|v| v.node));
            }
        }
        seen
    }
}

/// The first fault of a model on some values; constants not among them have their own.
pub(super) fn first(model: &Model, tensors: &Tensors) -> Option<Fault> {
    let mut found = None;
    let mut visit = |v: &Visit<'_, Plain>| {
        found = fault(v);
        found.is_none()
    };
    let mut walk = Walk { system: &Values64, model, visit: &mut visit };
    walk.main(&|id| tensors.get(&id).map(|t| Values64.load(t)), false);
    found
}

fn fault(v: &Visit<'_, Plain>) -> Option<Fault> {
    let mut wishes = Vec::new();
    let mut elements = 0;
    for hazard in v.op.hazards(v.types) {
        let (operand, wish) = match hazard {
            Hazard::Outside { operand, low, high } => (operand, Wish::Between(low, high)),
            Hazard::Zero { operand } => (operand, Wish::NotZero),
        };
        let broken = match v.operands.get(operand).copied().flatten() {
            Some(Data::Real(a)) => a.iter().filter(|&&x| !wish.holds(x)).count(),
            Some(Data::Int(a)) => a.iter().filter(|&&z| !wish.holds(z as f64)).count(),
            None => 0,
        };
        if broken > 0 {
            elements += broken;
            wishes.push((operand, wish));
        }
    }
    if elements == 0 {
        let infinite = |data: &Data<Plain>| match data {
            Data::Real(a) => a.iter().filter(|x| !x.is_finite()).count(),
            Data::Int(_) => 0,
        };
        elements = v.results.iter().map(infinite).sum();
        wishes.extend((0..v.operands.len()).map(|i| (i, Wish::Smaller)));
    }
    // Inside a function, the operands are not those of the call.
    let wishes = if v.nested { Vec::new() } else { wishes };
    (elements > 0).then_some(Fault { node: v.node, elements, wishes })
}
