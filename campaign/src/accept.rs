//! Entries of a list of known findings, for what a user accepts of a campaign.
//!
//! An entry covers one signature, exactly, of the version of the engine that ran: what is accepted is what was found, and
//! nothing that is like it.

use crate::report::{Cluster, Report};
use crate::store::Identity;
use triage::known::{Date, Entry, Pattern};

/// What is to be accepted was not found.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("nothing new was found whose signature is `{pattern}`")]
pub struct NotFound {
    /// The signatures that were asked for.
    pub pattern: Pattern,
}

/// An entry for each signature that no list covers yet: all, or those that one of the patterns in `only` matches. Which are
/// covered the report says ([`Report::mark_known`]).
pub fn entries(
    report: &Report,
    identity: &Identity,
    only: &[Pattern],
    expires: Date,
) -> Result<Vec<Entry>, NotFound> {
    let fresh: Vec<&Cluster> = report.clusters.iter().filter(|cluster| cluster.known.is_none()).collect();
    let is_unmet = |pattern: &&Pattern| !fresh.iter().any(|cluster| pattern.matches(&cluster.signature));
    if let Some(pattern) = only.iter().find(is_unmet) {
        return Err(NotFound { pattern: pattern.clone() });
    }
    let is_wanted =
        |cluster: &&&Cluster| only.is_empty() || only.iter().any(|p| p.matches(&cluster.signature));
    let entry = |cluster: &&Cluster| {
        let version = identity.version(&cluster.example.backend);
        Entry::exactly(cluster.signature.clone(), &version, place(cluster), expires)
    };
    Ok(fresh.iter().filter(is_wanted).map(entry).collect())
}

/// Where to look at it until it is written up.
fn place(cluster: &Cluster) -> String {
    let saved = cluster.reduced.as_ref().or(cluster.smallest.as_ref());
    saved.map_or_else(|| format!("case {} of its campaign", cluster.first), |path| path.display().to_string())
}
