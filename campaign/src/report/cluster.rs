//! All findings of one signature.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use oracles::Finding;
use serde::{Deserialize, Serialize};

use super::others::{Others, is_odd_one_out};
use harness::counts;
use harness::validity::Validity;
use triage::known::Known;

/// All findings of one signature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// The signature.
    pub signature: String,
    /// How many findings have it.
    pub count: u64,
    /// In how many cases.
    pub cases: u64,
    /// The first of these cases.
    pub first: u64,
    /// The level of that case.
    pub level: Validity,
    /// The first finding of that case, as an example.
    pub example: Finding,
    /// The saved case with the fewest nodes; none where the disk budget was used up.
    pub smallest: Option<PathBuf>,
    /// What that case was reduced to.
    #[serde(default)]
    pub reduced: Option<PathBuf>,
    /// Whether a process that has run nothing else shows what the first of these cases was reduced to. If it does not,
    /// models that ran before had a part in it. `None` where nothing was reduced, or saved.
    #[serde(default)]
    pub steady: Option<bool>,
    /// The fewest nodes of a case.
    pub nodes: usize,
    /// Where it is written up, if it is known.
    pub known: Option<String>,
    /// The engine's versions for which a list of known findings has this signature, if the version that ran is not
    /// among them: the fault is still there.
    #[serde(default)]
    pub known_in: Option<String>,
    /// The signatures that its findings had before findings were reduced, and how many findings have each. Lists of
    /// known findings may still have these signatures.
    #[serde(default)]
    pub formerly: BTreeMap<String, u64>,
    /// What the targets made of the whole cases, those of the engine included. Where all other engines are right, this one is the
    /// odd one out; where they have the same finding, the reference may be.
    pub others: BTreeMap<String, Others>,
}

impl Cluster {
    /// Whether two or more other targets compared with the reference on the same cases, and agreed with it.
    pub fn is_odd_one_out(&self) -> bool {
        is_odd_one_out(&self.example.backend, &self.others)
    }

    /// Adds the findings of other cases with the same signature. Which case is the smallest depends on which are saved.
    pub(super) fn merge(&mut self, more: Self) {
        // Every field is named, so that a new one is not forgotten.
        let Self {
            signature: _,
            count,
            cases,
            first,
            level,
            example,
            nodes,
            formerly,
            others,
            steady,
            smallest: _,
            reduced: _,
            known: _,
            known_in: _,
        } = more;
        self.count += count;
        self.cases += cases;
        self.nodes = self.nodes.min(nodes);
        if first < self.first {
            (self.first, self.level, self.example, self.steady) = (first, level, example, steady);
        }
        counts::add(&mut self.formerly, formerly);
        for (target, made) in others {
            self.others.entry(target).or_default().merge(made);
        }
    }

    /// Says where it is written up in a list, if all its findings are, and how many are. `met` takes the numbers of the
    /// entries that cover it, or one of the signatures that it had.
    pub(super) fn mark_known(&mut self, known: &Known, version: &str, met: &mut BTreeSet<usize>) -> u64 {
        let mut written_up = |signature: &str| {
            let covering = known.covering(version, signature);
            met.extend(covering.iter().map(|(number, _)| *number));
            covering.first().map(|(_, entry)| entry.finding.clone())
        };
        let by_name = written_up(&self.signature);
        let former = self.formerly.iter().filter(|_| self.example.answers_to_former_name());
        let formerly: Vec<(u64, Option<String>)> =
            former.map(|(former, count)| (*count, written_up(former))).collect();
        let is_known = |of: &&(u64, Option<String>)| of.1.is_some();
        let all_known = !formerly.is_empty() && formerly.iter().all(|of| is_known(&of));
        self.known = match &by_name {
            Some(_) => by_name.clone(),
            None if all_known => formerly.iter().max_by_key(|(count, _)| *count).and_then(|of| of.1.clone()),
            None => None,
        };
        let elsewhere = known.versions_of(&self.signature).filter(|_| self.known.is_none());
        self.known_in = elsewhere.map(ToString::to_string);
        match by_name {
            Some(_) => self.count,
            None => formerly.iter().filter(is_known).map(|(count, _)| count).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use oracles::{Symptom, Verdict};

    use super::*;

    const NAME: &str = "engine | Add + Exp f32 dense | mismatch gross";
    const HIDDEN: &str = "engine | whole graph, hidden by taps | mismatch gross";
    const IN_CONTEXT: &str = "engine | Exp f32 dense in context | mismatch gross";

    /// How many findings of a cluster are known by a list of these patterns, and whether the cluster is.
    fn known(patterns: &[&str]) -> (u64, bool) {
        let Verdict::Bug(example) = Verdict::bug("engine", "all", Symptom::WrongType, String::new()) else {
            panic!("it is a bug");
        };
        let mut cluster = Cluster {
            signature: NAME.to_owned(),
            count: 3,
            cases: 3,
            first: 0,
            level: Validity::Valid,
            example: *example,
            smallest: None,
            reduced: None,
            steady: None,
            nodes: 2,
            known: None,
            known_in: None,
            formerly: BTreeMap::from([(HIDDEN.to_owned(), 2), (IN_CONTEXT.to_owned(), 1)]),
            others: BTreeMap::new(),
        };
        let entry = |pattern: &&str| {
            format!("[[known]]\nsignature = '{pattern}'\nfinding = 'here'\nexpires = '2027-06-30'\n")
        };
        let list: String = patterns.iter().map(entry).collect();
        let today = "2026-01-01".parse().expect("a date");
        let list = Known::parse(&list, Path::new("known.toml"), today).expect("a list");
        let mut met = BTreeSet::new();
        let count = cluster.mark_known(&list, "1", &mut met);
        assert_eq!(met.len(), patterns.len(), "an entry is not met: {patterns:?}");
        (count, cluster.known.is_some())
    }

    #[test]
    fn an_entry_covers_a_finding_by_its_name_or_by_its_former_one() {
        assert_eq!(known(&[]), (0, false));
        assert_eq!(known(&[NAME]), (3, true));
        assert_eq!(known(&[HIDDEN]), (2, false));
        assert_eq!(known(&[HIDDEN, IN_CONTEXT]), (3, true));
        assert_eq!(known(&[NAME, HIDDEN]), (3, true));
    }
}
