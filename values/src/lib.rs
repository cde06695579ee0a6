//! Value search: tensors for a graph's inputs and constants on which every operator is defined.
//!
//! Random values make most graphs of some depth overflow or leave a domain somewhere, and a NaN tests nothing that
//! comes after it. So values are drawn where the operators that read them are defined; the graph is run; and while
//! some operator is not, the tensors it depends on are repaired: drawn anew in a tamer way first, which is cheap,
//! then moved along the gradient of the distance to the operator's domain (GRIST and NNSmith search along
//! gradients too). Where no values help, an operand becomes [a new input](find_or_replace). Everything is counted, nothing
//! is timed, so a search is the same on every machine.
//!
//! ```
//! use ir::{DType, Stream, Type};
//! use onnxsmith_values::{Budget, find_values};
//!
//! // The logarithm of x - 5.
//! let model: ops::Model = "onnxsmith 1 opset 17\ngraph {\n  %0: f32[2] = variable \"x\"\n  \
//!     %1: f32[] = constant {5.0}\n  %2: f32[2] = Sub(%0, %1)\n  %3: f32[2] = Log(%2)\n  return \"y\" = %3\n}\n".parse()?;
//! let found = find_values(&model, &[], Stream::new(1), Budget::default())?;
//! assert!(found.all_defined);
//! assert!(found.inputs(&model)[0].to_f64s().iter().all(|&x| x > 5.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`found`] | what is searched, how much may be done for it, and what comes of it |
//! | [`search`] | the search |
//! | [`replace`] | models that no values make defined: an operand becomes an input |
//! | [`adversarial`] | values moved to boundaries of some operators' domains |
//! | [`boundary`] | which values those are |
//! | `decided` | how much a profile leaves open |
//! | `draw`, `places` | a first draw, within the domains of what reads it |
//! | `undefined`, `watch` | is everything defined? |
//! | `repair`, `invert` | making it so: along gradients, or by pulling wanted numbers back to the inputs |
//! | [`trace`] | the number system of numbers that know where they come from |
//! | [`origin`] | which input carries a number, and what undoes steps |
//! | [`tape`] | gradients |
//!
//! No operator is known here by name: domains and boundaries are those that operators state of themselves.

pub mod adversarial;
pub mod boundary;
mod decided;
mod draw;
pub mod found;
mod invert;
pub mod origin;
mod places;
mod repair;
pub mod replace;
pub mod search;
pub mod tape;
pub mod trace;
mod undefined;
mod watch;

pub use adversarial::{AtEdge, move_to_edges};
pub use found::{Budget, FoundValues, Tensors};
pub use replace::{Searched, find_or_replace};
pub use search::{find_values, first_undefined};
