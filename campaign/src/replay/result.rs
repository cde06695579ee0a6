//! What running saved cases gives, and how it is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Serialize;

use super::OracleRecord;
use crate::junit::{TestCase, TestResult};
use crate::late::LateFaults;
use harness::target::Target;
use triage::NotRun;
use triage::invent::DrawnInputs;

/// What came of one case on one backend. Of several that belong to one case, the last in this order stands for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// There are outputs, and nobody can say what is right: every element is undecidable or undefined.
    Undecidable,
    /// Bounds say nothing, as they are wider than the values or infinite, and the elements that can be looked at are no
    /// further from the reference than good implementations are: a deep network's answer. Or all of an output is undecidable,
    /// beside others that are right.
    Plausible,
    /// The outputs are right.
    Pass,
    /// The outputs are right, and elements of them are suspect: further from the reference than good implementations are.
    Suspect,
    /// There is nothing to compare with, for a reason of ours: our import lacks something, or the model is too large.
    NoReference,
    /// The backend lacks something, or says that it computes in a narrower dtype than the case needs.
    Unsupported,
    /// The case cannot be used: a file of it is corrupt or missing, or its model is not valid.
    Broken,
    /// Something went wrong on this side: the backend's worker does not start, or a file cannot be written. It says
    /// nothing about either.
    Trouble,
    /// The outputs are wrong.
    Mismatch,
    /// The backend gives outputs for an invalid model.
    Accepted,
    /// The backend refuses the model or its inputs.
    Rejected,
    /// The backend crashed.
    Crash,
    /// The backend did not answer in time.
    Timeout,
    /// The backend takes much longer than for what is next to it.
    Slow,
}

impl Grade {
    /// All of them, in the order in which they are told.
    const ALL: [Self; 14] = [
        Self::Pass,
        Self::Plausible,
        Self::Suspect,
        Self::Mismatch,
        Self::Accepted,
        Self::Rejected,
        Self::Crash,
        Self::Timeout,
        Self::Slow,
        Self::Unsupported,
        Self::Undecidable,
        Self::NoReference,
        Self::Broken,
        Self::Trouble,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Undecidable => "undecidable",
            Self::Plausible => "plausible",
            Self::Pass => "pass",
            Self::Suspect => "suspect",
            Self::NoReference => "no reference",
            Self::Unsupported => "unsupported",
            Self::Mismatch => "mismatch",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Crash => "crash",
            Self::Timeout => "timeout",
            Self::Slow => "slow",
            Self::Broken => "broken",
            Self::Trouble => "trouble",
        }
    }
}

impl Grade {
    /// Whether the backend did something wrong.
    pub(super) fn is_wrong(self) -> bool {
        match self {
            Self::Mismatch | Self::Accepted | Self::Rejected | Self::Crash | Self::Timeout | Self::Slow => {
                true
            }
            Self::Undecidable
            | Self::Plausible
            | Self::Pass
            | Self::Suspect
            | Self::NoReference
            | Self::Unsupported
            | Self::Broken
            | Self::Trouble => false,
        }
    }
}

/// What came of a case on a target.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    pub(super) grade: Grade,
    /// Why it is that.
    pub(crate) why: String,
    /// What was found, by the names that a campaign gives.
    pub(super) signatures: Vec<String>,
    /// Whether `why` names operators that are suspect alone.
    pub(super) names_suspects: bool,
}

impl Judgement {
    pub(super) fn new(grade: Grade, why: impl Into<String>) -> Self {
        Self { grade, why: why.into(), signatures: Vec::new(), names_suspects: false }
    }

    /// Nothing of a backend: something went wrong on this side.
    pub(super) fn trouble(why: &dyn std::fmt::Display) -> Self {
        Self::new(Grade::Trouble, why.to_string())
    }

    /// This judgement, with what else there is to say of why.
    pub(super) fn with(self, more: Option<String>) -> Self {
        match more {
            Some(more) => Self { why: format!("{}: {more}", self.why), ..self },
            None => self,
        }
    }

    /// This judgement, with the time that a target had where it was not enough.
    pub(super) fn with_time_of(self, target: &Target) -> Self {
        match self.grade {
            Grade::Timeout => self.with(Some(target.patience())),
            _ => self,
        }
    }
}

/// How often each grade was given.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[allow(missing_docs, reason = "one counter per Grade")]
pub struct Counts {
    pub pass: u64,
    pub plausible: u64,
    pub suspect: u64,
    pub mismatch: u64,
    pub accepted: u64,
    pub unsupported: u64,
    pub rejected: u64,
    pub crash: u64,
    pub timeout: u64,
    pub slow: u64,
    pub undecidable: u64,
    pub no_reference: u64,
    pub broken: u64,
    pub trouble: u64,
}

impl Counts {
    fn of(&mut self, grade: Grade) -> &mut u64 {
        match grade {
            Grade::Pass => &mut self.pass,
            Grade::Plausible => &mut self.plausible,
            Grade::Suspect => &mut self.suspect,
            Grade::Mismatch => &mut self.mismatch,
            Grade::Accepted => &mut self.accepted,
            Grade::Unsupported => &mut self.unsupported,
            Grade::Rejected => &mut self.rejected,
            Grade::Crash => &mut self.crash,
            Grade::Timeout => &mut self.timeout,
            Grade::Slow => &mut self.slow,
            Grade::Undecidable => &mut self.undecidable,
            Grade::NoReference => &mut self.no_reference,
            Grade::Broken => &mut self.broken,
            Grade::Trouble => &mut self.trouble,
        }
    }

