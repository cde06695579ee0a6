//! Campaigns: making cases, running them on engines, judging, blaming, reporting.
//!
//! | module | holds |
//! |---|---|
//! | [`case`] | a case: model, inputs, ONNX bytes; made from a seed |
//! | [`target`] | an engine at an optimisation level, and what it can take |
//! | [`naming`] | what an engine is called in reports |
//! | [`mod@reference`] | the reference interpreter as an engine |
//! | [`support`] | what an engine has, in memory and as a file |
//! | [`probe`] | finding out which forms of operators a target lacks |
//! | [`blame`] | which operator is at fault |
//! | `apart` | a model's operators alone, for all levels that fail on it |
//! | `likeness` | how like what an operator shows alone is to what its graph shows |
//! | `divergent` | the first operator to diverge within a graph |
//! | `reason` | the operator whose wrong type is the reason for a refusal |
//! | `reach` | whether what an operator got wrong is seen in an output |
//! | [`mod@fuzz`] | the campaign's loop |
//! | [`oracle`] | the oracles that ask a target further questions about a case |
//! | `judged` | what came of a case on a target, by all oracles |
//! | [`report`] | what a campaign found, in numbers and clusters |
//! | [`group`] | findings of different signatures that have one cause |
//! | [`store`] | a campaign on disk: stored, continued, merged |
//! | [`shard`] | one part of a campaign that is split over machines |
//! | [`known`] | lists of known findings |
//! | [`relax`] | cases that are not valid |
//! | [`replay`] | running saved cases: `onnxsmith run` |
//! | [`mod@reduce`] | the smallest case with the same finding: `onnxsmith reduce` |
//! | [`coverage`] | which operators occurred, and which met |
//! | [`corpus`] | writing cases: `onnxsmith gen` |
//! | [`footprint`] | what generated models take: operations and memory |
//! | [`folder`] | a case as a folder, with what is known about it |
//! | [`table`] | operators × dtypes × backends |
//! | `excuse` | what looks like a finding and is none |
//! | [`evidence`] | the saved case that shows a group of findings best |
//! | [`issue`] | a group of findings as Markdown, with programs that show the fault |
//! | [`page`] | a campaign as one HTML page |
//! | [`shell`] | commands for a person to paste |
//! | [`stderr`] | what an engine wrote to its standard error, for people |
//! | [`event`] | what happens, as typed events |
//! | [`junit`] | a report for CI systems |

mod apart;
pub mod blame;
pub mod case;
pub mod corpus;
pub mod coverage;
mod divergent;
pub mod event;
pub mod evidence;
mod excuse;
pub mod folder;
pub mod footprint;
pub mod fuzz;
pub mod group;
pub mod issue;
mod judged;
pub mod junit;
pub mod known;
mod likeness;
pub mod naming;
pub mod oracle;
pub mod page;
pub mod probe;
mod reach;
mod reason;
pub mod reduce;
pub mod reference;
pub mod relax;
pub mod replay;
pub mod report;
pub mod shard;
pub mod shell;
pub mod stderr;
pub mod store;
pub mod support;
pub mod table;
pub mod target;

pub use case::{Case, Maker, Values};
pub use event::Event;
pub use fuzz::fuzz;
pub use known::Known;
pub use reduce::reduce;
pub use shard::Shard;
pub use store::Store;
pub use support::Support;
pub use target::Target;

/// The library example of README.md, compiled and run as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
