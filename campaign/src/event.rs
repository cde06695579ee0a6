//! What happens in a campaign, as typed events. Progress bars, logs and reports are consumers of these.

use std::path::PathBuf;

use oracles::{Finding, Tally};
use serde::Serialize;

/// Something that happened.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A campaign goes on that was begun earlier.
    Resumed {
        /// The case that comes next.
        next: u64,
        /// The cases so far.
        cases: u64,
        /// The verdicts so far.
        tally: Tally,
        /// The findings so far.
        findings: u64,
    },
    /// A case has run on every target.
    Ran {
        /// The case.
        index: u64,
        /// The verdicts on it.
        verdicts: Tally,
        /// The verdicts so far.
        tally: Tally,
        /// The findings so far.
        findings: u64,
    },
    /// A finding of a signature that was not seen before.
    NewFinding {
        /// The case.
        index: u64,
        /// The signature.
        signature: String,
        /// The finding.
        finding: Box<Finding>,
        /// Where the case was saved; nowhere where the disk budget is used up.
        saved: Option<PathBuf>,
        /// Where it is written up, if it is known.
        known: Option<String>,
    },
    /// Something went wrong that is nobody's bug but ours or the machine's.
    Trouble {
        /// The case in which it did.
        index: u64,
        /// What.
        what: String,
    },
}
