//! Answers that are right and suspect, counted by who is to blame.

use std::collections::BTreeMap;

use harness::counts;
use harness::target::Target;
use oracles::{Culprit, Doubt};
use serde::{Deserialize, Serialize};
use triage::doubted::Doubted;

use crate::store::Place;

/// What is right and suspect: inside of its bounds, but further from the reference than good implementations are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Suspects {
    /// How many answers have suspect elements, by target. They are passes.
    pub answers: BTreeMap<String, u64>,
    /// The suspect answers that were taken apart to find who is to blame: all of the first cases, and some of the later ones.
    pub taken_apart: u64,
    /// How many operators were run alone for that.
    pub runs: u64,
    /// Who is to blame, by a name made of engine, operator and dtype.
    pub kinds: BTreeMap<String, SuspectKind>,
}

/// Suspect answers of one engine for which one kind of operator is to blame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuspectKind {
    /// The engine.
    pub backend: String,
    /// The operator that is suspect alone; `None` where none is, and the whole graph is.
    pub culprit: Option<Culprit>,
    /// How many answers.
    pub answers: u64,
    /// The number of the first case.
    pub first: u64,
    /// The target that gave the answer to it.
    pub target: String,
    /// What is suspect in it.
    pub example: Doubt,
    /// The saved case.
    pub saved: Option<SavedSuspect>,
}

/// A case that was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSuspect {
    /// Where: as it is stored, relative to the campaign's folder; in the report of a campaign with that before it, as
    /// of findings.
    pub folder: String,
    /// The name of its content.
    pub hash: String,
    /// The bytes that it added.
    pub bytes: u64,
}

impl SuspectKind {
    /// What it is called: engine, operator and dtype.
    pub fn name(&self) -> String {
        match &self.culprit {
            Some(Culprit { operator, dtype, .. }) => format!("{} | {operator} {dtype}", self.backend),
            None => format!("{} | in context", self.backend),
        }
    }

    /// Where the case is saved, relative to the campaign's folder.
    pub(crate) fn place(&self) -> Place {
        Place::of_suspect(&self.name(), self.first)
    }
}

impl Suspects {
    /// Counts a target's answer to the case of a number.
    pub(crate) fn add(&mut self, target: &Target, case: u64, doubted: &Doubted) {
        *self.answers.entry(target.name()).or_default() += 1;
        let (Some(blamed), Some(example)) = (&doubted.blamed, doubted.doubts.first()) else { return };
        self.taken_apart += 1;
        self.runs += blamed.runs;
        let culprits: Vec<Option<&Culprit>> = match &blamed.alone[..] {
            [] => vec![None],
            alone => alone.iter().map(Some).collect(),
        };
        for culprit in culprits {
            let kind = SuspectKind {
                backend: target.backend.clone(),
                culprit: culprit.cloned(),
                answers: 1,
                first: case,
                target: target.name(),
                example: example.clone(),
                saved: None,
            };
            self.take(kind);
        }
    }

    /// Adds those of other cases.
    pub(crate) fn merge(&mut self, more: Self) {
        counts::add(&mut self.answers, more.answers);
        self.taken_apart += more.taken_apart;
        self.runs += more.runs;
        more.kinds.into_values().for_each(|kind| self.take(kind));
    }

    fn take(&mut self, kind: SuspectKind) {
        match self.kinds.get_mut(&kind.name()) {
            Some(known) => {
                let answers = known.answers + kind.answers;
                if kind.first < known.first {
                    *known = kind;
                }
                known.answers = answers;
            }
            None => {
                self.kinds.insert(kind.name(), kind);
            }
        }
    }
}
