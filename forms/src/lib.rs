//! A trace, written as a program: what the world writes, and the generator does not draw.
//!
//! The generator draws flat graphs in which every size is a number. Real models have sizes that are names, parameters that are
//! computed, branches and loops. So a graph that was drawn, with its inputs, is written as a program by exact rewritings, of
//! which each brings one form in ([`FORMS`]). The law, tested for each: the program leads back to the graph at these inputs
//! ([`onnx::import::specialise`]), or to one that computes the same values. So every expected output stays as it is, and each
//! rewriting is a metamorphic relation.
//!
//! ```
//! use graphgen::Forms;
//! use ir::{Stream, Tensor};
//! use onnxsmith_forms::write;
//!
//! let text = "onnxsmith 1 opset 17 graph { %0: f32[2, 3] = variable \"x\" %1: f32[3, 2] = Reshape(%0) {shape = [3, 2]} \
//!             return \"y\" = %1 }";
//! let model: ops::Model = text.parse()?;
//! let inputs = vec![("x".to_owned(), "f32[2, 3] {1, 2, 3, 4, 5, 6}".parse::<Tensor>()?)];
//! let forms = Forms { share: 1.0, each: [("computed parameter", 1.0)].into() };
//! let written = write(&model, &inputs, &[], &forms, Stream::new(1)).ok_or("no form")?;
//! assert_eq!(written.forms, ["computed parameter"]);
//! assert!(written.program.main.body.nodes.iter().any(|node| node.rest.op_type() == "Concat"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`form`] | the forms, as a table, and which of them a model gets |
//! | [`composite`] | operators that are written out where they are read, drawn and folded again |
//! | [`draft`] | a program on its way, with the types of its values |
//! | `chain` | nodes that compute numbers from shapes |
//! | `computed` | parameters that are computed so |
//! | `coincidence` | what is equal is one thing or several, and what is constant is computed |
//! | `segment` | nodes that are cut out to be put into a body |
//! | `branch`, `repeat`, `scan` | If, Loop and Scan around some nodes |
//! | `slices` | a node in a Loop or Scan over the slices of its operands |
//! | `idle` | a Loop or Scan that does not run |
//! | `function` | functions of the model's own, and calls of these |
//! | `spelled` | parameters in other words: −1, 0, `INT64_MAX` |
//! | `constants` | constants as Constant nodes, inputs, and defaults of inputs, which values may override |
//! | `sizes` | sizes that are names, or not said |
//! | `said` | types that are said of some values, or of none |
//! | [`former`] | an opset before 13, and models that can be written in it |
//! | `stored` | elements of tensors in the fields of their types, and names as exporters give them |

mod branch;
mod chain;
mod coincidence;
pub mod composite;
mod computed;
mod constants;
pub mod draft;
pub mod form;
pub mod former;
mod function;
mod idle;
mod repeat;
mod said;
mod scan;
mod segment;
mod sizes;
mod slices;
mod spelled;
mod stored;

pub use composite::{Composite, Placed};
pub use draft::Draft;
pub use form::{FORMS, FUNCTION, Form, OVERRIDDEN_DEFAULT, WITH_BODIES, WrittenProgram, usual, write};
