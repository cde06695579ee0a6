//! What the oracles besides the reference were asked, and the verdicts.

use std::collections::BTreeMap;

use oracles::Verdict;
use serde::{Deserialize, Serialize};

use super::OracleAnswer;

/// The answers, by oracle and question.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OracleTally(pub BTreeMap<String, BTreeMap<String, Answers>>);

/// The answers to one question.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Answers {
    /// How often the question applied, one per case and target.
    pub asked: u64,
    /// How often it did not apply to the case.
    pub inapplicable: u64,
    /// Passes.
    pub pass: u64,
    /// Bugs.
    pub bug: u64,
    /// Runs from which nothing follows.
    pub incomparable: u64,
}

impl Answers {
    fn merge(&mut self, more: Self) {
        self.asked += more.asked;
        self.inapplicable += more.inapplicable;
        self.pass += more.pass;
        self.bug += more.bug;
        self.incomparable += more.incomparable;
    }
}

impl OracleTally {
    /// Adds the answers to other questions.
    pub fn merge(&mut self, more: Self) {
        for (oracle, by_name) in more.0 {
            let into = self.0.entry(oracle).or_default();
            for (name, answers) in by_name {
                into.entry(name).or_default().merge(answers);
            }
        }
    }

    /// Counts an answer.
    pub fn add(&mut self, answer: &OracleAnswer) {
        let by_name = self.0.entry(answer.check.oracle.clone()).or_default();
        let answers = by_name.entry(answer.check.name.clone()).or_default();
        answers.asked += u64::from(answer.verdict.is_some());
        match &answer.verdict {
            None => answers.inapplicable += 1,
            Some(Verdict::Pass) => answers.pass += 1,
            Some(Verdict::Bug(_)) => answers.bug += 1,
            Some(Verdict::Incomparable(_)) => answers.incomparable += 1,
        }
    }
}
