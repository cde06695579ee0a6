//! What is in a model: dtypes, operators, and how these are used.

use std::collections::BTreeSet;

use graphgen::Use;
use ir::{DType, Node, NodeId, NodeKind};
use ops::{Graph, Model, Op, Spec};

/// The dtypes of all values of a model and of its functions, except those of the `unseen` nodes of the main graph.
pub fn dtypes(model: &Model, unseen: &BTreeSet<NodeId>) -> ir::DTypes {
    seen(model, unseen).flat_map(|(_, node)| &node.outputs).map(|ty| ty.dtype).collect()
}

/// The nodes of a model and of its functions, each with its graph, except the `unseen` nodes of the main graph.
fn seen<'m>(
    model: &'m Model,
    unseen: &'m BTreeSet<NodeId>,
) -> impl Iterator<Item = (&'m Graph, &'m Node<Op>)> {
    let inside = model.functions.iter().flat_map(|f| f.body.nodes.iter().map(|node| (&f.body, node)));
    let main = model.graph.iter().filter(|(id, _)| !unseen.contains(id));
    inside.chain(main.map(|(_, node)| (&model.graph, node)))
}

/// Each operator of a model with the dtype of its first operand (or output), functions included.
pub fn operators(model: &Model) -> impl Iterator<Item = (&'static str, DType)> {
    let graphs = model.functions.iter().map(|f| &f.body).chain([&model.graph]);
    graphs.flat_map(|g| g.nodes.iter().map(move |n| (g, n))).filter_map(|(graph, node)| match &node.kind {
        NodeKind::Operator(op) => {
            let first = node.inputs.iter().flatten().next().map(|v| graph.ty(*v)).or(node.outputs.first())?;
            Some((ir::Operation::name(op), first.dtype))
        }
        _ => None,
    })
}

/// How each `wanted` operator of a model and of its functions is used, except the `unseen` nodes of the main graph.
pub fn uses(
    model: &Model,
    unseen: &BTreeSet<NodeId>,
    wanted: impl Fn(&Spec) -> bool,
) -> Vec<(&'static Spec, Use)> {
    let mut uses = Vec::new();
    for (graph, node) in seen(model, unseen) {
        let NodeKind::Operator(op) = &node.kind else { continue };
        let spec = op.spec();
        if wanted(spec) {
            let operands = graph.types(&node.inputs);
            uses.push((spec, Use::of(model.opset, op, &operands, &node.outputs)));
        }
    }
    uses
}
