//! What lies behind a wrong answer: which operator is at fault, what else an engine gets wrong on the same case, and the
//! smallest case that shows it.
//!
//! ```
//! use std::path::Path;
//!
//! use onnxsmith_triage::known::{Date, Known};
//!
//! let list = "[[known]]\n\
//!     signature = 'ort | AveragePool * | wrong type'\n\
//!     versions = '1.31'\n\
//!     finding = 'corpus/averagepool'\n\
//!     expires = '2027-06-30'\n";
//! let known = Known::parse(list, Path::new("known.toml"), Date::from_unix_days(20_000))?;
//! let signature = "ort | AveragePool f32[3] | wrong type";
//! assert_eq!(known.covering("1.31.2", signature)[0].1.finding, "corpus/averagepool");
//! assert!(known.covering("1.30.0", signature).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`blame`] | which operator is at fault |
//! | `symptom_match` | how like what an operator shows alone is to what its graph shows |
//! | `divergent` | the first operator to diverge within a graph |
//! | `tapped` | what a target has within a graph |
//! | [`local`] | each operator judged by itself, on the operands that a target has for it |
//! | [`whole`] | a model end to end, and whether its bounds say anything |
//! | `wrong_type` | the operator whose wrong type is the reason for a refusal |
//! | `forms` | the forms of a program, and the program with one of them undone |
//! | `composite` | operators of a program that are written out where they are read, each alone |
//! | `idle` | what of a program did not run for the inputs at hand |
//! | `propagation` | whether what an operator got wrong is seen in an output |
//! | [`peel`] | what else is wrong behind a finding, each under its name |
//! | [`allowance`] | what looks like a finding and is none |
//! | [`doubted`] | which operators are to blame for what is right, and suspect |
//! | [`oracle`] | the oracles that ask a target further questions about a case |
//! | [`judged`] | what came of a case on a target, by all oracles |
//! | [`mod@reduce`] | the smallest case with the same finding: `onnxsmith reduce` |
//! | [`smaller`] | the smaller case that is saved beside a finding |
//! | [`folder`] | a case as a folder, with what is known about it |
//! | [`inputs`](mod@inputs) | the inputs that a case is run on |
//! | [`invent`] | inputs for a model that comes without |
//! | [`stored`] | saved cases of any kind, read and found |
//! | [`known`] | known findings: lists of them, and each as it is written up |

pub mod allowance;
pub mod blame;
mod composite;
mod divergent;
pub mod doubted;
pub mod folder;
mod forms;
mod idle;
pub mod inputs;
pub mod invent;
pub mod judged;
pub mod known;
pub mod local;
pub mod oracle;
pub mod peel;
mod propagation;
pub mod reduce;
mod sides;
pub mod smaller;
pub mod stored;
mod symptom_match;
mod tapped;
pub mod whole;
mod wrong_type;

pub use forms::{TargetProgram, meaning};
pub use idle::NotRun;
pub use reduce::reduce;
