//! Extracting a part of a graph into a function and a call of it.

use ir::outline::outline;
use ir::{NodeKind, Stream};
use ops::Model;
use rand::RngExt;

/// The most nodes that move into a function.
const MOST: usize = 5;

/// With the probability given, moves a run of operator nodes into a function and calls it in their place.
///
/// A run of neighbours in SSA order is convex: no path leaves it and comes back, so the call has no cycle.
pub fn extract(model: &mut Model, probability: f64, stream: Stream) {
    let mut rng = stream.rng();
    if !rng.random_bool(probability.clamp(0.0, 1.0)) {
        return;
    }
    let is_operator = |n: &&ir::Node<ops::Op>| matches!(n.kind, NodeKind::Operator(_));
    let operators = model.graph.nodes.iter().filter(is_operator).count();
    // Generated graphs have their variables and constants first, so the operators are the last nodes.
    let first_operator = model.graph.nodes.len() - operators;
    if operators == 0 || !model.graph.nodes[first_operator..].iter().all(|n| is_operator(&n)) {
        return;
    }
    let len = rng.random_range(1..=MOST.min(operators));
    let start = first_operator + rng.random_range(0..=operators - len);
    outline(model, start, start + len);
}
