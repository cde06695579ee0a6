//! What makes a model valid: every structural rule and every type, checked in one pass.
//!
//! An error names the node at fault by its position, as the text form writes it, and by what it is: its operator, or its name
//! where it is a variable. Whoever has a file with names of its own finds them by [`Invalid::node`].

use std::collections::BTreeSet;

use crate::dim::LIMIT;
use crate::graph::OPSETS;
use crate::{Function, Graph, Model, Node, NodeId, NodeKind, Operation, Type};

/// Why a model is not valid. Each names the node (or function, or output) at fault.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Invalid<R: std::error::Error + 'static> {
    #[error("in function `{function}`: {}", .cause.to_string())]
    Function { function: String, cause: Box<Invalid<R>> },
    #[error("node %{} ({what}): {fault}", node.0)]
    Node { node: NodeId, what: String, fault: Fault<R> },
    #[error("output `{name}` refers to a value that does not exist")]
    Output { name: String },
    #[error("the name `{0}` is used twice")]
    DuplicateName(String),
    #[error("opset {opset} is not supported: use {} to {}", OPSETS.start(), OPSETS.end(), opset = .0)]
    Opset(u32),
}

/// What is wrong with a node.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Fault<R: std::error::Error + 'static> {
    #[error("it uses %{used}, which is not before it: the graph has a cycle or a dangling edge")]
    Order { used: u32 },
    #[error("it uses output {port} of %{used}, which has only {outputs}")]
    Port { used: u32, port: u32, outputs: usize },
    #[error("it takes operands, which only operators and calls may")]
    Operands,
    #[error("it stores an absent operand after its last one; leave it out")]
    Trailing,
    #[error("it has {outputs} outputs instead of one")]
    Single { outputs: usize },
    #[error("{0}")]
    Rejected(R),
    #[error("output {port} is declared {declared} but is {inferred}")]
    Declared { port: usize, declared: Type, inferred: Type },
    #[error("it declares {declared} outputs but has {inferred}")]
    OutputCount { declared: usize, inferred: usize },
    #[error("it has a dimension {dim} outside 0..={LIMIT}")]
    Dim { dim: i64 },
    #[error("it is {ty}: its axes that are not empty span more than {LIMIT} elements")]
    Size { ty: Type },
    #[error("its tensor is {found} but is declared {declared}")]
    Constant { found: Type, declared: Type },
    #[error("it calls function {function}, which is not defined before its use")]
    UnknownFunction { function: u32 },
    #[error("it has {given} operands instead of {wanted}")]
    Arity { given: usize, wanted: usize },
    #[error("operand {port} is {given} instead of {wanted}")]
    Argument { port: usize, given: String, wanted: Type },
}

impl<R: std::error::Error> Invalid<R> {
    /// The node of the main graph that is at fault, with what is wrong with it.
    pub const fn node(&self) -> Option<(NodeId, &Fault<R>)> {
        match self {
            Self::Node { node, fault, .. } => Some((*node, fault)),
            Self::Function { .. } | Self::Output { .. } | Self::DuplicateName(_) | Self::Opset(_) => None,
        }
    }
}

impl<O: Operation> Model<O> {
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
        let checked = check_edges(graph, id, node)
            .and_then(|()| check_dims(node))
            .and_then(|()| check_types(graph, functions, node));
        checked.map_err(|fault| Invalid::Node { node: id, what: what(functions, &node.kind), fault })?;
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

/// What a node is, for people.
fn what<O: Operation>(functions: &[Function<O>], kind: &NodeKind<O>) -> String {
    match kind {
        NodeKind::Variable { name } => format!("variable `{name}`"),
        NodeKind::Constant(_) => "constant".to_owned(),
        NodeKind::Operator(op) => op.name().to_owned(),
        NodeKind::Call(function) => match functions.get(function.0 as usize) {
            Some(callee) => format!("call of `{}`", callee.name),
            None => "call".to_owned(),
        },
    }
}

fn check_edges<O: Operation>(graph: &Graph<O>, id: NodeId, node: &Node<O>) -> Result<(), Fault<O::Reject>> {
    if node.inputs.last() == Some(&None) {
        return Err(Fault::Trailing);
    }
    for used in node.uses() {
        if used.node >= id {
            return Err(Fault::Order { used: used.node.0 });
        }
        let outputs = graph.node(used.node).outputs.len();
        if outputs <= used.port as usize {
            return Err(Fault::Port { used: used.node.0, port: used.port, outputs });
        }
    }
    Ok(())
}

fn check_dims<O: Operation>(node: &Node<O>) -> Result<(), Fault<O::Reject>> {
    let mut dims = node.outputs.iter().flat_map(|ty| &ty.shape);
    if let Some(&dim) = dims.find(|&&d| !(0..=LIMIT).contains(&d)) {
        return Err(Fault::Dim { dim });
    }
    match node.outputs.iter().find(|ty| !ty.is_countable()) {
        Some(ty) => Err(Fault::Size { ty: ty.clone() }),
        None => Ok(()),
    }
}

fn check_types<O: Operation>(
    graph: &Graph<O>,
    functions: &[Function<O>],
    node: &Node<O>,
) -> Result<(), Fault<O::Reject>> {
    let types = graph.types(&node.inputs);
    match &node.kind {
        NodeKind::Variable { .. } => single(node),
        NodeKind::Constant(tensor) => {
            single(node)?;
            match tensor.ty() {
                found if found == node.outputs[0] => Ok(()),
                found => Err(Fault::Constant { found, declared: node.outputs[0].clone() }),
            }
        }
        NodeKind::Operator(op) => {
            let inferred = op.infer(&types).map_err(Fault::Rejected)?;
            same_types(&node.outputs, inferred.iter())
        }
        NodeKind::Call(function) => {
            let Some(callee) = functions.get(function.0 as usize) else {
                return Err(Fault::UnknownFunction { function: function.0 });
            };
            check_call(callee, &types)?;
            same_types(&node.outputs, callee.body.outputs.iter().map(|o| callee.body.ty(o.value)))
        }
    }
}

fn single<O: Operation>(node: &Node<O>) -> Result<(), Fault<O::Reject>> {
    if !node.inputs.is_empty() {
        return Err(Fault::Operands);
    }
    match node.outputs.len() {
        1 => Ok(()),
        outputs => Err(Fault::Single { outputs }),
    }
}

fn same_types<'a, R: std::error::Error>(
    declared: &[Type],
    inferred: impl ExactSizeIterator<Item = &'a Type>,
) -> Result<(), Fault<R>> {
    if declared.len() != inferred.len() {
        return Err(Fault::OutputCount { declared: declared.len(), inferred: inferred.len() });
    }
    for (port, (declared, inferred)) in declared.iter().zip(inferred).enumerate() {
        if declared != inferred {
            return Err(Fault::Declared { port, declared: declared.clone(), inferred: inferred.clone() });
        }
    }
    Ok(())
}

fn check_call<O: Operation>(callee: &Function<O>, types: &[Option<&Type>]) -> Result<(), Fault<O::Reject>> {
    let parameters: Vec<&Type> = callee.body.variables().map(|(_, _, ty)| ty).collect();
    if parameters.len() != types.len() {
        return Err(Fault::Arity { given: types.len(), wanted: parameters.len() });
    }
    for (port, (given, wanted)) in types.iter().zip(parameters).enumerate() {
        if *given != Some(wanted) {
            let given = given.map_or_else(|| "absent".to_owned(), ToString::to_string);
            return Err(Fault::Argument { port, given, wanted: wanted.clone() });
        }
    }
    Ok(())
}
