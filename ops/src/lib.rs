//! The operators: what is true of each on every backend.
//!
//! ```
//! use ir::{Attributes, DType, Operation, Tensor, Type};
//! use onnxsmith_ops::{Op, Operator, Reads, plain};
//!
//! let softmax = Op::parse("Softmax", &Attributes::new().int("axis", 0)).ok_or("no such operator")??;
//! let x = Tensor::from_f64_fn(&Type::new(DType::F64, [4]), |_| 7.0);
//!
//! // What its type rule says, what it means, and what is a fact of it.
//! let outputs = softmax.infer(&[Some(&x.ty())])?;
//! let y = plain::evaluate(&softmax, &[Some(&x)], &outputs);
//! assert_eq!(y[0].to_f64s(), [0.25; 4]);
//! assert_eq!(softmax.facts(&[Some(&x.ty())]).reads, Reads::Elements);
//! assert_eq!(softmax.spec().about.does(), "eˣ over the sum of eˣ along an axis.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`operator`] | what an operator states about itself |
//! | [`rule`] | type rules and how they are read |
//! | [`about`] | what an operator is, in words: its documentation, as data |
//! | [`attributes`] | one declaration of attributes, from which a payload follows |
//! | [`arith`], [`data`] | the number systems in which a meaning is read, and tensors of such numbers |
//! | [`kind`] | reals and integers, for operators that mean the same of both |
//! | [`plain`] | the plainest number system: values, without bounds |
//! | [`schema`] | the operator schemas of ONNX itself, generated |
//! | [`spec`] | how this program spells an operator, by opset |
//! | [`draw`] | choosing one use of an operator |
//! | [`mod@footprint`] | what running a model takes: operations and memory |
//! | [`family`] | what the list is made of: an operator, or several that share a payload |
//! | [`list`] | the one list, from which [`Op`] is made |
//! | [`lanes`] | walking tensors along some of their axes |
//! | [`matrix`] | many sums of products at once |
//! | `prelude` | the words in which every operator is declared |
//! | the families | one file per operator, or one table per uniform family |
//!
//! This crate knows no backend, no clock and no I/O, and no backend's bug: an operator is what the ONNX
//! standard says.

pub mod about;
pub mod arith;
pub mod attributes;
pub mod data;
pub mod draw;
pub mod elementwise;
pub mod family;
pub mod footprint;
pub mod kind;
pub mod lanes;
pub mod linear;
pub mod list;
pub mod matrix;
pub mod movement;
pub mod nn;
pub mod operator;
pub mod plain;
mod prelude;
pub mod quantized;
pub mod reduction;
pub mod rule;
pub mod schema;
pub mod spec;
mod terse;
#[cfg(test)]
pub(crate) mod testing;
mod unnamed;

pub use arith::Arith;
pub use data::{Call, Data};
pub use footprint::Footprint;
pub use list::{Graph, Model, Op, find, registry};
pub use operator::{Batch, Cost, Edge, Effort, Facts, Hazard, Operator, Reads, TypeRule};
pub use rule::{Args, Check, Reject, Rule};
pub use spec::Spec;
