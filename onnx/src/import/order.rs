//! Nodes back at the positions that their names state (see [`crate::names`]).

use ir::{NodeId, NodeKind, Output, Value};
use ops::Graph;

/// The graph with every node at the position given for it, and the inputs, which have none, at those left over. If
/// the positions are not a complete order in which operands precede uses, the graph stays as it is: someone edited
/// the model, or names only look like ours.
pub(super) fn restore(graph: Graph, positions: &[Option<usize>]) -> Graph {
    match places(&graph, positions) {
        Some(to) => permute(&graph, &to),
        None => graph,
    }
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

fn permute(graph: &Graph, to: &[usize]) -> Graph {
    let moved = |v: Value| Value { node: NodeId(to[v.node.index()] as u32), port: v.port };
    let mut from: Vec<usize> = (0..to.len()).collect();
    from.sort_unstable_by_key(|&i| to[i]);
    let mut out = Graph::new();
    for i in from {
        let node = &graph.nodes[i];
        let inputs = node.inputs.iter().map(|v| v.map(moved)).collect();
        out.push(node.kind.clone(), inputs, node.outputs.clone());
    }
    out.outputs =
        graph.outputs.iter().map(|o| Output { name: o.name.clone(), value: moved(o.value) }).collect();
    out
}
