//! What the oracles besides the reference say of a saved case or a model of a user.

use std::path::PathBuf;

use oracles::{Check, Finding, Verdict};
use serde::Serialize;
use triage::folder::About;
use triage::oracle::OracleAnswer;

use super::result::{Grade, Judgement};
use super::verdict;

/// What came of one question of an oracle about a case on a backend.
#[derive(Clone, Debug, Serialize)]
pub struct OracleRecord {
    /// The case.
    pub case: PathBuf,
    /// The backend.
    pub backend: String,
    /// Who asked.
    pub oracle: String,
    /// What: a relation, a level, a place.
    pub question: String,
    /// What came of it; `None` where the question does not apply to the case.
    pub outcome: Option<Grade>,
    /// Why, where it did not pass.
    pub why: String,
    /// What a campaign calls that which is found.
    pub signatures: Vec<String>,
}

/// What came of one question.
#[derive(Clone, Debug)]
pub(super) struct OracleResult {
    check: Check,
    judgement: Option<Judgement>,
}

impl OracleResult {
    pub(super) fn of(answer: OracleAnswer) -> Self {
        let judgement = answer.verdict.map(|judged| named_verdict(&judged));
        Self { check: answer.check, judgement }
    }

    /// What it means for the whole case: nothing where the question does not apply, or has no answer on the other form
    /// of the model.
    pub(super) fn weight(&self) -> Option<Judgement> {
        let judgement = self.judgement.clone()?;
        if judgement.grade != Grade::Pass && !judgement.grade.is_wrong() {
            return None;
        }
        let why = if judgement.why.is_empty() {
            String::new()
        } else {
            format!("{}: {}", self.check, judgement.why)
        };
        Some(Judgement { why, ..judgement })
    }

    pub(super) fn about(self, case: PathBuf, backend: String) -> OracleRecord {
        let Self { check: Check { oracle, name: question }, judgement } = self;
        let outcome = judgement.as_ref().map(|judgement| judgement.grade);
        let (why, signatures) = judgement.map(|j| (j.why, j.signatures)).unwrap_or_default();
        OracleRecord { case, backend, oracle, question, outcome, why, signatures }
    }
}

/// The judgement of a verdict, by the name that its finding has.
pub(super) fn named_verdict(judged: &Verdict) -> Judgement {
    let signatures = match judged {
        Verdict::Bug(finding) => vec![finding.signature().to_string()],
        Verdict::Pass | Verdict::Incomparable(_) => Vec::new(),
    };
    Judgement { signatures, ..verdict(judged) }
}

/// The judgement of a question that a case was saved for, by the name of the finding that it was saved with, where that is of the same
/// kind: a campaign has reduced it first.
pub(super) fn as_saved(judgement: Judgement, judged: &Verdict, about: &About) -> Judgement {
    let Verdict::Bug(now) = judged else { return judgement };
    let is_same = |saved: &&Finding| {
        (&saved.backend, &saved.check, saved.symptom.kind()) == (&now.backend, &now.check, now.symptom.kind())
    };
    match about.findings.iter().find(is_same) {
        Some(saved) => Judgement { signatures: vec![saved.signature().to_string()], ..judgement },
        None => judgement,
    }
}
