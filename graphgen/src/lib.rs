//! Random but well-typed DNN graphs.
//!
//! | module | holds |
//! |---|---|
//! | [`support`] | forms of operators that an engine has not, as data |
//! | [`settings`] | what may occur in a graph, and how settings are varied and narrowed |
//! | [`policy`] | which operator comes next: weights and templates |
//! | [`mod@generate`] | from a seed to a model |
//! | [`sketch`] | the graph under construction, in which nodes have no order yet |
//! | [`insert`] | one more node: forward (it uses values) or backward (it produces a wanted one) |
//! | [`function`] | extracting a part of a graph into a function and a call |
//! | [`solver`] | sizes that satisfy the type rules |
//!
//! The same version, seed and settings give the same model on every platform: every draw comes from a named
//! stream, no decision depends on time, addresses or hash order, and budgets are counts.

pub mod function;
pub mod generate;
pub mod insert;
pub mod policy;
pub mod settings;
pub mod sketch;
pub mod solver;
pub mod support;

pub use generate::{Generated, generate};
pub use policy::{Policy, Weights};
pub use settings::{Capabilities, Settings};
pub use support::{Form, Refused, Use};
