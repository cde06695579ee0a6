//! Campaigns: the loop that makes cases, runs and judges them, and what it stores.
//!
//! ```
//! # use std::sync::atomic::AtomicBool;
//! # use graphgen::Settings;
//! # use harness::{Maker, Target};
//! use onnxsmith_campaign::fuzz::Plan;
//! use onnxsmith_campaign::store::Identity;
//! use onnxsmith_campaign::{Event, Store, fuzz};
//!
//! let maker = Maker::new(1, Settings { nodes: 2, max_elements: 64, ..Settings::default() });
//! let targets = Target::here(Box::new(backends::cpu::CpuEngine::default()));
//! let plan = Plan { cases: Some(3), ..Plan::of(maker, targets) };
//! let folder = tempfile::tempdir()?;
//! let mut store = Store::create(folder.path(), &Identity::of(&plan))?;
//! let mut ran = 0;
//! let mut count = |event: &Event| ran += u64::from(matches!(event, Event::Ran { .. }));
//! let report = fuzz(&plan, &mut store, &AtomicBool::new(false), &mut count)?;
//! assert_eq!((report.cases, ran), (3, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`mod@fuzz`] | the campaign's loop |
//! | [`event`] | what happens, as typed events |
//! | [`exit`] | what the exit code of `onnxsmith` says |
//! | [`report`] | what a campaign found, in numbers and clusters |
//! | [`corpus`] | findings that are written up, on the engines that they accuse |
//! | [`coverage`] | which operators occurred, and which met |
//! | [`group`] | findings of different signatures that have one cause |
//! | [`accept`] | entries of a list of known findings, for what a user accepts |
//! | [`late`] | faults of processes that no case shows in a fresh one |
//! | [`migrate`] | entries of such a list under names that findings have now |
//! | [`store`] | a campaign on disk: stored, continued, merged |
//! | [`shard`] | one part of a campaign that is split over machines |
//! | [`replay`] | running saved cases: `onnxsmith run` |
//! | [`generate`] | writing cases: `onnxsmith gen` |
//! | `variety` | how different generated cases are |
//! | [`junit`] | a report for CI systems |

pub mod accept;
pub mod corpus;
pub mod coverage;
pub mod event;
pub mod exit;
pub mod fuzz;
pub mod generate;
pub mod group;
pub mod junit;
pub mod late;
pub mod migrate;
pub mod replay;
pub mod report;
pub mod shard;
pub mod store;
mod variety;

pub use event::Event;
pub use exit::Exit;
pub use fuzz::fuzz;
pub use shard::Shard;
pub use store::Store;

/// The library example of README.md, compiled and run as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
