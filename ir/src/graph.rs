//! Graphs, functions and models.
//!
//! A [`Graph`] is a list of nodes in SSA order: a node's inputs are ports of nodes before it. Argument order,
//! repeated operands, absent optional operands and several outputs are part of a node. The four kinds of node
//! are variable, constant, operator and call (of a [`Function`] of the model). A graph is flat: no node holds a graph,
//! as ONNX's If and Loop do.

use std::sync::Arc;

use crate::attr::{Attributes, BadAttribute};
use crate::{Spelling, Tensor, Type};

/// The position of a node in its graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The position as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One output of one node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value {
    /// The node that produces it.
    pub node: NodeId,
    /// Which of its outputs.
    pub port: u32,
}

impl Value {
    /// A port of a node.
    pub fn new(node: NodeId, port: usize) -> Self {
        Self { node, port: port as u32 }
    }
}

/// The position of a function in its model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionId(pub u32);

/// What a node does.
#[derive(Clone, PartialEq, Debug)]
pub enum NodeKind<O> {
    /// An input of the graph. The graph's inputs are its variables in order of appearance.
    Variable {
        /// Its name, unique among the inputs.
        name: String,
    },
    /// A tensor known in advance (an ONNX initializer).
    Constant(Arc<Tensor>),
    /// An operator.
    Operator(O),
    /// A call of a function of the model.
    Call(FunctionId),
}

/// A node with its operands and the types of its outputs.
#[derive(Clone, PartialEq, Debug)]
pub struct Node<O> {
    /// What it does.
    pub kind: NodeKind<O>,
    /// Its operands; `None` is an optional input left out. Trailing absent operands are not stored.
    pub inputs: Vec<Option<Value>>,
    /// The values that its attributes, the extents of its outputs or its being there at all were read from, where a
    /// program was run to make this graph. What computes the node does not need them: they say for which inputs the
    /// graph holds.
    pub given: Vec<Value>,
    /// Whether it is a step within an operator that is written out: an implementation of the operator need not have its results,
    /// and may have more digits of them than their dtype holds.
    pub is_inner: bool,
    /// How a model in ONNX's form says it, of several ways that mean the same.
    pub spelling: Spelling,
    /// The types of its outputs.
    pub outputs: Vec<Type>,
}

impl<O> Node<O> {
    /// The values that it depends on: its operands, then what it was read from.
    pub fn uses(&self) -> impl Iterator<Item = Value> {
        self.inputs.iter().flatten().chain(&self.given).copied()
    }
}

/// A named output of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// Its name, unique among the outputs.
    pub name: String,
    /// The value it gives out.
    pub value: Value,
}

/// A graph: nodes in SSA order and the values it gives out.
#[derive(Clone, PartialEq, Debug)]
pub struct Graph<O> {
    /// The nodes.
    pub nodes: Vec<Node<O>>,
    /// The outputs.
    pub outputs: Vec<Output>,
}

/// A graph with a name that calls can refer to (an ONNX model-local function), typed for one use.
#[derive(Clone, PartialEq, Debug)]
pub struct Function<O> {
    /// Its name, unique in the model.
    pub name: String,
    /// Its body; the body's variables are the parameters.
    pub body: Graph<O>,
}

/// A graph with the functions it calls and the operator set it is written in.
#[derive(Clone, PartialEq, Debug)]
pub struct Model<O> {
    /// The version of ONNX's default operator set.
    pub opset: u32,
    /// The functions; each calls only functions before it.
    pub functions: Vec<Function<O>>,
    /// The main graph.
    pub graph: Graph<O>,
}

/// What a graph needs to know about its operators.
pub trait Operation: Clone + PartialEq + std::fmt::Debug + Sized {
    /// Why an operator refuses its operands.
    type Reject: std::error::Error + Clone + PartialEq + 'static;
    /// The operator's name, as in ONNX.
    fn name(&self) -> &'static str;
    /// The types of the outputs for operands of these types.
    fn infer(&self, inputs: &[Option<&Type>]) -> Result<Vec<Type>, Self::Reject>;
    /// The attributes, complete enough that [`Operation::parse`] gives the operator back.
    fn attributes(&self) -> Attributes;
    /// The operator with that name and those attributes; `None` if there is no operator of that name.
    fn parse(name: &str, attributes: &Attributes) -> Option<Result<Self, BadAttribute>>;
}

