//! The reference interpreter: what a graph must produce, and how far a correct implementation may be off.
//!
//! | module | holds |
//! |---|---|
//! | [`profile`] | what implementations promise of each step, as data |
//! | [`bound`] | the number system of values with error bounds |
//! | [`evaluate`](mod@evaluate) | value, bound and decidability of every element of a model's outputs |
//! | [`judge`](mod@judge) | comparing a tensor with the reference |
//! | [`margin`] | how much wider bounds are than errors |
//! | [`walk`] | running a model in any number system |
//!
//! Operators' meanings are those of `ops`; nothing here knows an operator by name.

pub mod bound;
pub mod evaluate;
pub mod judge;
pub mod margin;
pub mod profile;
pub mod walk;

pub use evaluate::{Decided, Error, Evaluation, Judged, Taps, evaluate, evaluate_plain};
pub use judge::{Acceptance, Comparison, Mismatch, judge};
pub use margin::Margins;
pub use profile::{Accuracy, Profile};
