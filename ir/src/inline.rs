//! Replacing calls by the functions' bodies.

use std::collections::BTreeMap;

use crate::graph::{Graph, Model, Node, NodeId, NodeKind, Value};

/// Nodes beyond this number are not inlined: functions that call functions can multiply without bound.
const MOST_NODES: usize = 100_000;

/// The main graph with every call replaced by the body it calls; `None` if that has too many nodes.
///
/// The model must be valid. Variables and outputs keep their names and order.
pub fn inline<O: Clone>(model: &Model<O>) -> Option<Graph<O>> {
    let mut out = Graph::new();
    let values = copy(model, &model.graph, None, &mut out)?;
    for output in &model.graph.outputs {
        out.output(output.name.clone(), values[&output.value]);
    }
    Some(out)
}

/// Copies a graph's nodes, its variables replaced by `arguments` where there are some. Gives each value's copy.
fn copy<O: Clone>(
    model: &Model<O>,
    graph: &Graph<O>,
    arguments: Option<&[Value]>,
    out: &mut Graph<O>,
) -> Option<BTreeMap<Value, Value>> {
    let mut at: BTreeMap<Value, Value> = BTreeMap::new();
    let mut parameters = 0;
    for (id, node) in graph.iter() {
        if out.nodes.len() >= MOST_NODES {
            return None;
        }
        let results = match (&node.kind, arguments) {
            (NodeKind::Variable { .. }, Some(arguments)) => {
                parameters += 1;
                vec![*arguments.get(parameters - 1)?]
            }
            (NodeKind::Call(function), _) => {
                let callee = &model.functions.get(function.0 as usize)?.body;
                let given: Vec<Value> =
                    node.inputs.iter().flatten().filter_map(|v| at.get(v).copied()).collect();
                let inner = copy(model, callee, Some(&given), out)?;
                callee.outputs.iter().map(|o| inner.get(&o.value).copied()).collect::<Option<_>>()?
            }
            _ => push(out, node, &at),
        };
        at.extend(results.into_iter().enumerate().map(|(port, v)| (Value::new(id, port), v)));
    }
    Some(at)
}

fn push<O: Clone>(out: &mut Graph<O>, node: &Node<O>, at: &BTreeMap<Value, Value>) -> Vec<Value> {
    let inputs = node.inputs.iter().map(|v| v.and_then(|v| at.get(&v).copied())).collect();
    let id: NodeId = out.push(node.kind.clone(), inputs, node.outputs.clone());
    (0..node.outputs.len()).map(|port| Value::new(id, port)).collect()
}
