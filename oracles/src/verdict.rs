//! Verdicts: pass, bug, or incomparable and why.

use serde::{Deserialize, Serialize};

use crate::signature::{Culprit, Signature, Symptom};

/// What an oracle makes of one engine's answer to one case.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// Every element that can be judged is right.
    Pass,
    /// The engine is wrong.
    Bug(Box<Finding>),
    /// The case says nothing about the engine.
    Incomparable(Why),
}

impl Verdict {
    /// A bug that nobody is blamed for yet.
    pub fn bug(backend: &str, level: &str, symptom: Symptom, detail: String) -> Self {
        Self::Bug(Box::new(Finding {
            backend: backend.to_owned(),
            level: level.to_owned(),
            check: None,
            symptom,
            culprit: None,
            hidden_by_taps: false,
            detail,
            worst: None,
        }))
    }
}

/// Why a case says nothing about an engine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The engine says that it lacks something.
    Unsupported(String),
    /// The engine declares that it computes in a narrower dtype, and the case needs the wider one.
    Widened(String),
    /// Not one element of the outputs is decidable.
    Undecidable,
    /// The engine refuses to run a case in which the specification leaves a value undefined (a division by zero,
    /// an index out of range), as it may.
    Undefined,
    /// Nobody can say what is right here.
    Undecided(String),
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsupported(what) => write!(f, "unsupported: {what}"),
            Self::Widened(what) => write!(f, "declared limitation: {what}"),
            Self::Undecided(why) => write!(f, "undecided: {why}"),
            Self::Undecidable => f.write_str("every element is undecidable"),
            Self::Undefined => f.write_str("a value is undefined, and the engine refuses to compute it"),
        }
    }
}

/// Something an engine got wrong.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The engine.
    pub backend: String,
    /// The optimisation level it ran at.
    pub level: String,
    /// The question that showed it; `None` for comparison with the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// What it did.
    pub symptom: Symptom,
    /// The operator at fault, as far as it could be narrowed down.
    pub culprit: Option<Culprit>,
    /// Whether the fault is gone when every value of the graph is an output: a fusion, or a value that is never stored.
    #[serde(default)]
    pub hidden_by_taps: bool,
    /// What happened, in a sentence or two for a person.
    pub detail: String,
    /// The element that is off by most, where elements are off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Worst>,
}

/// An element of an output that is off.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Worst {
    /// The output.
    pub output: String,
    /// The position of the element in row-major order.
    pub index: usize,
    /// What the engine gave, as a decimal number, `NaN` or `inf`: JSON has no such numbers.
    pub got: String,
    /// What is right.
    pub expected: String,
    /// By how much the engine may be off.
    pub bound: String,
    /// How many elements of the output are off.
    pub mismatches: usize,
    /// How many it has.
    pub elements: usize,
}

/// One question of an oracle that asks further questions about a case.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Check {
    /// The oracle.
    pub oracle: String,
    /// Which of its questions: the name of a relation, say.
    pub name: String,
}

impl std::fmt::Display for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.oracle, self.name)
    }
}

/// The name of the oracle that asks about a model that was written and read again.
pub const ROUND_TRIP: &str = "roundtrip";

impl Finding {
    /// The question that showed it, if that is part of what it is. What an operator does wrong alone is the same bug,
    /// whichever question showed it; but what is wrong with it when it was written and read again is right without.
    pub fn telling_check(&self) -> Option<&Check> {
        let is_alone = self.culprit.as_ref().is_some_and(|culprit| culprit.alone);
        self.check.as_ref().filter(|check| !is_alone || check.oracle == ROUND_TRIP)
    }

    /// Whether it is only the consequence of what the culprit does: a later operator refuses, or panics on, a wrong
    /// type. Which operator that is, and in which words, is the case's and not the fault's.
    pub fn is_consequence(&self) -> bool {
        let is_in_context = self.culprit.as_ref().is_some_and(|culprit| !culprit.alone);
        is_in_context && matches!(self.symptom, Symptom::Rejected { .. } | Symptom::Fault { .. })
    }

    /// Whether the engine refuses what it should take.
    pub fn is_refusal(&self) -> bool {
        matches!(self.symptom, Symptom::Rejected { .. })
    }

    /// What makes this finding the same as another.
    pub fn signature(&self) -> Signature {
        Signature::new(self)
    }
}

/// How many verdicts there were of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Tally {
    /// Passes.
    pub pass: u64,
    /// Bugs.
    pub bug: u64,
    /// Incomparable runs.
    pub incomparable: u64,
}

impl Tally {
    /// Adds the verdicts of another tally.
    pub fn merge(&mut self, more: Self) {
        self.pass += more.pass;
        self.bug += more.bug;
        self.incomparable += more.incomparable;
    }

    /// Counts one verdict.
    pub fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Pass => self.pass += 1,
            Verdict::Bug(_) => self.bug += 1,
            Verdict::Incomparable(_) => self.incomparable += 1,
        }
    }
}
