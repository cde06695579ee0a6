//! Nodes that list optional operands and outputs at their end by the empty name, which exporters do as well as leave them off.

use ir::{NodeKind, Stream, Unnamed};
use ops::Model;
use rand::RngExt;

/// The share of nodes that list as many as there is room for; the others list some of them.
const ALL: f64 = 0.5;

/// Gives most nodes of a model that have room for it some such operands and outputs, with a probability, those in functions too.
pub(crate) fn mark(model: &mut Model, share: f64, stream: Stream) {
    let mut rng = stream.rng();
    if !rng.random_bool(share.clamp(0.0, 1.0)) {
        return;
    }
    let opset = model.opset;
    let bodies = model.functions.iter_mut().map(|function| &mut function.body);
    for node in bodies.chain([&mut model.graph]).flat_map(|graph| &mut graph.nodes) {
        if let NodeKind::Operator(op) = &node.kind {
            let (inputs, outputs) = (node.inputs.len(), node.outputs.len());
            let room = op.room(inputs, outputs, opset);
            let mut some = |most: u32| if rng.random_bool(ALL) { most } else { rng.random_range(0..=most) };
            let wanted = Unnamed { operands: some(room.operands), outputs: some(room.outputs) };
            node.spelling.unnamed = op.listed(wanted, inputs, outputs, opset);
        }
    }
}