    /// How often each occurred, by the word for it.
    pub fn each(mut self) -> impl Iterator<Item = (&'static str, u64)> {
        Grade::ALL.into_iter().map(move |grade| (grade.name(), *self.of(grade)))
    }

    /// Whether the backend did something wrong.
    pub fn failed(&self) -> bool {
        self.mismatch + self.accepted + self.rejected + self.crash + self.timeout + self.slow > 0
    }

    /// Whether there is an answer that was compared with something.
    pub fn has_compared(&self) -> bool {
        self.pass + self.plausible + self.suspect > 0 || self.failed()
    }
}

/// A case that did not pass.
#[derive(Clone, Debug, Serialize)]
pub struct NotPassing {
    /// The case.
    pub case: PathBuf,
    /// The backend.
    pub backend: String,
    /// What came of it.
    pub outcome: Grade,
    /// Why.
    pub why: String,
    /// What a campaign calls that which is found in a saved case of ours: the finding, and what shows behind it.
    pub signatures: Vec<String>,
    /// Whether `why` names operators that are suspect alone.
    #[serde(skip)]
    pub names_suspects: bool,
}

impl NotPassing {
    /// Whether it says which operators are to blame.
    pub fn is_named(&self) -> bool {
        self.names_suspects || !self.signatures.is_empty()
    }
}

/// What a model leaves open, as it was drawn.
#[derive(Clone, Debug, Serialize)]
pub struct Drawn {
    /// The case.
    pub case: PathBuf,
    /// The sizes and inputs.
    #[serde(flatten)]
    pub drawn: DrawnInputs,
}

/// A model with operators that nobody here knows.
#[derive(Clone, Debug, Serialize)]
pub struct Unjudged {
    /// The case.
    pub case: PathBuf,
    /// The operators, with their domains. Nothing is said of what follows from them.
    pub operators: BTreeSet<String>,
}

/// A model of which the inputs do not run all.
#[derive(Clone, Debug, Serialize)]
pub struct Untried {
    /// The case.
    pub case: PathBuf,
    /// The bodies that did not run. Nothing is said of the operators in them.
    pub bodies: Vec<NotRun>,
}

/// A model that declares another shape for some of its values than they have.
#[derive(Clone, Debug, Serialize)]
pub struct Misdeclared {
    /// The case.
    pub case: PathBuf,
    /// What is wrong.
    pub why: String,
}

/// What came of all cases.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Replayed {
    /// How many cases were run.
    pub cases: u64,
    /// How many were not, since the command was to end early.
    pub left_out: u64,
    /// The results, by backend.
    pub backends: BTreeMap<String, Counts>,
    /// The backends' versions.
    pub versions: BTreeMap<String, String>,
    /// The cases that did not pass.
    pub not_passing: Vec<NotPassing>,
    /// How many models that come without data were run on inputs that were made up.
    pub made_up: u64,
    /// The sizes that models leave open and nobody gave.
    pub drawn: Vec<Drawn>,
    /// What oracles besides the reference were asked.
    pub asked: Vec<OracleRecord>,
    /// The models with operators that nobody here knows.
    pub unjudged: Vec<Unjudged>,
    /// The models, given as such, of which the inputs do not run all: the other side of an If, a loop without turns.
    pub not_run: Vec<Untried>,
    /// By backend and kind, the faults of its processes that no case shows in a fresh one: it died of what an earlier case left behind,
    /// or after its last one.
    pub late_faults: LateFaults,
    /// By backend, the cases in which a process died so, of a kind that counts. What died after its last case is in none.
    pub late_cases: BTreeMap<String, BTreeSet<PathBuf>>,
    /// The models that were run without the shapes that they declare of outputs and values between, for these are wrong.
    pub misdeclared: Vec<Misdeclared>,
    /// Every result, for reports.
    #[serde(skip)]
    pub results: Vec<TestCase>,
}

impl Replayed {
    pub(super) fn add(&mut self, case: PathBuf, backend: String, judgement: Judgement) {
        let Judgement { grade, why, signatures, names_suspects } = judgement;
        *self.backends.entry(backend.clone()).or_default().of(grade) += 1;
        let told = match grade {
            Grade::Pass | Grade::Plausible | Grade::Suspect => TestResult::Passed,
            Grade::Undecidable | Grade::NoReference | Grade::Unsupported => TestResult::Skipped(why.clone()),
            Grade::Trouble => TestResult::Error(grade.name().to_owned(), why.clone()),
            failed => TestResult::Failed(failed.name().to_owned(), why.clone()),
        };
        self.results.push(TestCase {
            class: backend.clone(),
            name: case.display().to_string(),
            result: told,
        });
        if grade != Grade::Pass {
            self.not_passing.push(NotPassing {
                case,
                backend,
                outcome: grade,
                why,
                signatures,
                names_suspects,
            });
        }
    }

    /// The cases that cannot be used, and why; each once.
    pub fn broken(&self) -> Vec<&NotPassing> {
        let mut broken: Vec<&NotPassing> =
            self.not_passing.iter().filter(|case| case.outcome == Grade::Broken).collect();
        broken.dedup_by(|a, b| a.case == b.case);
        broken
    }

    /// Where something went wrong on this side.
    pub fn troubles(&self) -> impl Iterator<Item = &NotPassing> {
        self.not_passing.iter().filter(|case| case.outcome == Grade::Trouble)
    }

    /// The backends that gave nothing that was compared.
    pub fn nothing_compared(&self) -> impl Iterator<Item = &str> {
        self.backends.iter().filter(|(_, counts)| !counts.has_compared()).map(|(name, _)| name.as_str())
    }
}
