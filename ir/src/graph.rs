//! Graphs, functions and models.
//!
//! A [`Graph`] is a list of nodes in SSA order: a node's inputs are ports of nodes before it. Argument order,
//! repeated operands, absent optional operands and several outputs are part of a node. The five kinds of node
//! are those of HirFuzz in ONNX terms: variable, constant, operator, function (a [`Function`] of the model) and
//! call. A graph is flat: no node holds a graph, as ONNX's If and Loop do.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::attr::{Attributes, BadAttribute};
use crate::dim::LIMIT;
use crate::{Tensor, Type};

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
        self.nodes.push(Node { kind, inputs, given: Vec::new(), outputs });
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

/// Why a model is not valid. Each names the node (or function, or output) at fault.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Invalid<R: std::error::Error + 'static> {
    #[error("in function `{function}`: {}", .cause.to_string())]
    Function { function: String, cause: Box<Invalid<R>> },
    #[error("node %{node} uses %{used}, which is not before it: the graph has a cycle or a dangling edge")]
    Order { node: u32, used: u32 },
    #[error("node %{node} uses output {port} of %{used}, which has only {outputs}")]
    Port { node: u32, used: u32, port: u32, outputs: usize },
    #[error("node %{node} takes operands, which only operators and calls may")]
    Operands { node: u32 },
    #[error("node %{node} stores an absent operand after its last one; leave it out")]
    Trailing { node: u32 },
    #[error("node %{node} ({kind}) has {outputs} outputs instead of one")]
    Single { node: u32, kind: &'static str, outputs: usize },
    #[error("node %{node} ({op}) is ill typed: {cause}")]
    Operator { node: u32, op: &'static str, cause: R },
    #[error("output {port} of node %{node} ({op}) is declared {declared} but is {inferred}")]
    Declared { node: u32, op: String, port: usize, declared: Type, inferred: Type },
    #[error("node %{node} ({op}) declares {declared} outputs but has {inferred}")]
    OutputCount { node: u32, op: String, declared: usize, inferred: usize },
    #[error("node %{node} has a dimension {dim} outside 0..={LIMIT}")]
    Dim { node: u32, dim: i64 },
    #[error("node %{node} is {ty}: its axes that are not empty span more than {LIMIT} elements")]
    Size { node: u32, ty: Type },
    #[error("the constant at node %{node} is {found} but is declared {declared}")]
    Constant { node: u32, found: Type, declared: Type },
    #[error("node %{node} calls function {function}, which is not defined before its use")]
    UnknownFunction { node: u32, function: u32 },
    #[error("node %{node} calls `{function}` with {given} operands instead of {wanted}")]
    Arity { node: u32, function: String, given: usize, wanted: usize },
    #[error("operand {port} of node %{node} calling `{function}` is {given} instead of {wanted}")]
    Argument { node: u32, function: String, port: usize, given: String, wanted: Type },
    #[error("output `{name}` refers to a value that does not exist")]
    Output { name: String },
    #[error("the name `{0}` is used twice")]
    DuplicateName(String),
    #[error("opset {0} is not supported: use 13 to 26")]
    Opset(u32),
}

/// The operator set versions that models may be written in.
pub const OPSETS: std::ops::RangeInclusive<u32> = 13..=26;

impl<O: Operation> Model<O> {
    /// A model without functions.
    pub fn new(opset: u32, graph: Graph<O>) -> Self {
        Self { opset, functions: Vec::new(), graph }
    }

    /// Checks every structural rule and every type.
    ///
    /// A model that passes satisfies: operands precede uses, and no list of them ends with an absent one; every
    /// declared output type equals what the type rule infers; constants have their declared types; calls go to
    /// earlier functions with matching arguments; names of inputs, of outputs and of functions are unique;
    /// dimensions lie in `0..=LIMIT`, and so does the product of a tensor's dimensions that are not 0.
    pub fn validate(&self) -> Result<(), Invalid<O::Reject>> {
        if !OPSETS.contains(&self.opset) {
            return Err(Invalid::Opset(self.opset));
        }
        unique(self.functions.iter().map(|f| f.name.as_str()))?;
        for (i, function) in self.functions.iter().enumerate() {
            validate(&function.body, &self.functions[..i]).map_err(|cause| Invalid::Function {
                function: function.name.clone(),
                cause: Box::new(cause),
            })?;
        }
        validate(&self.graph, &self.functions)
    }
}

fn unique<'a, R: std::error::Error>(names: impl Iterator<Item = &'a str>) -> Result<(), Invalid<R>> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Invalid::DuplicateName(name.to_owned()));
        }
    }
    Ok(())
}

