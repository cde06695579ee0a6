//! Nodes that leave out the attributes that are at their defaults: what exporters do, and the only way to see what an
//! engine takes for the default.

use ir::{NodeKind, Stream};
use ops::Model;
use rand::RngExt;

/// The share of nodes that leave something out, in a model where nodes do.
const MOST: f64 = 0.8;

/// Marks most nodes of a model, with a probability, those in functions too. A node that has nothing to leave out is not marked.
pub(crate) fn mark(model: &mut Model, share: f64, stream: Stream) {
    let mut rng = stream.rng();
    if !rng.random_bool(share.clamp(0.0, 1.0)) {
        return;
    }
    let opset = model.opset;
    let bodies = model.functions.iter_mut().map(|function| &mut function.body);
    for node in bodies.chain([&mut model.graph]).flat_map(|graph| &mut graph.nodes) {
        if let NodeKind::Operator(op) = &mut node.kind
            && rng.random_bool(MOST)
        {
            *op = op.shortened(opset);
            node.spelling.is_terse = !op.left_out(opset).is_empty();
        }
    }
}
