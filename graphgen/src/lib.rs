//! Random but well-typed DNN graphs.
//!
//! ```
//! use ir::Stream;
//! use onnxsmith_graphgen::{Settings, Weights, generate};
//!
//! let settings = Settings { nodes: 5, operators: ["Conv", "Relu", "Add"].into(), ..Settings::default() };
//! let generated = generate(&settings, &Weights, Stream::new(7));
//! generated.model.validate()?;
//! // The same seed, the same model.
//! assert_eq!(generated.model, generate(&settings, &Weights, Stream::new(7)).model);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`support`] | forms of operators that an engine has not, as data |
//! | [`settings`] | what may occur in a graph, and how settings are varied |
//! | `stored` | how a campaign stores settings |
//! | [`budget`] | how much a graph may take, and how much it should |
//! | [`amount`] | numbers as people write them |
//! | [`policy`] | which operator comes next: weights and patterns; what a user asks for |
//! | [`mod@generate`] | from a seed to a model |
//! | [`builder`] | the graph under construction, in which nodes have no order yet |
//! | [`insert`] | one more node: forward (it uses values) or backward (it produces a wanted one) |
//! | `related` | nodes that relate to one that stands, as pairs do that optimisers rewrite |
//! | `turn` | uses whose turn it is, so that none is left out for long |
//! | [`function`] | extracting a part of a graph into a function and a call |
//! | `grow` | larger sizes for a graph, until it fills its budget |
//! | [`solver`] | sizes that satisfy the type rules |
//!
//! The same version, seed and settings give the same model on every platform: every draw comes from a named
//! stream, no decision depends on time, addresses or hash order, and budgets are counts.

pub mod amount;
pub mod budget;
pub mod builder;
pub mod function;
pub mod generate;
mod grow;
pub mod insert;
pub mod policy;
mod related;
pub mod settings;
pub mod solver;
mod stored;
pub mod support;
mod terse;
mod turn;
mod unnamed;

pub use budget::{Budget, Span};
pub use generate::{Generated, generate};
pub use policy::{Policy, Taste, Weights};
pub use settings::{Composites, DRAWN, Forms, Settings};
pub use support::{Refused, Use, UseForm};
pub use turn::Turns;
