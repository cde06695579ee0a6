//! Relations that add nodes whose results change nothing: dead branches, further outputs, and a second copy of a node.
//!
//! Every operator of the original is still there, on the same operands. What changes is how often a value is used, and
//! that is what decides whether an optimiser may fuse its producer, reuse its memory, or merge it with an equal one.

use ir::rewrite::Rewrite;
use ir::{NodeId, NodeKind, Stream, Value};
use ops::elementwise::unary::{Unary, UnaryFn};
use ops::{Graph, Model};
use rand::RngExt;
use rand::seq::IndexedRandom;

use super::relation::Subject;

/// The most nodes or outputs that are added.
const MOST: usize = 3;

/// Copies of nodes, followed by an Identity, that no output depends on.
pub(super) fn dead_branch(subject: &Subject, stream: Stream) -> Option<Subject> {
    let mut rng = stream.rng();
    let graph = &subject.model.graph;
    let all = computing(graph);
    let chosen: Vec<NodeId> =
        (0..rng.random_range(1..=MOST)).filter_map(|_| all.choose(&mut rng).copied()).collect();
    let mut copy = Rewrite::of(graph);
    for (id, _) in graph.iter() {
        let alive = copy.keep(id)?;
        if chosen.contains(&id) {
            let dead = copy.keep(id)?;
            copy.push(Unary(UnaryFn::Identity), &[Value::new(dead, 0)])?;
            copy.stand_for(id, alive);
        }
    }
    let graph = copy.finish()?;
    (!chosen.is_empty()).then(|| subject.with(graph))
}

/// Further outputs: values that were inside the graph.
pub(super) fn extra_output(subject: &Subject, stream: Stream) -> Option<Subject> {
    let mut rng = stream.rng();
    let mut graph = subject.model.graph.clone();
    let is_output = |value: Value| subject.model.graph.outputs.iter().any(|o| o.value == value);
    let mut inner: Vec<Value> =
        computing(&graph).into_iter().map(|id| Value::new(id, 0)).filter(|&v| !is_output(v)).collect();
    for i in 0..rng.random_range(1..=MOST).min(inner.len()) {
        let value = inner.swap_remove(rng.random_range(0..inner.len()));
        graph.output(fresh(&subject.model, &format!("extra{i}")), value);
    }
    (graph.outputs.len() > subject.model.graph.outputs.len()).then(|| subject.with(graph))
}

/// A second copy of a node, or of a constant, that takes over some of the uses.
///
/// The other direction, merging equal nodes, is the same pair of models.
pub(super) fn duplicate(subject: &Subject, stream: Stream) -> Option<Subject> {
    let mut rng = stream.rng();
    let graph = &subject.model.graph;
    let used = |id: NodeId| {
        let operands = graph.nodes.iter().flat_map(|n| n.inputs.iter().flatten());
        operands.chain(graph.outputs.iter().map(|o| &o.value)).any(|v| v.node == id)
    };
    let is_variable = |id: NodeId| matches!(graph.node(id).kind, NodeKind::Variable { .. });
    let all: Vec<NodeId> =
        graph.iter().map(|(id, _)| id).filter(|&id| !is_variable(id) && used(id)).collect();
    let chosen = *all.choose(&mut rng)?;
    let mut copy = Rewrite::of(graph);
    let mut copies: Option<[NodeId; 2]> = None;
    for (id, _) in graph.iter() {
        if let Some(copies) = copies {
            copy.stand_for(chosen, *copies.as_slice().choose(&mut rng)?);
        }
        let first = copy.keep(id)?;
        if id == chosen {
            copies = Some([first, copy.keep(id)?]);
        }
    }
    Some(subject.with(copy.finish()?))
}

/// A name that no input and no output has.
pub(super) fn fresh(model: &Model, base: &str) -> String {
    let taken = |name: &str| {
        let outputs = model.graph.outputs.iter().map(|o| o.name.as_str());
        model.graph.variables().map(|(_, name, _)| name).chain(outputs).any(|n| n == name)
    };
    let mut name = base.to_owned();
    while taken(&name) {
        name.push('_');
    }
    name
}

/// The nodes that compute something.
fn computing(graph: &Graph) -> Vec<NodeId> {
    let computes = |kind: &NodeKind<ops::Op>| matches!(kind, NodeKind::Operator(_) | NodeKind::Call(_));
    graph.iter().filter(|(_, node)| computes(&node.kind)).map(|(id, _)| id).collect()
}
