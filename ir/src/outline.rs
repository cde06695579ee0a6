//! Moving nodes into a function, and calling it in their place.

use std::collections::BTreeMap;

use crate::graph::{Function, FunctionId, Graph, Model, NodeId, NodeKind, Value};

/// Moves the nodes `start..end`, none of them a variable, into a new function and calls it in their place.
///
/// A run of neighbours in SSA order is convex: no path leaves it and comes back, so the call has no cycle.
pub fn outline<O: Clone>(model: &mut Model<O>, start: usize, end: usize) {
    let graph = &model.graph;
    let inside = |v: Value| (start..end).contains(&v.node.index());
    let arguments =
        distinct(graph.nodes[start..end].iter().flat_map(|n| n.inputs.iter().flatten()).copied(), |v| {
            !inside(v)
        });
    let later = graph.nodes[end..].iter().flat_map(|n| n.inputs.iter().flatten()).copied();
    let results = distinct(later.chain(graph.outputs.iter().map(|o| o.value)), inside);

    let mut body = Graph::new();
    let mut within = BTreeMap::new();
    for (i, &argument) in arguments.iter().enumerate() {
        within.insert(argument, body.variable(format!("p{i}"), graph.ty(argument).clone()));
    }
    for (i, node) in graph.nodes[start..end].iter().enumerate() {
        let inputs = node.inputs.iter().map(|v| v.map(|v| within[&v])).collect();
        let id = body.push(node.kind.clone(), inputs, node.outputs.clone());
        for port in 0..node.outputs.len() {
            within.insert(Value::new(NodeId((start + i) as u32), port), Value::new(id, port));
        }
    }
    for (i, result) in results.iter().enumerate() {
        body.output(format!("r{i}"), within[result]);
    }
    let function = FunctionId(model.functions.len() as u32);
    model.graph = replace_run(graph, start, end, function, &arguments, &results);
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

fn replace_run<O: Clone>(
    graph: &Graph<O>,
    start: usize,
    end: usize,
    function: FunctionId,
    arguments: &[Value],
    results: &[Value],
) -> Graph<O> {
    let removed = end - start;
    let moved = |v: Value| match results.iter().position(|&r| r == v) {
        Some(port) => Value::new(NodeId(start as u32), port),
        None if v.node.index() < end => v,
        None => Value { node: NodeId(v.node.0 + 1 - removed as u32), port: v.port },
    };
    let mut out = Graph::new();
    out.nodes.extend_from_slice(&graph.nodes[..start]);
    let types = results.iter().map(|&v| graph.ty(v).clone()).collect();
    out.push(NodeKind::Call(function), arguments.iter().map(|&v| Some(v)).collect(), types);
    for node in &graph.nodes[end..] {
        let inputs = node.inputs.iter().map(|v| v.map(moved)).collect();
        out.push(node.kind.clone(), inputs, node.outputs.clone());
    }
    for output in &graph.outputs {
        out.output(output.name.clone(), moved(output.value));
    }
    out
}
