//! Cases, and what they are run on.
//!
//! A [`Maker`] makes a [`Case`] from a seed: a model, its inputs, its ONNX bytes. A [`Target`] is an engine at an
//! optimisation level, in a process of its own. What a target lacks is found out by a [probe](mod@probe) before a campaign
//! begins, so that models are drawn which it has.
//!
//! ```
//! use backends::cpu::CpuEngine;
//! use graphgen::Settings;
//! use ir::Interface;
//! use onnxsmith_harness::{Maker, Target};
//! use worker::Outcome;
//!
//! let case = Maker::new(1, Settings { nodes: 3, max_elements: 64, ..Settings::default() }).make(0)?;
//! // An engine in this process; those of a campaign are opened by name, each in a process of its own.
//! let cpu = &Target::here(Box::new(CpuEngine::default()))[0];
//! let run = cpu.run(&case.onnx, &case.inputs, &Interface::of(&case.model))?;
//! assert!(matches!(run.outcome, Outcome::Outputs(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`case`] | a case: model, inputs, ONNX bytes; made from a seed |
//! | [`validity`] | whether a case is valid, and what is expected where it is not |
//! | [`invalid`] | making cases that are not |
//! | [`target`] | an engine at an optimisation level, and what it can take |
//! | [`naming`] | what an engine is called in reports |
//! | [`mod@reference`] | the reference interpreter as an engine |
//! | [`support`] | what an engine has, in memory and as a file |
//! | [`probe`] | finding out which forms of operators a target lacks |
//! | [`hurry`] | asking further about what hangs, without waiting as long each time |
//! | [`isolate`] | a model's operators alone, for all levels that fail on it |
//! | [`evaluated`] | what the reference says of a model, and a target's answer held against that |
//! | [`trial`] | a model with inputs, to be run on targets and judged |
//! | [`reached`] | how far good implementations are from a model's outputs |
//! | `sent` | models on their way to an engine in another process |
//! | [`footprint`] | what generated models take: operations and memory |
//! | [`memory`] | how much memory the machine has |
//! | [`folder_lock`] | folders that one process alone may write to |
//! | [`threads`] | work on many items by several threads |
//! | [`counts`] | adding what was counted by name |

pub mod case;
pub mod counts;
pub mod evaluated;
pub mod folder_lock;
pub mod footprint;
pub mod hurry;
pub mod invalid;
pub mod isolate;
pub mod memory;
pub mod naming;
pub mod probe;
pub mod reached;
pub mod reference;
mod sent;
pub mod support;
pub mod target;
pub mod threads;
pub mod trial;
pub mod validity;

pub use case::{Case, Maker, Values};
pub use support::Support;
pub use target::Target;
