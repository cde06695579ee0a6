//! Nodes, and all that only they depend on, replaced by inputs or constants that carry the reference's values.

use ir::{Node, NodeId, NodeKind, Value};
use ops::Op;

use super::{Candidates, chunks};
use crate::reduce::interest::Shown;
use crate::reduce::problem::Problem;
use crate::reduce::rewrite::{Edit, Leaf};

pub(super) fn candidates(shown: &Shown) -> Candidates<'_> {
    let graph = &shown.problem.model.graph;
    let is_run = |node: &Node<Op>| matches!(node.kind, NodeKind::Operator(_) | NodeKind::Call(_));
    let nodes: Vec<NodeId> = graph.iter().filter(|(_, node)| is_run(node)).map(|(id, _)| id).collect();
    let count = nodes.len();
    let without_chunk = move |chunk: std::ops::Range<usize>| {
        let nodes = nodes[chunk].to_vec();
        [Leaf::Input, Leaf::Constant].into_iter().filter_map(move |leaf| without(shown, &nodes, leaf))
    };
    Box::new(chunks(count).flat_map(without_chunk))
}

/// The problem without these nodes.
fn without(shown: &Shown, nodes: &[NodeId], leaf: fn(ir::Tensor) -> Leaf) -> Option<Problem> {
    let mut edit = Edit::default();
    for &id in nodes {
        for port in 0..shown.problem.model.graph.node(id).outputs.len() {
            let value = Value::new(id, port);
            edit.cuts.insert(value, leaf(shown.values.get(&value)?.clone()));
        }
    }
    // An output of which only a value is left says nothing.
    let graph = &shown.problem.model.graph;
    let outputs: Vec<_> =
        graph.outputs.iter().filter(|o| !edit.cuts.contains_key(&o.value)).cloned().collect();
    edit.outputs = Some(outputs);
    edit.apply(&shown.problem)
}
