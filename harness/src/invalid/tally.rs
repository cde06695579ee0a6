//! The levels in a campaign's report.

use std::collections::BTreeMap;

use oracles::{Symptom, Verdict};
use serde::{Deserialize, Serialize};

use super::schedule::Path;
use crate::case::Case;
use crate::counts;
use crate::validity::{Expectation, Validity};

/// How many cases were at which level, and how engines answered those that are not valid.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct LevelTally {
    /// The cases by level.
    pub cases: BTreeMap<Validity, u64>,
    /// How many of the random cases are valid.
    pub random_valid: u64,
    /// How many of them may be or not.
    pub random_undecided: u64,
    /// The answers to invalid models, by rule and target.
    pub rules: BTreeMap<String, BTreeMap<String, Answers>>,
    /// p over time, in an adaptive campaign.
    pub p: Option<Path>,
}

/// How often an engine gave which answer to models that break one rule.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Answers {
    /// Cases in which the engine refused the model.
    pub refused: u64,
    /// Cases in which it gave outputs.
    pub accepted: u64,
    /// Cases in which it crashed, hung or broke the protocol.
    pub faulted: u64,
    /// The case says nothing about it.
    pub incomparable: u64,
}

impl Answers {
    fn merge(&mut self, more: Self) {
        self.refused += more.refused;
        self.accepted += more.accepted;
        self.faulted += more.faulted;
        self.incomparable += more.incomparable;
    }
}

impl LevelTally {
    /// Adds other cases. p over time is no sum: it stays as it is.
    pub fn merge(&mut self, more: Self) {
        let Self { cases, random_valid, random_undecided, rules, p: _ } = more;
        counts::add(&mut self.cases, cases);
        self.random_valid += random_valid;
        self.random_undecided += random_undecided;
        for (rule, by_target) in rules {
            let rule = self.rules.entry(rule).or_default();
            for (target, answers) in by_target {
                rule.entry(target).or_default().merge(answers);
            }
        }
    }

    /// Counts a case.
    pub fn take(&mut self, case: &Case) {
        *self.cases.entry(case.level).or_default() += 1;
        if case.level == Validity::Random {
            match &case.relaxed {
                None => self.random_valid += 1,
                Some(r) if r.expected == Expectation::Survival => self.random_undecided += 1,
                Some(_) => {}
            }
        }
    }

    /// Counts a verdict on a case.
    pub fn count_verdict(&mut self, case: &Case, target: &str, verdict: &Verdict) {
        let Some(relaxed) = &case.relaxed else { return };
        if relaxed.expected != Expectation::Refusal {
            return;
        }
        let rule = self.rules.entry(relaxed.rule.clone()).or_default();
        let answers = rule.entry(target.to_owned()).or_default();
        match verdict {
            Verdict::Pass => answers.refused += 1,
            Verdict::Incomparable(_) => answers.incomparable += 1,
            Verdict::Bug(finding) if matches!(finding.symptom, Symptom::Accepted { .. }) => {
                answers.accepted += 1;
            }
            Verdict::Bug(_) => answers.faulted += 1,
        }
    }
}
