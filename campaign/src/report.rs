//! What a campaign found, in numbers and clusters.

use std::collections::BTreeMap;
use std::path::PathBuf;

use oracles::{Finding, Tally};
use serde::Serialize;

use crate::case::Adversarial;

/// What a campaign found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// How many cases ran.
    pub cases: u64,
    /// The verdicts, one per case and target.
    pub verdicts: Tally,
    /// The verdicts by target.
    pub by_target: BTreeMap<String, Tally>,
    /// Why runs were incomparable, and how often.
    pub incomparable: BTreeMap<String, u64>,
    /// How many verdicts were bugs.
    pub findings: u64,
    /// How many of them are known.
    pub known: u64,
    /// The findings by signature, most frequent first.
    pub clusters: Vec<Cluster>,
    /// The signatures of the list of known findings that were not met.
    pub known_unseen: Vec<String>,
    /// The signatures of that list whose date has passed, so that they matched nothing.
    pub known_expired: Vec<String>,
    /// The share of output elements that are undecidable.
    pub undecidable_elements_share: f64,
    /// The share of output elements that are undefined.
    pub undefined_values_share: f64,
    /// The share of cases in which value search left something undefined.
    pub undefined_cases_share: f64,
    /// The cases that were to be adversarial.
    pub adversarial: Adversarial,
    /// Seconds inside the engines.
    pub backend_seconds: f64,
    /// Seconds by the clock.
    pub wall_seconds: f64,
    /// What went wrong on this side.
    pub trouble: Vec<String>,
}

/// All findings of one signature.
#[derive(Clone, Debug, Serialize)]
pub struct Cluster {
    /// The signature.
    pub signature: String,
    /// How many findings have it.
    pub count: u64,
    /// The saved case with the fewest nodes.
    pub smallest: PathBuf,
    /// One finding, as an example.
    pub example: Finding,
    /// Where it is written up, if it is known.
    pub known: Option<String>,
    #[serde(skip)]
    pub(crate) nodes: usize,
}
