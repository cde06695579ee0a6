//! A model as it is written: the ONNX message with its names resolved, and nothing else.
//!
//! | module | holds |
//! |---|---|
//! | [`edit`] | programs that may do the same with less |
//! | `plain` | programs that do the same in plainer words |
//! | `slices` | a Scan, written out |
//! | `today` | a program of an older opset as it is written in 13 |
//! | `stored` | programs with other names, and with the elements of tensors in other fields |
//! | `calls` | a call of a function, written out |
//! | `unread` | bodies without what nothing reads of them |
//! | `sparse` | initializers in sparse form |
//! | `read` | `ModelProto` → [`Program`] |
//! | `write` | [`Program`] → `ModelProto` |
//!
//! A program has no types and no operators of ours: sizes are names, shapes are computed, and a branch or a loop holds a
//! body. What a model computes for the inputs at hand, where all of that is settled, is an [`ops::Model`]; see
//! [`mod@crate::import`]. So an edit that must keep the loop edits the program.
//!
//! Values are numbers ([`ValueId`]), unique in a graph or function with all bodies inside it. A body that uses a value of
//! a graph around it (ONNX calls that a capture) simply has its number, so nobody looks up names in scopes twice. What
//! has no meaning here is kept as it was: bytes → program → bytes loses no field.
//!
//! ```
//! use onnxsmith_onnx::program::Program;
//! use onnxsmith_onnx::proto::{GraphProto, ModelProto, NodeProto, ValueInfoProto};
//!
//! let named = |name: &str| ValueInfoProto { name: Some(name.to_owned()), ..Default::default() };
//! let graph = GraphProto {
//!     input: vec![named("x")],
//!     node: vec![NodeProto {
//!         op_type: Some("Abs".to_owned()),
//!         input: vec!["x".to_owned()],
//!         output: vec!["y".to_owned()],
//!         ..Default::default()
//!     }],
//!     output: vec![named("y")],
//!     ..Default::default()
//! };
//! let model = ModelProto { ir_version: Some(10), graph: Some(graph), ..Default::default() };
//!
//! let program = Program::read(model.clone())?;
//! let body = &program.main.body;
//! assert_eq!(body.nodes[0].inputs, [Some(body.inputs[0].value)]);
//! assert_eq!(program.main.name(body.outputs[0].value), "y");
//! assert_eq!(program.write(), model);
//! # Ok::<(), onnxsmith_onnx::Error>(())
//! ```

mod calls;
pub mod edit;
mod plain;
mod read;
mod slices;
pub(crate) mod sparse;
mod stored;
mod taken;
mod today;
mod unread;
mod write;

use std::collections::BTreeMap;

use crate::Error;
use crate::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto,
    ValueInfoProto,
};
use crate::tensor::each::all_in_bytes;
use crate::text::{self, Text};
pub use sparse::Indices;
use taken::Taken;

/// A model with its names resolved.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The main graph.
    pub main: Scope,
    /// The functions, in the order of the model.
    pub functions: Vec<Function>,
    /// All else that the model says: opsets, the producer, metadata.
    pub rest: ModelProto,
}

/// A function: a body without types that calls refer to by domain, name and overload.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its body.
    pub scope: Scope,
    /// All else that it says: its name, its attributes, its opsets.
    pub rest: FunctionProto,
}

/// A graph or function with all bodies inside it, which see each other's values.
#[derive(Clone, PartialEq, Debug)]
pub struct Scope {
    /// The name of each value.
    names: Vec<String>,
    /// The initializers that are sparse in the model, as they are there.
    sparse: BTreeMap<ValueId, SparseTensorProto>,
    taken: Taken,
    /// The outermost body.
    pub body: Body,
}

/// A value of a [`Scope`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(u32);

