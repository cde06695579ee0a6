//! The reference interpreter: what a graph must produce, and how far a correct implementation may be off.
//!
//! ```
//! use ir::{DType, Tensor, Type};
//! use onnxsmith_interp::{Profile, Taps, compare, evaluate};
//!
//! let text = "onnxsmith 1 opset 17 graph { %0: f32[1] = variable \"x\" %1: f32[1] = Exp(%0) return \"y\" = %1 }";
//! let model: ops::Model = text.parse()?;
//! let number = |x: f64| Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| x);
//! let reference = evaluate(&model, &[number(1.0)], &Profile::TIGHT, Taps::Outputs)?;
//!
//! // A value, and how far an implementation may be from it.
//! let y = &reference.outputs[0];
//! assert!(compare(y, &number(2.718_281_8), &Profile::TIGHT)?.passes());
//! assert!(!compare(y, &number(2.718_3), &Profile::TIGHT)?.passes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`profile`] | what implementations promise of each step, as data |
//! | [`bound`] | the number system of values with error bounds |
//! | [`spread`] | the number system of what good implementations have, which is narrower |
//! | `balls` | both as one, for operators to be read in |
//! | [`evaluate`](mod@evaluate) | value, bound and decidability of every element of a model's outputs |
//! | [`compare`](mod@compare) | comparing a tensor with the reference |
//! | [`margin`] | how much wider bounds are than errors |
//! | [`walk`] | running a model in any number system |
//!
//! Operators' meanings are those of `ops`; nothing here knows an operator by name.

mod balls;
pub mod bound;
pub mod compare;
pub mod evaluate;
pub mod margin;
pub mod profile;
pub mod spread;
pub mod walk;

pub use compare::{Acceptance, Comparison, Mismatch, compare};
pub use evaluate::{
    Bounded, Decided, Error, Evaluation, Limit, Limited, Taps, Uneven, evaluate, evaluate_plain,
};
pub use margin::Margins;
pub use profile::{Accuracy, Casts, Profile};
pub use spread::{Accumulators, Limits, Tier, limits, limits_of};
