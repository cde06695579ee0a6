//! The nodes in another topological order. Nothing else changes, but that engines plan memory, and some decide what
//! to fuse, in the order of the nodes.

use ir::rewrite::Rewrite;
use ir::{NodeId, NodeKind, Stream};
use rand::RngExt;

use super::relation::Subject;

/// Another topological order. Inputs keep theirs, because callers may pass them by position.
pub(super) fn reorder(subject: &Subject, stream: Stream) -> Option<Subject> {
    let mut rng = stream.rng();
    let graph = &subject.model.graph;
    let is_variable = |id: NodeId| matches!(graph.node(id).kind, NodeKind::Variable { .. });
    let (mut order, mut waiting): (Vec<NodeId>, Vec<NodeId>) =
        graph.iter().map(|(id, _)| id).partition(|&id| is_variable(id));
    let variables = order.len();
    let mut is_placed = vec![false; graph.nodes.len()];
    for id in &order {
        is_placed[id.index()] = true;
    }
    while !waiting.is_empty() {
        let is_ready =
            |id: &NodeId| graph.node(*id).inputs.iter().flatten().all(|v| is_placed[v.node.index()]);
        let ready: Vec<usize> = (0..waiting.len()).filter(|&i| is_ready(&waiting[i])).collect();
        let next = waiting.remove(ready[rng.random_range(0..ready.len())]);
        is_placed[next.index()] = true;
        order.push(next);
    }
    let mut copy = Rewrite::of(graph);
    copy.keep_all(order.iter().copied())?;
    // Constants have no order in ONNX.
    let computed = |id: &&NodeId| !matches!(graph.node(**id).kind, NodeKind::Constant(_));
    let has_changed = !order[variables..].iter().filter(computed).is_sorted();
    let graph = copy.finish()?;
    has_changed.then(|| subject.with(graph))
}
