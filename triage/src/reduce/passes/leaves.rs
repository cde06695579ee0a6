//! Nodes, and all that only they depend on, replaced by inputs or constants that carry the reference's values.

use ir::{Node, NodeId, NodeKind, Tensor};
use ops::Op;

use super::{Candidates, chunks};
use crate::reduce::interest::Shown;
use crate::reduce::rewrite::{Leaf, without};

pub(super) fn candidates<'v>(shown: &'v Shown) -> Candidates<'v> {
    let graph = &shown.problem.model.graph;
    let is_run = |node: &Node<Op>| matches!(node.kind, NodeKind::Operator(_) | NodeKind::Call(_));
    let nodes: Vec<NodeId> = graph.iter().filter(|(_, node)| is_run(node)).map(|(id, _)| id).collect();
    let count = nodes.len();
    let without_chunk = move |chunk: std::ops::Range<usize>| {
        let nodes = nodes[chunk].to_vec();
        let without = move |leaf| without(&shown.problem, &nodes, &shown.values, leaf);
        [Leaf::Input as fn(&'v Tensor) -> Leaf<'v>, Leaf::Constant].into_iter().filter_map(without)
    };
    Box::new(chunks(count).flat_map(without_chunk))
}
