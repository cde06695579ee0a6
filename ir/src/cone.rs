//! The part of a graph that some of its outputs depend on, and the part that depends on some of its values.

use crate::rewrite::Rewrite;
use crate::{Graph, Model, NodeId, Value};

/// For each node, whether the value depends on it.
pub fn members<O>(graph: &Graph<O>, value: Value) -> Vec<bool> {
    of_any(graph, [value])
}

/// For each node, whether one of the values depends on it.
pub fn of_any<O>(graph: &Graph<O>, values: impl IntoIterator<Item = Value>) -> Vec<bool> {
    let mut members = vec![false; graph.nodes.len()];
    let mut open: Vec<NodeId> = values.into_iter().map(|value| value.node).collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut members[id.index()], true) {
            open.extend(graph.node(id).uses().map(|used| used.node));
        }
    }
    members
}

/// For each node, whether it is one of the given nodes or depends on one.
pub fn dependants<O>(graph: &Graph<O>, is: impl Fn(NodeId) -> bool) -> Vec<bool> {
    let mut dependants = vec![false; graph.nodes.len()];
    for (id, node) in graph.iter() {
        dependants[id.index()] = is(id) || node.uses().any(|used| dependants[used.node.index()]);
    }
    dependants
}

/// The model with that output alone, and what it depends on; `None` if it has no such output. Functions stay.
pub fn only<O: Clone>(model: &Model<O>, output: &str) -> Option<Model<O>> {
    let output = model.graph.outputs.iter().find(|o| o.name == output)?;
    let members = members(&model.graph, output.value);
    let mut rewrite = Rewrite::of(&model.graph);
    rewrite.keep_all(model.graph.iter().map(|(id, _)| id).filter(|id| members[id.index()]))?;
    let value = rewrite.at(output.value)?;
    rewrite.graph.output(output.name.clone(), value);
    Some(Model { opset: model.opset, functions: model.functions.clone(), graph: rewrite.graph })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, NodeKind, Type};

    #[test]
    fn what_an_output_does_not_depend_on_is_left_out() {
        let ty = Type::new(DType::F32, []);
        let mut graph = Graph::<()>::new();
        let x = graph.variable("x", ty.clone());
        let y = graph.variable("y", ty.clone());
        let of_y = graph.push(NodeKind::Operator(()), vec![Some(y), None, Some(y)], vec![ty.clone(); 2]);
        let of_x = graph.push(NodeKind::Operator(()), vec![Some(x)], vec![ty]);
        graph.output("a", Value::new(of_y, 1));
        graph.output("b", Value::new(of_x, 0));
        assert_eq!(members(&graph, Value::new(of_y, 1)), [false, true, true, false]);
        assert_eq!(of_any(&graph, graph.outputs.iter().map(|output| output.value)), [true; 4]);
        assert_eq!(of_any(&graph, []), [false; 4]);
        assert_eq!(dependants(&graph, |id| id == y.node), [false, true, true, false]);

        let model = Model { opset: 18, functions: Vec::new(), graph };
        let part = only(&model, "a").unwrap().graph;
        let operand = Some(Value::new(NodeId(0), 0));
        assert_eq!(part.nodes.len(), 2);
        assert_eq!(part.nodes[1].inputs, [operand, None, operand]);
        assert_eq!((part.outputs.len(), part.outputs[0].value), (1, Value::new(NodeId(1), 1)));
        assert_eq!(only(&model, "c"), None);
    }
}
