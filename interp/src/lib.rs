//! The reference interpreter: what a graph must produce, and how far a correct implementation may be off.
//!
//! | module | holds |
//! |---|---|
//! | [`profile`] | what implementations promise of each step, as data |
//! | [`bound`] | the number system of values with error bounds |
//! | [`evaluate`](mod@evaluate) | value, bound and decidability of every element of a model's outputs |
//! | [`compare`](mod@compare) | comparing a tensor with the reference |
//! | [`margin`] | how much wider bounds are than errors |
//! | [`walk`] | running a model in any number system |
//!
//! Operators' meanings are those of `ops`; nothing here knows an operator by name.

pub mod bound;
pub mod compare;
pub mod evaluate;
pub mod margin;
pub mod profile;
pub mod walk;

pub use compare::{Acceptance, Comparison, Mismatch, compare};
pub use evaluate::{Bounded, Decided, Error, Evaluation, Taps, evaluate, evaluate_plain};
pub use margin::Margins;
pub use profile::{Accuracy, Profile};
