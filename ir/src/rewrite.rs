//! Building a graph anew from another one, with some of its nodes left out, changed, or others in between.
//!
//! This is the one way in which graphs are edited. A [`Rewrite`] walks over the old graph in an order of the caller's
//! choice, [keeps](Rewrite::keep) a node or not, pushes nodes of its own, and remembers what stands for each value of the
//! old graph in the new one. Nobody counts positions.
//!
//! ```
//! use onnxsmith_ir::rewrite::Rewrite;
//! use onnxsmith_ir::{DType, Graph, NodeKind, Type, Value};
//!
//! let ty = Type::new(DType::F32, [2]);
//! let mut old: Graph<&str> = Graph::new();
//! let x = old.variable("x", ty.clone());
//! let abs = old.push(NodeKind::Operator("Abs"), vec![Some(x)], vec![ty]);
//! let y = Value::new(abs, 0);
//! old.output("y", y);
//!
//! // The output of Abs becomes an input.
//! let mut rewrite = Rewrite::of(&old);
//! rewrite.keep(x.node);
//! let input = rewrite.graph.variable("z", old.ty(y).clone());
//! rewrite.replace(y, input);
//! let new = rewrite.finish().expect("something stands for every output");
//! assert_eq!(new.outputs[0].value, input);
//! ```

use crate::graph::{Graph, NodeId, Operation, Value};
use crate::ports::Ports;

/// A graph that is being built from another one.
#[derive(Clone, Debug)]
pub struct Rewrite<'g, O> {
    old: &'g Graph<O>,
    /// The new graph so far.
    pub graph: Graph<O>,
    /// What stands for each value of the old graph.
    at: Ports<Option<Value>>,
}

impl<'g, O> Rewrite<'g, O> {
    /// The beginning of a new graph.
    pub fn of(old: &'g Graph<O>) -> Self {
        Self::onto(old, Graph::new())
    }

    /// The continuation of a graph: what is kept of the old one comes after the nodes that are there.
    pub fn onto(old: &'g Graph<O>, graph: Graph<O>) -> Self {
        Self { old, graph, at: Ports::filled(old, &None) }
    }

    /// The graph that is rewritten.
    pub fn old(&self) -> &'g Graph<O> {
        self.old
    }

    /// What stands for a value of the old graph; `None` if nothing does so far.
    pub fn at(&self, value: Value) -> Option<Value> {
        self.at.get(value).copied().flatten()
    }

    /// What stands for operands of the old graph; `None` if nothing does for one that is there.
    pub fn operands(&self, old: &[Option<Value>]) -> Option<Vec<Option<Value>>> {
        old.iter().map(|v| v.map_or(Some(None), |v| self.at(v).map(Some))).collect()
    }

    /// Lets a value of the new graph stand for one of the old graph from here on.
    pub fn replace(&mut self, old: Value, new: Value) {
        if let Some(at) = self.at.get_mut(old) {
            *at = Some(new);
        }
    }

    /// Lets the outputs of a node of the new graph stand for those of a node of the old graph from here on.
    pub fn stand_for(&mut self, old: NodeId, new: NodeId) {
        for port in 0..self.old.node(old).outputs.len() {
            self.replace(Value::new(old, port), Value::new(new, port));
        }
    }

    /// The new graph, with the outputs of the old one; `None` if nothing stands for one of them.
    pub fn finish(mut self) -> Option<Graph<O>> {
        for output in &self.old.outputs {
            self.graph.output(output.name.clone(), self.at(output.value)?);
        }
        Some(self.graph)
    }
}

