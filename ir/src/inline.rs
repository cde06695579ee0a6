//! Replacing calls by the functions' bodies.

use crate::graph::{Graph, Model, NodeKind, Value};
use crate::rewrite::Rewrite;

/// Nodes beyond this number are not inlined: functions that call functions can multiply without bound.
const MOST_NODES: usize = 100_000;

/// The main graph with every call replaced by the body it calls; `None` if that has too many nodes.
///
/// The model must be valid. Variables and outputs keep their names and order.
pub fn inline<O: Clone>(model: &Model<O>) -> Option<Graph<O>> {
    let mut rewrite = Rewrite::of(&model.graph);
    copy(model, &mut rewrite, None)?;
    rewrite.finish()
}

/// Keeps a graph's nodes, with the bodies of functions in place of calls and, where there are some, `arguments` in
/// place of variables.
fn copy<O: Clone>(model: &Model<O>, rewrite: &mut Rewrite<'_, O>, arguments: Option<&[Value]>) -> Option<()> {
    let mut arguments = arguments.map(|given| given.iter());
    for (id, node) in rewrite.old().iter() {
        if rewrite.graph.nodes.len() >= MOST_NODES {
            return None;
        }
        match (&node.kind, &mut arguments) {
            (NodeKind::Variable { .. }, Some(arguments)) => {
                rewrite.replace(Value::new(id, 0), *arguments.next()?);
            }
            (NodeKind::Call(function), _) => {
                let callee = &model.functions.get(function.0 as usize)?.body;
                let given: Vec<Value> = rewrite.operands(&node.inputs)?.into_iter().collect::<Option<_>>()?;
                let mut inner = Rewrite::onto(callee, std::mem::take(&mut rewrite.graph));
                copy(model, &mut inner, Some(&given))?;
                for (port, output) in callee.outputs.iter().enumerate() {
                    rewrite.replace(Value::new(id, port), inner.at(output.value)?);
                }
                rewrite.graph = inner.graph;
            }
            _ => {
                rewrite.keep(id)?;
            }
        }
    }
    Some(())
}
