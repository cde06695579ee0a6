//! Campaigns: the loop that makes cases, runs and judges them, and what it stores.
//!
//! | module | holds |
//! |---|---|
//! | [`mod@fuzz`] | the campaign's loop |
//! | [`event`] | what happens, as typed events |
//! | [`exit`] | what the exit code of `onnxsmith` says |
//! | [`report`] | what a campaign found, in numbers and clusters |
//! | [`coverage`] | which operators occurred, and which met |
//! | [`group`] | findings of different signatures that have one cause |
//! | [`store`] | a campaign on disk: stored, continued, merged |
//! | [`shard`] | one part of a campaign that is split over machines |
//! | [`replay`] | running saved cases: `onnxsmith run` |
//! | [`generate`] | writing cases: `onnxsmith gen` |
//! | [`junit`] | a report for CI systems |

pub mod coverage;
pub mod event;
pub mod exit;
pub mod fuzz;
pub mod generate;
pub mod group;
pub mod junit;
pub mod replay;
pub mod report;
pub mod shard;
pub mod store;

pub use event::Event;
pub use exit::Exit;
pub use fuzz::fuzz;
pub use shard::Shard;
pub use store::Store;

/// The library example of README.md, compiled and run as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
