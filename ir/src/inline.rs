//! Replacing calls by the functions' bodies.

use crate::graph::{Graph, Model, NodeId, NodeKind, Value};
use crate::rewrite::Rewrite;

/// How many nodes a graph may have once calls, or anything else, are written out. Functions that call functions can
/// multiply without bound: nothing at all is inlined where that gives more nodes than these.
pub const MOST_NODES: usize = 100_000;

/// A graph without calls.
pub struct Inlined<O> {
    /// The graph.
    pub graph: Graph<O>,
    /// Where each of its nodes comes from: the node of the main graph that it was, or the call whose function
    /// it stood in.
    pub from: Vec<NodeId>,
}

/// The main graph with every call replaced by the body it calls; `None` if that has too many nodes.
///
/// The model must be valid. Variables and outputs keep their names and order.
pub fn inline<O: Clone>(model: &Model<O>) -> Option<Graph<O>> {
    inlined(model).map(|inlined| inlined.graph)
}

/// The same, with where its nodes are from.
pub fn inlined<O: Clone>(model: &Model<O>) -> Option<Inlined<O>> {
    let mut rewrite = Rewrite::of(&model.graph);
    let mut from = Vec::new();
    copy(model, &mut rewrite, None, &mut from)?;
    Some(Inlined { graph: rewrite.finish()?, from })
}

/// The call of the main graph that a function's body is met in, and what it is called on.
#[derive(Clone, Copy)]
struct Met<'a> {
    call: NodeId,
    arguments: &'a [Value],
}

/// Keeps a graph's nodes, with the bodies of functions in place of calls and, in a function, its arguments in place of variables.
fn copy<O: Clone>(
    model: &Model<O>,
    rewrite: &mut Rewrite<'_, O>,
    met: Option<Met<'_>>,
    from: &mut Vec<NodeId>,
) -> Option<()> {
    let mut arguments = met.map(|met| met.arguments.iter());
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
                let met = Met { call: met.map_or(id, |met| met.call), arguments: &given };
                copy(model, &mut inner, Some(met), from)?;
                for (port, output) in callee.outputs.iter().enumerate() {
                    rewrite.replace(Value::new(id, port), inner.at(output.value)?);
                }
                rewrite.graph = inner.graph;
            }
            _ => {
                rewrite.keep(id)?;
                from.push(met.map_or(id, |met| met.call));
            }
        }
    }
    Some(())
}
