//! What a case that is to be saved is reduced to.
//!
//! Reducing takes processes that have run nothing else, and some runtimes take seconds to start. So the threads that
//! run cases do it, for what seems to be saved; what the ledger wants besides, it has to ask for itself.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::Plan;
use super::count::{CaseFindings, Find};
use crate::report::Cluster;
use triage::oracle::AskError;
use triage::reduce::{Problem, Stop};
use triage::smaller::{Smaller, SmallerTrial};

/// What a case was reduced to for one signature.
#[derive(Clone, Default)]
pub(super) struct Reduced {
    /// The number of the target that shows it, and the case; `None` where nothing is smaller.
    pub(super) case: Option<(usize, Smaller)>,
    /// Whether a process that has run nothing else shows it; `None` where that was not asked.
    pub(super) steady: Option<bool>,
}

/// The campaign ended before a case was reduced.
pub(super) struct Stopped;

impl Reduced {
    /// What naming has left of a case.
    pub(super) fn by_name(finds: &[&Find]) -> Self {
        Self { case: named(finds).map(|(find, smaller)| (find.target, smaller.clone())), steady: None }
    }

    /// The reduced case for some findings of a case: the one that naming has made or, if naming made none
    /// because the name was there already, a reduction that keeps the name. Known findings are not reduced
    /// beyond what naming did.
    pub(super) fn of(
        plan: &Plan<'_>,
        found: &CaseFindings,
        finds: &[&Find],
        stop: Stop<'_>,
    ) -> Result<Self, Stopped> {
        if stop() {
            return Err(Stopped);
        }
        // Who has listed a finding has its case: another is not worth processes of its own.
        if finds.iter().all(|find| plan.known_entry(find).is_some()) {
            return Ok(Self::by_name(finds));
        }
        if let Some((find, smaller)) = named(finds) {
            // Other questions take several runs of one process.
            let is_plain = find.finding.check.is_none();
            let asked = is_plain.then(|| smaller.is_steady(&plan.targets[find.target]).ok());
            let steady = asked.flatten().flatten();
            // What was ended says nothing.
            return if stop() { Err(Stopped) } else { Ok(Self { steady, ..Self::by_name(finds) }) };
        }
        let plain = finds.iter().find(|find| find.finding.check.is_none() && found.case.relaxed.is_none());
        let Some(Find { target, finding, .. }) = plain else { return Ok(Self::default()) };
        let (on, problem) = (&plan.targets[*target], Problem::of_case(&found.case));
        match Smaller::under_its_name(on, problem, finding, stop) {
            Err(AskError::Stopped) => Err(Stopped),
            Ok(SmallerTrial { smaller: None, .. }) | Err(_) if stop() => Err(Stopped),
            Ok(SmallerTrial { smaller, steady }) => {
                Ok(Self { case: smaller.map(|smaller| (*target, smaller)), steady })
            }
            Err(_) => Ok(Self::default()),
        }
    }
}

/// The first finding that naming has reduced.
fn named<'f>(finds: &[&'f Find]) -> Option<(&'f Find, &'f Smaller)> {
    finds.iter().find_map(|find| Some((*find, find.smaller.as_ref()?)))
}

/// The signatures of all cases that have run, counted or not.
pub(super) struct Seen {
    saved_per_signature: u64,
    signatures: Mutex<BTreeMap<String, Cases>>,
}

/// The cases of a signature.
struct Cases {
    first: u64,
    /// The nodes of the smallest.
    nodes: usize,
    number: u64,
}

impl Seen {
    /// What earlier sessions have seen.
    pub(super) fn new(plan: &Plan<'_>, clusters: &[Cluster]) -> Self {
        let cases =
            |cluster: &Cluster| Cases { first: cluster.first, nodes: cluster.nodes, number: cluster.cases };
        let signatures = clusters.iter().map(|cluster| (cluster.signature.clone(), cases(cluster)));
        Self { saved_per_signature: plan.saved_per_signature, signatures: Mutex::new(signatures.collect()) }
    }

    /// Reduces a case for each of its signatures under which it will probably be saved: no earlier case has
    /// run with this signature, or none is as small, or too few cases of it are saved.
    pub(super) fn reduce(
        &self,
        plan: &Plan<'_>,
        clusters: &[Cluster],
        found: &CaseFindings,
        stop: Stop<'_>,
    ) -> Result<BTreeMap<String, Reduced>, Stopped> {
        let wanted = clusters.iter().filter(|cluster| self.wants(cluster)).map(|cluster| &cluster.signature);
        wanted
            .map(|signature| Ok((signature.clone(), Reduced::of(plan, found, &found.of(signature), stop)?)))
            .collect()
    }

    fn wants(&self, cluster: &Cluster) -> bool {
        let mut signatures = self.signatures.lock().unwrap_or_else(PoisonError::into_inner);
        let none = Cases { first: u64::MAX, nodes: usize::MAX, number: 0 };
        let cases = signatures.entry(cluster.signature.clone()).or_insert(none);
        let wants = cluster.first < cases.first
            || cluster.nodes < cases.nodes
            || cases.number < self.saved_per_signature;
        cases.first = cases.first.min(cluster.first);
        cases.nodes = cases.nodes.min(cluster.nodes);
        cases.number += 1;
        wants && self.saved_per_signature > 0
    }
}
