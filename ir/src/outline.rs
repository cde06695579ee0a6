//! Moving nodes into a function, and calling it in their place.

use std::ops::Range;

use crate::graph::{Function, FunctionId, Graph, Model, NodeId, NodeKind, Value};
use crate::rewrite::Rewrite;

/// Moves the nodes `start..end`, none of them a variable, into a new function and calls it in their place.
///
/// A run of neighbours in SSA order is convex: no path leaves it and comes back, so the call has no cycle. A graph in
/// which operands do not precede their uses stays as it is, and so does one with nodes that were read from values
/// ([`Node::given`](crate::Node)): a function cannot say which of its caller's they are.
pub fn outline<O: Clone>(model: &mut Model<O>, start: usize, end: usize) {
    let graph = &model.graph;
    if graph.nodes.iter().any(|node| !node.given.is_empty()) {
        return;
    }
    let inside = |v: Value| (start..end).contains(&v.node.index());
    let arguments =
        distinct(graph.nodes[start..end].iter().flat_map(|n| n.inputs.iter().flatten()).copied(), |v| {
            !inside(v)
        });
    let later = graph.nodes[end..].iter().flat_map(|n| n.inputs.iter().flatten()).copied();
    let results = distinct(later.chain(graph.outputs.iter().map(|o| o.value)), inside);

    let function = FunctionId(model.functions.len() as u32);
    let Some(body) = body(graph, start..end, &arguments, &results) else { return };
    let Some(graph) = calling(graph, start..end, function, &arguments, &results) else { return };
    model.graph = graph;
    let is_taken = |name: &String| model.functions.iter().any(|f| f.name == *name);
    let mut names = (function.0..).map(|i| format!("f{i}")).skip_while(is_taken);
    let name = names.next().unwrap_or_default();
    model.functions.push(Function { name, body });
}

/// The values that satisfy the condition, each once, in order of appearance.
fn distinct(values: impl Iterator<Item = Value>, keep: impl Fn(Value) -> bool) -> Vec<Value> {
    let mut seen = Vec::new();
    for v in values {
        if keep(v) && !seen.contains(&v) {
            seen.push(v);
        }
    }
    seen
}

/// The nodes as a graph of their own: the arguments are its inputs, the results its outputs.
fn body<O: Clone>(
    graph: &Graph<O>,
    nodes: Range<usize>,
    arguments: &[Value],
    results: &[Value],
) -> Option<Graph<O>> {
    let mut body = Rewrite::of(graph);
    for (i, &argument) in arguments.iter().enumerate() {
        let parameter = body.graph.variable(format!("p{i}"), graph.ty(argument).clone());
        body.replace(argument, parameter);
    }
    body.keep_all(nodes.map(|i| NodeId(i as u32)))?;
    for (i, &result) in results.iter().enumerate() {
        let value = body.at(result)?;
        body.graph.output(format!("r{i}"), value);
    }
    Some(body.graph)
}

/// The graph with a call in place of the nodes.
fn calling<O: Clone>(
    graph: &Graph<O>,
    nodes: Range<usize>,
    function: FunctionId,
    arguments: &[Value],
    results: &[Value],
) -> Option<Graph<O>> {
    let positions = |range: Range<usize>| range.map(|i| NodeId(i as u32));
    let mut rewrite = Rewrite::of(graph);
    rewrite.keep_all(positions(0..nodes.start))?;
    let operands: Option<Vec<_>> = arguments.iter().map(|&v| rewrite.at(v).map(Some)).collect();
    let types = results.iter().map(|&v| graph.ty(v).clone()).collect();
    let call = rewrite.graph.push(NodeKind::Call(function), operands?, types);
    for (port, &result) in results.iter().enumerate() {
        rewrite.replace(result, Value::new(call, port));
    }
    rewrite.keep_all(positions(nodes.end..graph.nodes.len()))?;
    rewrite.finish()
}