fn validate<O: Operation>(graph: &Graph<O>, functions: &[Function<O>]) -> Result<(), Invalid<O::Reject>> {
    for (id, node) in graph.iter() {
        check_edges(graph, id, node)?;
        check_dims(id, node)?;
        check_types(graph, functions, id, node)?;
    }
    for output in &graph.outputs {
        let node = graph.nodes.get(output.value.node.index());
        if node.is_none_or(|n| n.outputs.len() <= output.value.port as usize) {
            return Err(Invalid::Output { name: output.name.clone() });
        }
    }
    unique(graph.variables().map(|(_, name, _)| name))?;
    unique(graph.outputs.iter().map(|o| o.name.as_str()))
}

fn check_edges<O: Operation>(graph: &Graph<O>, id: NodeId, node: &Node<O>) -> Result<(), Invalid<O::Reject>> {
    if node.inputs.last() == Some(&None) {
        return Err(Invalid::Trailing { node: id.0 });
    }
    for used in node.uses() {
        if used.node >= id {
            return Err(Invalid::Order { node: id.0, used: used.node.0 });
        }
        let outputs = graph.node(used.node).outputs.len();
        if outputs <= used.port as usize {
            return Err(Invalid::Port { node: id.0, used: used.node.0, port: used.port, outputs });
        }
    }
    Ok(())
}

fn check_dims<O: Operation>(id: NodeId, node: &Node<O>) -> Result<(), Invalid<O::Reject>> {
    let mut dims = node.outputs.iter().flat_map(|ty| &ty.shape);
    if let Some(&dim) = dims.find(|&&d| !(0..=LIMIT).contains(&d)) {
        return Err(Invalid::Dim { node: id.0, dim });
    }
    // An empty tensor may not hide that a part of its shape is beyond counting: arrays need the strides.
    match node.outputs.iter().find(|ty| ty.span() > LIMIT) {
        Some(ty) => Err(Invalid::Size { node: id.0, ty: ty.clone() }),
        None => Ok(()),
    }
}

fn check_types<O: Operation>(
    graph: &Graph<O>,
    functions: &[Function<O>],
    id: NodeId,
    node: &Node<O>,
) -> Result<(), Invalid<O::Reject>> {
    let types = graph.types(&node.inputs);
    match &node.kind {
        NodeKind::Variable { .. } => single(id, node, "variable"),
        NodeKind::Constant(tensor) => {
            single(id, node, "constant")?;
            match tensor.ty() {
                found if found == node.outputs[0] => Ok(()),
                found => Err(Invalid::Constant { node: id.0, found, declared: node.outputs[0].clone() }),
            }
        }
        NodeKind::Operator(op) => {
            let inferred =
                op.infer(&types).map_err(|cause| Invalid::Operator { node: id.0, op: op.name(), cause })?;
            same_types(id, op.name(), &node.outputs, inferred.iter())
        }
        NodeKind::Call(function) => {
            let Some(callee) = functions.get(function.0 as usize) else {
                return Err(Invalid::UnknownFunction { node: id.0, function: function.0 });
            };
            check_call(id, callee, &types)?;
            same_types(
                id,
                &callee.name,
                &node.outputs,
                callee.body.outputs.iter().map(|o| callee.body.ty(o.value)),
            )
        }
    }
}

fn single<O: Operation>(id: NodeId, node: &Node<O>, kind: &'static str) -> Result<(), Invalid<O::Reject>> {
    if !node.inputs.is_empty() {
        return Err(Invalid::Operands { node: id.0 });
    }
    match node.outputs.len() {
        1 => Ok(()),
        outputs => Err(Invalid::Single { node: id.0, kind, outputs }),
    }
}

fn same_types<'a, R: std::error::Error>(
    id: NodeId,
    op: &str,
    declared: &[Type],
    inferred: impl ExactSizeIterator<Item = &'a Type>,
) -> Result<(), Invalid<R>> {
    if declared.len() != inferred.len() {
        let (declared, inferred) = (declared.len(), inferred.len());
        return Err(Invalid::OutputCount { node: id.0, op: op.to_owned(), declared, inferred });
    }
    for (port, (declared, inferred)) in declared.iter().zip(inferred).enumerate() {
        if declared != inferred {
            let (declared, inferred) = (declared.clone(), inferred.clone());
            return Err(Invalid::Declared { node: id.0, op: op.to_owned(), port, declared, inferred });
        }
    }
    Ok(())
}

fn check_call<O: Operation>(
    id: NodeId,
    callee: &Function<O>,
    types: &[Option<&Type>],
) -> Result<(), Invalid<O::Reject>> {
    let parameters: Vec<&Type> = callee.body.variables().map(|(_, _, ty)| ty).collect();
    if parameters.len() != types.len() {
        let (given, wanted) = (types.len(), parameters.len());
        return Err(Invalid::Arity { node: id.0, function: callee.name.clone(), given, wanted });
    }
    for (port, (given, wanted)) in types.iter().zip(parameters).enumerate() {
        if *given != Some(wanted) {
            let given = given.map_or_else(|| "absent".to_owned(), ToString::to_string);
            let wanted = wanted.clone();
            return Err(Invalid::Argument { node: id.0, function: callee.name.clone(), port, given, wanted });
        }
    }
    Ok(())
}
