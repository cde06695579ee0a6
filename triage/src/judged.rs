//! Everything that came of a case on a target: what the reference says, and what the other oracles do.

use oracles::{Assessment, Finding, Verdict, assess};

use crate::allowance::Exam;
use crate::blame::Alone;
use crate::oracle::{Answer, AskError, Optimiser, Oracles, Question};
use crate::symptom_match::same_kind;

/// What came of a case on a target.
#[derive(Default)]
pub struct Judged {
    /// The verdict by the reference, or by the rules of the standard; `None` where that was not asked.
    pub verdict: Option<Verdict>,
    /// How its outputs compare with the reference.
    pub comparisons: Vec<interp::Comparison>,
    /// The culprit of a bug alone, with its inputs, where it fails alone.
    pub alone: Option<Alone>,
    /// What the other oracles say.
    pub answers: Vec<Answer>,
}

impl Judged {
    /// Asks all oracles about a case that has run.
    pub fn of(oracles: &Oracles, question: &Question<'_>) -> Result<Self, AskError> {
        let Question { target, case, outcome, stderr, expected, suspect, .. } = *question;
        let answers = oracles.ask(question)?;
        let mut judged = Self { answers, ..Self::default() };
        if oracles.differential {
            let Assessment { verdict, comparisons } =
                assess(&target.backend, &target.level, outcome, expected);
            judged.comparisons = comparisons;
            let exam = Exam::new(target, outcome, stderr, expected);
            let (verdict, alone) =
                suspect.conclude(target, case.all_defined, verdict.with_stderr(stderr), &exam)?;
            if !judged.is_the_optimisers(&verdict) {
                (judged.verdict, judged.alone) = (Some(verdict), alone);
            }
        }
        Ok(judged)
    }

    /// Whether a bug is one that the optimiser oracle has already told, with the level that is to blame. Another culprit is
    /// another bug.
    fn is_the_optimisers(&self, verdict: &Verdict) -> bool {
        let Verdict::Bug(finding) = verdict else { return false };
        self.answers.iter().filter(|answer| answer.check.oracle == Optimiser::NAME).any(|answer| {
            matches!(&answer.verdict, Some(Verdict::Bug(told))
                if told.culprit == finding.culprit && same_kind(&told.symptom, &finding.symptom))
        })
    }

    /// A verdict, and nothing else.
    pub fn only(verdict: Verdict) -> Self {
        Self { verdict: Some(verdict), ..Self::default() }
    }

    /// All verdicts.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.verdict.iter().chain(self.answers.iter().filter_map(|answer| answer.verdict.as_ref()))
    }

    /// The answer to the same question that another target's finding is one to; `None` for the reference.
    pub fn answer_on(&self, finding: &Finding) -> Option<&Answer> {
        let check = finding.check.as_ref()?;
        self.answers.iter().find(|answer| answer.check == *check)
    }

    /// The verdict on the same question.
    pub fn verdict_on(&self, finding: &Finding) -> Option<&Verdict> {
        match &finding.check {
            Some(_) => self.answer_on(finding)?.verdict.as_ref(),
            None => self.verdict.as_ref(),
        }
    }

    /// The culprit of a finding alone.
    pub fn alone(&self, finding: &Finding) -> Option<&Alone> {
        match &finding.check {
            Some(_) => self.answer_on(finding)?.alone.as_ref(),
            None => self.alone.as_ref(),
        }
    }
}