impl<O: Clone> Rewrite<'_, O> {
    /// Keeps a node of the old graph, on what stands for its operands; `None` if nothing does for one of them.
    pub fn keep(&mut self, id: NodeId) -> Option<NodeId> {
        let operands = self.operands(&self.old.node(id).inputs)?;
        Some(self.keep_on(id, operands))
    }

    /// Keeps nodes of the old graph, one after another; `None` if nothing stands for an operand of one of them.
    pub fn keep_all(&mut self, ids: impl IntoIterator<Item = NodeId>) -> Option<()> {
        ids.into_iter().try_for_each(|id| self.keep(id).map(drop))
    }

    /// Keeps a node of the old graph, on other operands of the same types. Of the values that it was read
    /// from, those stay that something stands for in the new graph.
    pub fn keep_on(&mut self, id: NodeId, operands: Vec<Option<Value>>) -> NodeId {
        let node = self.old.node(id);
        let new = self.graph.push(node.kind.clone(), operands, node.outputs.clone());
        let kept = &mut self.graph.nodes[new.index()];
        kept.is_inner = node.is_inner;
        kept.spelling = node.spelling;
        kept.given = node.given.iter().filter_map(|&v| self.at.get(v).copied().flatten()).collect();
        self.stand_for(id, new);
        new
    }
}

impl<O: Operation> Rewrite<'_, O> {
    /// Appends an operator of one output; `None` if its type rule refuses the operands.
    pub fn push(&mut self, op: impl Into<O>, operands: &[Value]) -> Option<Value> {
        let operands: Vec<Option<Value>> = operands.iter().map(|&v| Some(v)).collect();
        self.graph.operator(op.into(), &operands).ok().map(|id| Value::new(id, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, NodeKind, Type};

    /// x → split → (a, b), and join(b, a).
    fn graph() -> (Graph<&'static str>, [NodeId; 3]) {
        let ty = Type::new(DType::F32, [3]);
        let mut graph = Graph::new();
        let x = graph.variable("x", ty.clone());
        let split = graph.push(NodeKind::Operator("Split"), vec![Some(x)], vec![ty.clone(), ty.clone()]);
        let operands = vec![Some(Value::new(split, 1)), None, Some(Value::new(split, 0))];
        let join = graph.push(NodeKind::Operator("Join"), operands, vec![ty]);
        graph.output("y", Value::new(join, 0));
        (graph, [x.node, split, join])
    }

    #[test]
    fn keeping_all_gives_an_equal_graph() {
        let (old, ids) = graph();
        let mut rewrite = Rewrite::of(&old);
        for id in ids {
            assert_eq!(rewrite.keep(id), Some(id));
        }
        assert_eq!(rewrite.finish(), Some(old.clone()));
    }

    #[test]
    fn a_value_of_which_nothing_was_kept_ends_the_rewriting() {
        let (old, [x, split, join]) = graph();
        let mut rewrite = Rewrite::of(&old);
        assert_eq!(rewrite.keep(split), None, "its operand is missing");
        rewrite.keep(x);
        rewrite.replace(Value::new(split, 0), Value::new(x, 0));
        assert_eq!(rewrite.keep(join), None, "one of its operands is missing");
        assert_eq!(rewrite.at(Value::new(split, 1)), None);
        assert_eq!(rewrite.finish(), None);
    }

    #[test]
    fn uses_after_a_replacement_see_it() {
        let (old, [x, split, join]) = graph();
        let mut rewrite = Rewrite::of(&old);
        rewrite.keep(x);
        rewrite.keep(split);
        let other = rewrite.graph.variable("z", old.ty(Value::new(split, 0)).clone());
        rewrite.replace(Value::new(split, 0), other);
        let new = rewrite.keep(join).unwrap();
        assert_eq!(rewrite.graph.node(new).inputs, [Some(Value::new(split, 1)), None, Some(other)]);
        assert_eq!(new, NodeId(3));
        assert_eq!(rewrite.finish().unwrap().outputs[0].value, Value::new(new, 0));
    }

    #[test]
    fn a_graph_can_be_kept_behind_another_one() {
        let (old, ids) = graph();
        let mut twice = old.clone();
        for _ in 0..2 {
            let mut rewrite = Rewrite::onto(&old, twice);
            rewrite.keep_all(ids).unwrap();
            twice = rewrite.graph;
        }
        assert_eq!(twice.nodes.len(), 9);
        assert_eq!(twice.node(NodeId(8)).inputs[0], Some(Value::new(NodeId(7), 1)));
        assert_eq!(twice.outputs.len(), 1, "outputs are the caller's to name");
    }
}