impl<O> Default for Graph<O> {
    fn default() -> Self {
        Self { nodes: Vec::new(), outputs: Vec::new() }
    }
}

impl<O> Graph<O> {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// The nodes with their positions.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node<O>)> {
        self.nodes.iter().enumerate().map(|(i, n)| (NodeId(i as u32), n))
    }

    /// The node at a position.
    ///
    /// # Panics
    /// If the position is not in this graph.
    pub fn node(&self, id: NodeId) -> &Node<O> {
        &self.nodes[id.index()]
    }

    /// The type of a value.
    ///
    /// # Panics
    /// If the value is not in this graph.
    pub fn ty(&self, value: Value) -> &Type {
        &self.node(value.node).outputs[value.port as usize]
    }

    /// The types of operands; `None` for one that is left out.
    ///
    /// # Panics
    /// If a value is not in this graph.
    pub fn types(&self, operands: &[Option<Value>]) -> Vec<Option<&Type>> {
        operands.iter().map(|v| v.map(|v| self.ty(v))).collect()
    }

    /// The graph's inputs in order: position, name and type.
    pub fn variables(&self) -> impl Iterator<Item = (NodeId, &str, &Type)> {
        self.iter().filter_map(|(id, node)| match &node.kind {
            NodeKind::Variable { name } => Some((id, name.as_str(), node.outputs.first()?)),
            _ => None,
        })
    }

    /// Appends a node that is already known to be well typed.
    pub fn push(&mut self, kind: NodeKind<O>, inputs: Vec<Option<Value>>, outputs: Vec<Type>) -> NodeId {
        let mut inputs = inputs;
        while inputs.last() == Some(&None) {
            inputs.pop();
        }
        self.nodes.push(Node {
            kind,
            inputs,
            given: Vec::new(),
            is_inner: false,
            spelling: Spelling::default(),
            outputs,
        });
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Appends a graph input.
    pub fn variable(&mut self, name: impl Into<String>, ty: Type) -> Value {
        Value::new(self.push(NodeKind::Variable { name: name.into() }, vec![], vec![ty]), 0)
    }

    /// Appends a constant.
    pub fn constant(&mut self, tensor: Tensor) -> Value {
        let ty = tensor.ty();
        Value::new(self.push(NodeKind::Constant(Arc::new(tensor)), vec![], vec![ty]), 0)
    }

    /// States what a node was read from, besides what is stated already.
    ///
    /// # Panics
    /// If the node is not in this graph.
    pub fn give(&mut self, id: NodeId, from: impl IntoIterator<Item = Value>) {
        let given = &mut self.nodes[id.index()].given;
        for value in from {
            if !given.contains(&value) {
                given.push(value);
            }
        }
    }

    /// Names a value as an output of the graph.
    pub fn output(&mut self, name: impl Into<String>, value: Value) {
        self.outputs.push(Output { name: name.into(), value });
    }
}

impl<O: Operation> Graph<O> {
    /// Appends an operator, with the output types its type rule gives.
    pub fn operator(&mut self, op: O, inputs: &[Option<Value>]) -> Result<NodeId, O::Reject> {
        let types = self.types(inputs);
        let outputs = op.infer(&types)?;
        Ok(self.push(NodeKind::Operator(op), inputs.to_vec(), outputs))
    }
}

/// The operator set versions that models may be written in.
pub const OPSETS: std::ops::RangeInclusive<u32> = 13..=28;

impl<O: Operation> Model<O> {
    /// A model without functions.
    pub fn new(opset: u32, graph: Graph<O>) -> Self {
        Self { opset, functions: Vec::new(), graph }
    }
}
