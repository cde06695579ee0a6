//! The intermediate representation of onnxsmith: what a DNN graph *is*, apart from what its operators mean.
//!
//! ```
//! use onnxsmith_ir::{DType, Graph, NodeKind, Tensor, Type, Value};
//!
//! // Numbers round once, to the dtype of the tensor.
//! let x = Tensor::from_f64_fn(&Type::new(DType::F16, [2]), |i| 0.1 * i as f64);
//! assert_eq!(x.to_f64s(), [0.0, 0.0999755859375]);
//!
//! // Operators may be anything here: their names, say.
//! let mut graph = Graph::new();
//! let input = graph.variable("x", x.ty());
//! let node = graph.push(NodeKind::Operator("Neg"), vec![Some(input)], vec![x.ty()]);
//! graph.output("y", Value::new(node, 0));
//! assert_eq!(graph.types(&graph.node(node).inputs), [Some(&x.ty())]);
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`dtype`] | element types and sets of them |
//! | [`mod@format`] | the numbers that each float type has, as data |
//! | [`narrow`] | elements that Rust has no type for |
//! | [`attr`] | named attribute values |
//! | [`dim`] | the arithmetic of dimensions, concrete (`i64`) and symbolic ([`dim::Sym`]) |
//! | [`ty`] | tensor types |
//! | [`tensor`] | concrete tensors |
//! | [`datum`] | sequences and optionals of tensors, and what they are in tensors |
//! | [`interface`] | how the tensors of a model make up what its program gets and gives |
//! | [`mod@inline`] | replacing calls by the functions' bodies |
//! | [`mod@outline`] | moving nodes into a function |
//! | [`round`] | one correctly rounded conversion from `f64` to each float type, saturating or not |
//! | [`graph`] | graphs, functions, models |
//! | [`validate`] | what makes a model valid: [`Model::validate`] holds every structural rule |
//! | [`cone`] | the part of a graph that a value depends on |
//! | [`ports`] | something for every value of a graph |
//! | [`rewrite`] | building a graph anew from another one: the one way to edit it |
//! | [`execute`] | running a model: order, lifetimes, calls |
//! | [`dataflow`] | forward and backward analyses over a lattice of facts |
//! | [`text`] | the readable form, which round-trips exactly |
//! | [`view`] | graphs as petgraph sees them, and DOT |
//! | [`spelling`] | ways to write a node in ONNX's form that mean the same |
//! | [`stream`] | the tree of named random streams |
//! | [`choices`] | the source of random choices |
//!
//! This crate knows no operator, no backend, no clock and no file system.

pub mod attr;
pub mod choices;
pub mod cone;
pub mod dataflow;
pub mod datum;
pub mod dim;
pub mod dtype;
pub mod execute;
pub mod format;
pub mod graph;
pub mod inline;
pub mod interface;
pub mod narrow;
pub mod outline;
pub mod ports;
pub mod rewrite;
pub mod round;
pub mod spelling;
pub mod stream;
pub mod tensor;
pub mod text;
pub mod ty;
pub mod validate;
pub mod view;

pub use attr::{Attribute, Attributes, BadAttribute};
pub use choices::Choices;
pub use datum::{Datum, DatumKind, Held, Strings};
pub use dim::{Dim, Sym};
pub use dtype::{DType, DTypes};
pub use graph::{Function, FunctionId, Graph, Model, Node, NodeId, NodeKind, Operation, Output, Value};
pub use interface::{Interface, Wanted};
pub use spelling::{Spelling, Unnamed};
pub use stream::Stream;
pub use tensor::Tensor;
pub use ty::Type;
