//! Copying a graph node by node, with other nodes in between or instead.

use std::collections::BTreeMap;

use ir::{Node, NodeId, Value};
use ops::{Graph, Op};

/// A graph that is being copied.
#[derive(Debug)]
pub struct Copy<'g> {
    old: &'g Graph,
    /// The copy so far.
    pub graph: Graph,
    at: BTreeMap<Value, Value>,
}

impl<'g> Copy<'g> {
    /// The beginning of a copy.
    pub fn of(old: &'g Graph) -> Self {
        Self { old, graph: Graph::new(), at: BTreeMap::new() }
    }

    /// The graph that is copied.
    pub fn old(&self) -> &'g Graph {
        self.old
    }

    /// What stands for a value in the copy.
    ///
    /// # Panics
    /// If its node was neither copied nor replaced, which a walk in SSA order rules out.
    pub fn at(&self, value: Value) -> Value {
        self.at[&value]
    }

    /// What stands for operands in the copy.
    pub fn operands(&self, node: &Node<Op>) -> Vec<Option<Value>> {
        node.inputs.iter().map(|v| v.map(|v| self.at(v))).collect()
    }

    /// Copies a node.
    pub fn node(&mut self, id: NodeId) -> NodeId {
        let node = self.old.node(id);
        let copy = self.graph.push(node.kind.clone(), self.operands(node), node.outputs.clone());
        self.stand_for(id, copy);
        copy
    }

    /// Lets a node of the copy stand for a node from here on.
    pub fn stand_for(&mut self, id: NodeId, copy: NodeId) {
        for port in 0..self.old.node(id).outputs.len() {
            self.at.insert(Value::new(id, port), Value::new(copy, port));
        }
    }

    /// Lets another value of the copy stand for a value from here on.
    pub fn replace(&mut self, old: Value, new: Value) {
        self.at.insert(old, new);
    }

    /// Appends an operator with one output; `None` if its type rule refuses the operands.
    pub fn push(&mut self, op: impl Into<Op>, operands: &[Value]) -> Option<Value> {
        let operands: Vec<Option<Value>> = operands.iter().map(|&v| Some(v)).collect();
        self.graph.operator(op.into(), &operands).ok().map(|id| Value::new(id, 0))
    }

    /// The copy with the outputs of the original.
    pub fn finish(mut self) -> Graph {
        for output in &self.old.outputs {
            let value = self.at(output.value);
            self.graph.output(output.name.clone(), value);
        }
        self.graph
    }
}
