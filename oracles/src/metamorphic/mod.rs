//! The metamorphic oracle: a model is rewritten so that its outputs must stay what they are, and an engine that gives
//! other ones is wrong about one of the two.
//!
//! | module | holds |
//! |---|---|
//! | [`relation`] | what a relation is: a rewrite, and what it promises |
//! | [`list`] | the one list of relations |
//! | [`mod@judge`] | what an engine made of both models |
//! | the others | a family of relations each |
//!
//! Comparison with the reference needs a value and a bound for every element. Comparison of two answers needs neither:
//! it also sees what is wrong where the reference cannot decide, or where its bound is wide. What may be concluded from
//! a difference depends on the relation and on the engine; `docs/metamorphic.md` states that policy.

mod arithmetic;
mod batch;
mod beside;
mod detour;
mod functions;
pub mod judge;
mod leaves;
pub mod list;
mod order;
pub mod relation;
mod scale;
mod spelling;
mod sums;

pub use judge::{Fidelity, Pair, judge};
pub use list::{ALL, find};
pub use relation::{Holds, Relation, Rewrite, Rewritten, Subject};
