//! Nodes back at the positions that their names state (see [`crate::names`]).

use ir::rewrite::Rewrite;
use ir::{NodeId, NodeKind};
use ops::Graph;

/// The graph with every node at the position given for it, and the inputs, which have none, at those left over. If
/// the positions are not a complete order in which operands precede uses, the graph stays as it is: someone edited
/// the model, or names only look like ours.
pub(super) fn restore(graph: Graph, positions: &[Option<usize>]) -> Graph {
    let restored = places(&graph, positions).and_then(|to| permute(&graph, &to));
    restored.unwrap_or(graph)
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
    let ordered = graph
        .iter()
        .all(|(id, node)| node.inputs.iter().flatten().all(|v| to[v.node.index()] < to[id.index()]));
    ordered.then_some(to)
}

fn permute(graph: &Graph, to: &[usize]) -> Option<Graph> {
    let mut from: Vec<usize> = (0..to.len()).collect();
    from.sort_unstable_by_key(|&i| to[i]);
    let mut rewrite = Rewrite::of(graph);
    rewrite.keep_all(from.into_iter().map(|i| NodeId(i as u32)))?;
    rewrite.finish()
}
