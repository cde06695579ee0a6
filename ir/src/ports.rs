//! Something for every value of a graph.

use crate::graph::{Graph, NodeId, Value};

/// One thing for every output of every node of a graph, or of its first nodes.
///
/// They lie behind one another in memory: a table is made for every run of a graph, and graphs are small.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ports<T> {
    all: Vec<T>,
    /// For each node where its things end.
    ends: Vec<u32>,
}

impl<T> Default for Ports<T> {
    /// That of a graph without nodes.
    fn default() -> Self {
        Self { all: Vec::new(), ends: Vec::new() }
    }
}

impl<T> Ports<T> {
    /// No nodes yet, with room for those of a graph.
    pub fn room_for<O>(graph: &Graph<O>) -> Self {
        let nodes = graph.nodes.len();
        Self { all: Vec::with_capacity(nodes), ends: Vec::with_capacity(nodes) }
    }

    /// One and the same thing for every value of a graph.
    pub fn filled<O>(graph: &Graph<O>, each: &T) -> Self
    where
        T: Clone,
    {
        let mut ports = Self::room_for(graph);
        for node in &graph.nodes {
            ports.push(std::iter::repeat_n(each.clone(), node.outputs.len()));
        }
        ports
    }

    /// The next node's.
    pub fn push(&mut self, node: impl IntoIterator<Item = T>) {
        self.all.extend(node);
        self.ends.push(self.all.len() as u32);
    }

    /// What there is for a value; `None` if the graph has no such value.
    pub fn get(&self, value: Value) -> Option<&T> {
        self.of(value.node).get(value.port as usize)
    }

    /// What there is for a value, to be changed.
    pub fn get_mut(&mut self, value: Value) -> Option<&mut T> {
        let range = self.range(value.node)?;
        self.all[range].get_mut(value.port as usize)
    }

    /// What there is for a node's outputs; nothing if the graph has no such node.
    pub fn of(&self, node: NodeId) -> &[T] {
        self.range(node).map_or(&[], |range| &self.all[range])
    }

    fn range(&self, node: NodeId) -> Option<std::ops::Range<usize>> {
        let end = *self.ends.get(node.index())?;
        let start = node.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(start as usize..end as usize)
    }
}
