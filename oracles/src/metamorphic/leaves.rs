//! Relations between inputs and constants.
//!
//! The operators and their operands' values stay. What changes is when a value is known: an engine folds, packs and
//! specialises for constants, and may do none of that for inputs.

use ir::rewrite::Rewrite;
use ir::{NodeId, NodeKind, Stream, Tensor, Value};
use rand::RngExt;
use rand::seq::IndexedRandom;

use super::beside::fresh;
use super::relation::Subject;

/// Constants become inputs with the same values: one of them, or all.
pub(super) fn constant_to_input(subject: &Subject, stream: Stream) -> Option<Subject> {
    exchange(subject, stream, |kind| matches!(kind, NodeKind::Constant(_)))
}

/// Inputs become constants: one of them, or all, so that the whole graph can be folded.
pub(super) fn input_to_constant(subject: &Subject, stream: Stream) -> Option<Subject> {
    exchange(subject, stream, |kind| matches!(kind, NodeKind::Variable { .. }))
}

/// The model with some leaves of one kind as leaves of the other.
fn exchange(subject: &Subject, stream: Stream, is_meant: fn(&NodeKind<ops::Op>) -> bool) -> Option<Subject> {
    let mut rng = stream.rng();
    let graph = &subject.model.graph;
    let all: Vec<NodeId> = graph.iter().filter(|(_, n)| is_meant(&n.kind)).map(|(id, _)| id).collect();
    let one = *all.choose(&mut rng)?;
    let takes_all = rng.random_bool(0.5);
    let mut copy = Rewrite::of(graph);
    let mut given = subject.inputs.iter();
    let mut inputs: Vec<Tensor> = Vec::new();
    for (id, node) in graph.iter() {
        let value = match &node.kind {
            NodeKind::Variable { .. } => Some(given.next()?),
            NodeKind::Constant(tensor) => Some(&**tensor),
            _ => None,
        };
        let is_exchanged = is_meant(&node.kind) && (takes_all || id == one);
        match (&node.kind, value) {
            (NodeKind::Constant(_), Some(tensor)) if is_exchanged => {
                let name = fresh(&subject.model, &format!("c{}", id.0));
                let variable = copy.graph.variable(name, tensor.ty());
                copy.replace(Value::new(id, 0), variable);
                inputs.push(tensor.clone());
            }
            (NodeKind::Variable { .. }, Some(tensor)) if is_exchanged => {
                let constant = copy.graph.constant(tensor.clone());
                copy.replace(Value::new(id, 0), constant);
            }
            (NodeKind::Variable { .. }, Some(tensor)) => {
                inputs.push(tensor.clone());
                copy.keep(id)?;
            }
            _ => {
                copy.keep(id)?;
            }
        }
    }
    let mut changed = subject.with(copy.finish()?);
    changed.inputs = inputs;
    Some(changed)
}
