//! Consistency sweeps: every operator on every dtype, on several backends, in numbers.
//!
//! A campaign asks whether something is wrong; a sweep asks how far off each operator is, where, and how far backends are from
//! each other. Elements are judged three ways: inside the tight tier (what good builtins reach), inside what the backend's
//! specification allows, or beyond.
//!
//! | module | holds |
//! |---|---|
//! | [`form`] | the forms in which an operator is swept |
//! | [`plan`] | from what is asked for to parts, in order |
//! | [`uses`] | uses of operators that work element by element |
//! | [`lanes`] | operators along an axis of every length, and on shapes at which kernels end |
//! | [`numbers`], [`columns`] | edges, all numbers, samples; the operands made of them |
//! | [`trial`] | a part as a model with inputs and what is expected |
//! | [`tier`] | the tight tier: the one place that says what counts as good |
//! | [`element`], [`mod@judge`], [`bins`], [`tally`] | elements, judged, sorted by argument, counted |
//! | [`mod@run`] | parts on all targets, in threads, results in order |
//! | [`store`], `differences` | a sweep on disk, and going on with it; what tells another one apart |
//! | [`rows`], [`table`] | from parts to rows, and to text |
//! | [`cases`] | the worst inputs as case folders |
//! | [`against`] | what got worse since another sweep |

pub mod against;
pub mod bins;
pub mod cases;
pub mod columns;
mod differences;
pub mod element;
pub mod form;
pub mod judge;
pub mod lanes;
pub mod numbers;
pub mod plan;
pub mod rows;
pub mod run;
pub mod store;
pub mod table;
pub mod tally;
pub mod tier;
pub mod trial;
pub mod uses;

pub use form::PartForm;
pub use plan::{Part, Scope, parts};
pub use rows::Rows;
pub use run::{PartResult, run};
pub use store::{Identity, Store};