impl ValueId {
    /// The number as an index: values of a scope count from 0 on.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Nodes in order, with the values that come in and go out.
#[derive(Clone, PartialEq, Debug)]
pub struct Body {
    /// The inputs of a graph, the parameters of a function.
    pub inputs: Vec<Port>,
    /// The values that are known before anything is run. One that is an input as well is the input's default.
    pub initializers: Vec<Initializer>,
    /// The nodes: operands precede uses.
    pub nodes: Vec<Node>,
    /// What the body gives.
    pub outputs: Vec<Port>,
    /// What is said about the types of further values.
    pub declared: Vec<Declaration>,
    /// All else that a graph says. Of a function this is empty.
    pub rest: GraphProto,
}

/// An input or output of a body.
#[derive(Clone, PartialEq, Debug)]
pub struct Port {
    /// The value.
    pub value: ValueId,
    /// What is said about its type, without its name. A function says nothing.
    pub declared: ValueInfoProto,
}

/// A value that is known before anything is run.
#[derive(Clone, PartialEq, Debug)]
pub struct Initializer {
    /// The value.
    pub value: ValueId,
    /// The tensor, without its name.
    pub tensor: TensorProto,
}

/// What is said about the type of a value.
#[derive(Clone, PartialEq, Debug)]
pub struct Declaration {
    /// The value; `None` where no value of the body has that name.
    pub value: Option<ValueId>,
    /// What is said; with its name where there is no value.
    pub declared: ValueInfoProto,
}

/// A node: an operator of some domain, or a call of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Its operands; `None` is one that is left out.
    pub inputs: Vec<Option<ValueId>>,
    /// Its outputs; `None` is one that is left out.
    pub outputs: Vec<Option<ValueId>>,
    /// Its attributes, as written.
    pub attributes: Vec<Attribute>,
    /// All else that it says: its name, `op_type`, domain and overload.
    pub rest: NodeProto,
}

/// An attribute, as written.
#[derive(Clone, PartialEq, Debug)]
pub struct Attribute {
    /// The attribute without its bodies.
    pub rest: AttributeProto,
    /// The body that it holds (`g`).
    pub body: Option<Body>,
    /// The list of bodies that it holds (`graphs`), which no operator of ONNX has.
    pub bodies: Vec<Body>,
}

impl Program {
    /// The program as text, in ONNX's own syntax.
    pub fn to_text(&self) -> Text {
        text::print(&self.write())
    }

    /// The program of a text, with the elements of its tensors as bytes.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        Self::read(all_in_bytes(text::parse(text).map_err(|e| e.inside("text"))?))
    }
}

impl Scope {
    /// The name of a value.
    ///
    /// # Panics
    /// If the value is of another scope.
    pub fn name(&self, value: ValueId) -> &str {
        &self.names[value.index()]
    }

    /// The name of a node's first result; `None` where it gives none.
    pub fn result(&self, node: &Node) -> Option<&str> {
        node.outputs.iter().flatten().next().map(|&value| self.name(value))
    }

    /// The values.
    pub fn each_value(&self) -> impl Iterator<Item = ValueId> + use<> {
        (0..self.names.len() as u32).map(ValueId)
    }

    /// How many values there are.
    pub fn values(&self) -> usize {
        self.names.len()
    }
}

impl Node {
    /// What a message calls it: its operator, and its name if it has one.
    pub fn called(&self) -> String {
        match self.rest.name() {
            "" => self.operator(),
            name => format!("{} `{name}`", self.operator()),
        }
    }

    /// The operator's name, with its domain where that is not ONNX's default one.
    pub fn operator(&self) -> String {
        match self.rest.domain() {
            "" | "ai.onnx" => self.rest.op_type().to_owned(),
            domain => format!("{domain}.{}", self.rest.op_type()),
        }
    }

    /// What tells this node from others, for messages: its name or position, and its operator.
    pub fn label(&self, position: usize) -> String {
        match self.rest.name() {
            "" => format!("node #{position} ({})", self.rest.op_type()),
            name => format!("node `{name}` ({})", self.rest.op_type()),
        }
    }

    /// The bodies of its attributes.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.attributes.iter().flat_map(|a| a.body.iter().chain(&a.bodies))
    }
}

impl Body {
    /// Tells `visit` of every node, those of bodies inside behind the node that holds them.
    pub fn each_node<'p>(&'p self, visit: &mut dyn FnMut(&'p Node)) {
        for node in &self.nodes {
            visit(node);
            node.bodies().for_each(|body| body.each_node(visit));
        }
    }
}

#[cfg(test)]
mod tests;
