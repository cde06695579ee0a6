//! What counts as a bug.
//!
//! | module | holds |
//! |---|---|
//! | [`verdict`] | [`Verdict`]: pass, bug, or incomparable and why |
//! | [`differential`] | an engine's answer against the reference and its bounds |
//! | [`refusal`] | an engine's answer to a model that breaks a rule |
//! | [`metamorphic`] | models that must give the same outputs, and what they gave |
//! | [`repeat`] | an engine's answer to the same case once more |
//! | [`tolerance`] | comparison with a fixed tolerance, for cases that come without bounds |
//! | [`signature`] | what makes two findings the same finding |
//! | [`cause`] | which findings of different signatures have one cause |
//! | [`message`] | the parts of runtimes' messages that do not depend on the case, and how alike two are |
//!
//! Oracles return values; nothing here reports a bug by panicking.

pub mod cause;
pub mod differential;
pub mod message;
pub mod metamorphic;
pub mod refusal;
pub mod repeat;
pub mod signature;
pub mod tolerance;
pub mod verdict;

pub use differential::{Assessment, Expected, assess, judge};
pub use refusal::{judge_refusal, judge_survival};
pub use signature::{Culprit, ErrorShape, Signature, Symptom};
pub use tolerance::Tolerance;
pub use verdict::{Check, Finding, ROUND_TRIP, Tally, Verdict, Why, Worst};
