//! The graph under construction.
//!
//! While nodes are inserted in both directions there is no order: a value is either a placeholder (a graph input
//! or constant to be) or an output of a node, and a placeholder can turn into an output later.

use ir::{NodeKind, Type, Value};
use ops::{Footprint, Graph, Op};

/// The position of a value in a [`GraphBuilder`].
pub type ValueId = usize;

/// What a value is at present.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A graph input or constant to be, which a node may still come to produce.
    Open,
    /// A graph input or constant to be, whose values an operator restricts.
    Pinned,
    /// An output of a node.
    Node(usize),
}

/// A value with its type.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its type.
    pub ty: Type,
    /// Where it comes from.
    pub origin: Origin,
    /// How many operands it is.
    pub uses: usize,
}

/// An operator with its operands and outputs.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The operator.
    pub op: Op,
    /// Its operands.
    pub inputs: Vec<Option<ValueId>>,
    /// Its outputs.
    pub outputs: Vec<ValueId>,
}

/// The graph under construction.
#[derive(Clone, Default, Debug)]
pub struct GraphBuilder {
    /// The values.
    pub values: Vec<Entry>,
    /// The nodes, in order of insertion.
    pub nodes: Vec<Planned>,
}

/// How a placeholder appears in the finished graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placeholder {
    /// As a graph input.
    Variable,
    /// As a constant, whose elements are chosen later.
    Constant,
}

impl GraphBuilder {
    /// A new placeholder.
    pub fn placeholder(&mut self, ty: Type) -> ValueId {
        self.push(ty, Origin::Open)
    }

    /// A new placeholder whose values are restricted, so that nothing else may stand in its place.
    pub fn pinned(&mut self, ty: Type) -> ValueId {
        self.push(ty, Origin::Pinned)
    }

    fn push(&mut self, ty: Type, origin: Origin) -> ValueId {
        self.values.push(Entry { ty, origin, uses: 0 });
        self.values.len() - 1
    }

    /// Adds a node. Its outputs are new values, but the first is `produces` where that is given: a placeholder,
    /// which thereby stops being one.
    pub fn node(
        &mut self,
        op: Op,
        inputs: Vec<Option<ValueId>>,
        types: Vec<Type>,
        produces: Option<ValueId>,
    ) {
        let node = self.nodes.len();
        for &input in inputs.iter().flatten() {
            self.values[input].uses += 1;
        }
        let mut outputs = Vec::with_capacity(types.len());
        for (port, ty) in types.into_iter().enumerate() {
            let value = if let Some(value) = produces.filter(|_| port == 0) {
                self.values[value].origin = Origin::Node(node);
                value
            } else {
                self.values.push(Entry { ty, origin: Origin::Node(node), uses: 0 });
                self.values.len() - 1
            };
            outputs.push(value);
        }
        self.nodes.push(Planned { op, inputs, outputs });
    }

    /// For each value, whether it depends on `on` (itself included).
    pub fn dependents(&self, on: ValueId) -> Vec<bool> {
        let mut depends = vec![false; self.values.len()];
        depends[on] = true;
        for &node in &self.order() {
            let planned = &self.nodes[node];
            if planned.inputs.iter().flatten().any(|&v| depends[v]) {
                planned.outputs.iter().for_each(|&v| depends[v] = true);
            }
        }
        depends
    }

    /// The nodes in an order in which operands precede uses, close to the order of insertion.
    pub fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut placed = vec![false; self.nodes.len()];
        for node in 0..self.nodes.len() {
            self.place(node, &mut placed, &mut order);
        }
        order
    }

    fn place(&self, node: usize, placed: &mut [bool], order: &mut Vec<usize>) {
        if std::mem::replace(&mut placed[node], true) {
            return;
        }
        for &input in self.nodes[node].inputs.iter().flatten() {
            if let Origin::Node(producer) = self.values[input].origin {
                self.place(producer, placed, order);
            }
        }
        order.push(node);
    }

    /// What the finished graph takes, where it gives out the values that `keep` names besides those without uses.
    pub fn footprint(&self, opset: u32, keep: &dyn Fn(ValueId) -> bool) -> Footprint {
        Footprint::of_graph(&self.finish(|_| Placeholder::Variable, keep), opset)
    }

    /// The finished graph. Placeholders come first, as `form` says; constants hold zeros. Every value that no
    /// node uses becomes an output, and those that `keep` names besides.
    pub fn finish(
        &self,
        mut form: impl FnMut(ValueId) -> Placeholder,
        keep: impl Fn(ValueId) -> bool,
    ) -> Graph {
        let mut graph: Graph = Graph::new();
        let mut at: Vec<Option<Value>> = vec![None; self.values.len()];
        for (id, entry) in self.values.iter().enumerate() {
            let used = entry.uses > 0;
            if used && !matches!(entry.origin, Origin::Node(_)) {
                at[id] = Some(match form(id) {
                    Placeholder::Variable => graph.variable(format!("x{id}"), entry.ty.clone()),
                    Placeholder::Constant => graph.constant(ir::Tensor::zeros(&entry.ty)),
                });
            }
        }
        for node in self.order() {
            let planned = &self.nodes[node];
            let inputs = planned.inputs.iter().map(|v| v.and_then(|v| at[v])).collect();
            let types = planned.outputs.iter().map(|&v| self.values[v].ty.clone()).collect();
            let id = graph.push(NodeKind::Operator(planned.op.clone()), inputs, types);
            for (port, &value) in planned.outputs.iter().enumerate() {
                at[value] = Some(Value::new(id, port));
            }
        }
        for (id, entry) in self.values.iter().enumerate() {
            if let (Origin::Node(_), Some(value)) = (entry.origin, at[id])
                && (entry.uses == 0 || keep(id))
            {
                graph.output(format!("y{id}"), value);
            }
        }
        graph
    }
}
