//! Relations between a subgraph, a function and a call of it: the function rewrites of `HirFuzz` in terms of ONNX's
//! model-local functions.
//!
//! A call means its body. Engines inline functions before or after they optimise, or run them as they are.

use ir::inline::inline;
use ir::outline::outline;
use ir::rewrite::Rewrite;
use ir::{NodeKind, Stream};
use ops::{Graph, Model};
use rand::RngExt;

use super::relation::Subject;

/// The most nodes that move into a function, if not all do.
const MOST: usize = 6;

/// A part of the graph becomes a function and a call.
pub(super) fn outline_part(subject: &Subject, stream: Stream) -> Option<Subject> {
    let mut rng = stream.rng();
    let mut model = hoisted(&subject.model)?;
    let variables = model.graph.variables().count();
    let nodes = model.graph.nodes.len();
    if !computes(&model.graph) {
        return None;
    }
    let start = rng.random_range(variables..nodes);
    let end = rng.random_range(start + 1..=nodes.min(start + MOST));
    outline(&mut model, start, end);
    Some(Subject { model, inputs: subject.inputs.clone() })
}

/// The whole graph becomes a function; what is left is one call.
pub(super) fn wrap(subject: &Subject, _: Stream) -> Option<Subject> {
    let mut model = hoisted(&subject.model)?;
    if !computes(&model.graph) {
        return None;
    }
    let (variables, nodes) = (model.graph.variables().count(), model.graph.nodes.len());
    outline(&mut model, variables, nodes);
    Some(Subject { model, inputs: subject.inputs.clone() })
}

/// Every call becomes the body that it calls.
pub(super) fn inline_calls(subject: &Subject, _: Stream) -> Option<Subject> {
    let is_call = |n: &ir::Node<ops::Op>| matches!(n.kind, NodeKind::Call(_));
    let calls = subject.model.graph.nodes.iter().any(is_call);
    let graph = calls.then(|| inline(&subject.model)).flatten()?;
    Some(Subject { model: Model::new(subject.model.opset, graph), inputs: subject.inputs.clone() })
}

fn computes(graph: &Graph) -> bool {
    graph.nodes.iter().any(|n| matches!(n.kind, NodeKind::Operator(_) | NodeKind::Call(_)))
}

/// The model with its variables before all other nodes.
fn hoisted(model: &Model) -> Option<Model> {
    let graph = &model.graph;
    let (variables, others): (Vec<_>, Vec<_>) =
        graph.iter().partition(|(_, node)| matches!(node.kind, NodeKind::Variable { .. }));
    let mut copy = Rewrite::of(graph);
    copy.keep_all(variables.into_iter().chain(others).map(|(id, _)| id))?;
    Some(Model { graph: copy.finish()?, ..model.clone() })
}
