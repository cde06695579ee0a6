//! What counts as a bug.
//!
//! ```
//! use interp::{Profile, Taps, evaluate};
//! use ir::{DType, Tensor, Type};
//! use onnxsmith_oracles::{Expected, Verdict, judge};
//! use worker::Outcome;
//!
//! let text = "onnxsmith 1 opset 17 graph { %0: f32[1] = variable \"x\" %1: f32[1] = Abs(%0) return \"y\" = %1 }";
//! let model: ops::Model = text.parse()?;
//! let number = |x: f64| Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| x);
//! let reference = evaluate(&model, &[number(-2.0)], &Profile::TIGHT, Taps::Outputs)?;
//! let names = ["y".to_owned()];
//! let expected = Expected { names: &names, outputs: &reference.outputs, profile: &Profile::TIGHT };
//!
//! let verdict = |y| judge("engine", "level", &Outcome::Outputs(vec![("y".to_owned(), number(y))]), &expected);
//! assert!(matches!(verdict(2.0), Verdict::Pass));
//! assert!(matches!(verdict(-2.0), Verdict::Bug(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`verdict`] | [`Verdict`]: pass, bug, or incomparable and why |
//! | [`differential`] | an engine's answer against the reference and its bounds |
//! | `difference` | where two answers differ |
//! | [`doubt`] | what is right, and further from the reference than good implementations are |
//! | [`allowance`] | what a runtime may do although the reference says otherwise, as rows |
//! | [`refusal`] | an engine's answer to a model that breaks a rule |
//! | [`metamorphic`] | models that must give the same outputs, and what they gave |
//! | [`repeat`] | an engine's answer to the same case once more |
//! | [`tolerance`] | comparison with a fixed tolerance, for cases that come without bounds |
//! | [`signature`] | what makes two findings the same finding |
//! | [`cause`] | which findings of different signatures have one cause |
//! | [`message`] | the parts of runtimes' messages that do not depend on the case, and how alike two are |
//!
//! Oracles return values; nothing here reports a bug by panicking.

pub mod allowance;
pub mod cause;
mod difference;
pub mod differential;
pub mod doubt;
pub mod message;
pub mod metamorphic;
pub mod refusal;
pub mod repeat;
pub mod signature;
pub mod tolerance;
pub mod verdict;

pub use allowance::Allowance;
pub use differential::{Assessment, Expected, assess, judge, judge_but};
pub use doubt::{Afar, Doubt, Nearness};
pub use refusal::{judge_refusal, judge_survival};
pub use signature::{Core, Culprit, ErrorShape, Signature, Symptom};
pub use tolerance::Tolerance;
pub use verdict::{AtFault, Broken, Check, Finding, ROUND_TRIP, Tally, Verdict, Why, Worst};
