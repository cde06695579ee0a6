//! Nodes back at the positions that their names state (see [`crate::names`]).

use ir::rewrite::Rewrite;
use ir::{NodeId, NodeKind};
use ops::Graph;

use super::origin::Origin;

/// The graph with every node at the position given for it, and the inputs, which have none, at those left over, and the
/// origins in the new order. If the positions are not a complete order in which operands precede uses, all stays as it
/// is: someone edited the model, or names only look like ours.
pub(super) fn restore(
    graph: Graph,
    origins: Vec<Origin>,
    positions: &[Option<usize>],
) -> (Graph, Vec<Origin>) {
    let restored = places(&graph, positions).and_then(|to| {
        let mut from: Vec<usize> = (0..to.len()).collect();
        from.sort_unstable_by_key(|&i| to[i]);
        Some((permute(&graph, &from)?, from.iter().map(|&i| origins[i].clone()).collect()))
    });
    restored.unwrap_or((graph, origins))
}

/// For each node its new position.
fn places(graph: &Graph, positions: &[Option<usize>]) -> Option<Vec<usize>> {
    let mut free = vec![true; graph.nodes.len()];
    let mut to = vec![None; graph.nodes.len()];
    for (id, node) in graph.iter() {
        if !matches!(node.kind, NodeKind::Variable { .. }) {
            let position = positions.get(id.index()).copied().flatten()?;
            if !std::mem::replace(free.get_mut(position)?, false) {
                return None;
            }
            to[id.index()] = Some(position);
        }
    }
    let mut gaps = (0..free.len()).filter(|&i| free[i]);
    let to = to.into_iter().map(|p| p.or_else(|| gaps.next())).collect::<Option<Vec<_>>>()?;
    let ordered = graph.iter().all(|(id, node)| node.uses().all(|v| to[v.node.index()] < to[id.index()]));
    ordered.then_some(to)
}

fn permute(graph: &Graph, from: &[usize]) -> Option<Graph> {
    let mut rewrite = Rewrite::of(graph);
    rewrite.keep_all(from.iter().map(|&i| NodeId(i as u32)))?;
    rewrite.finish()
}
