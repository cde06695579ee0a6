//! Everything that came of a case on a target: the verdict by the reference, and by the other oracles.

use oracles::{Assessment, Finding, Verdict};

use crate::allowance::Exam;
use crate::blame::Alone;
use crate::doubted::{Doubted, is_taken_apart};
use crate::oracle::optimiser::{self, Optimiser};
use crate::oracle::{AskError, OracleAnswer, Oracles, Question, Rewritten};
use crate::peel::{NamedFinding, Peeled, named, optimising_level};
use crate::smaller::Smaller;
use crate::symptom_match::same_kind;
use harness::target::Target;

/// What came of a case on a target.
#[derive(Default)]
pub struct Judged {
    /// The verdict by the reference, or by the rules of the standard; `None` where that was not asked.
    pub verdict: Option<Verdict>,
    /// How its outputs compare with the reference.
    pub comparisons: Vec<interp::Comparison>,
    /// The suspect elements of outputs that are right.
    pub doubted: Option<Doubted>,
    /// The case that the verdict's bug was reduced to.
    pub smaller: Option<Smaller>,
    /// What else is wrong by the reference: behind that bug, or hidden by the graph.
    pub behind: Vec<NamedFinding>,
    /// What the other oracles say.
    pub answers: Vec<OracleAnswer>,
    /// How many candidates it took to name the findings.
    pub tries: u64,
}

/// A finding, with what belongs to it.
pub struct FindingRecord<'j> {
    /// The finding.
    pub finding: &'j Finding,
    /// Whether an oracle said this about the whole case. If not, it showed only behind another finding.
    pub is_verdict: bool,
    /// A smaller case that shows it.
    pub smaller: Option<Smaller>,
    /// The other form of the model that it showed on.
    pub rewritten: Option<&'j Rewritten>,
}

impl Judged {
    /// Asks all oracles about a case that has run.
    pub fn of(oracles: &Oracles, question: &Question<'_>) -> Result<Self, AskError> {
        let Question { target, case, outcome, stderr, expected, suspect, .. } = *question;
        let answers = oracles.ask(question)?;
        let mut judged = Self { answers, ..Self::default() };
        if oracles.differential {
            let assessment = target.assess(outcome, expected);
            let mut doubted = suspect.doubted(target, &assessment, outcome, expected);
            if let Some(doubted) = doubted.as_mut().filter(|_| is_taken_apart(case.index)) {
                let wrong = suspect.take_apart(target, doubted, question.stop)?;
                judged.keep(target, wrong)?;
            }
            judged.doubted = doubted;
            let Assessment { verdict, comparisons } = assessment;
            judged.comparisons = comparisons;
            let exam = Exam::of(target, outcome, stderr, expected, verdict);
            let peeled = suspect.peel(target, case.all_defined, &exam, question.stop)?;
            judged.take(target, peeled)?;
        }
        judged.name_answers(question)?;
        Ok(judged)
    }

    /// Takes the findings by the reference, except those that the optimiser oracle has reported.
    fn take(&mut self, target: &Target, peeled: Peeled) -> Result<(), AskError> {
        let (first, behind) = match peeled {
            Peeled::Nothing(verdict) => {
                self.verdict = Some(verdict);
                return Ok(());
            }
            Peeled::Found(first, behind) => (first, behind),
        };
        self.tries += first.tries;
        if !self.is_the_optimisers(&first.finding) {
            (self.verdict, self.smaller) = (Some(Verdict::Bug(Box::new(first.finding))), first.smaller);
        }
        self.keep(target, behind)
    }

    /// Takes the findings behind the first one, or hidden by the graph, in the same way.
    fn keep(&mut self, target: &Target, behind: Vec<NamedFinding>) -> Result<(), AskError> {
        for mut found in behind {
            self.tries += found.tries;
            if self.is_the_optimisers(&found.finding) {
                continue;
            }
            if self.is_asked_for(Optimiser::NAME) {
                let level = optimising_level(target, &found)?;
                let check = level.map(|level| optimiser::check(&level));
                if let Some(smaller) = &mut found.smaller {
                    smaller.finding.check.clone_from(&check);
                }
                found.finding.check = check;
            }
            self.behind.push(found);
        }
        Ok(())
    }

    /// Whether an oracle was asked about the case.
    fn is_asked_for(&self, oracle: &str) -> bool {
        self.answers.iter().any(|answer| answer.check.oracle == oracle)
    }

    /// Names the findings of the other oracles that are about an operator alone, or about the optimiser's work on the
    /// case. Other questions are about more than the case.
    fn name_answers(&mut self, question: &Question<'_>) -> Result<(), AskError> {
        for answer in &mut self.answers {
            let Some(Verdict::Bug(finding)) = &mut answer.verdict else { continue };
            let Some(target) = question.target.at_level(&finding.level) else { continue };
            let is_optimisers = answer.check.oracle == Optimiser::NAME;
            if finding.telling_check().is_some() && !is_optimisers {
                continue;
            }
            let whole = if is_optimisers { question.suspect.flat(&target, finding)? } else { None };
            let found =
                named(&target, (**finding).clone(), answer.alone.take(), whole.as_ref(), question.stop)?;
            **finding = found.finding;
            answer.alone = found.smaller.map(Alone::from);
            self.tries += found.tries;
        }
        Ok(())
    }

    /// Whether the optimiser oracle has already reported a bug, with the level that is to blame. A bug with another
    /// culprit is another bug.
    fn is_the_optimisers(&self, finding: &Finding) -> bool {
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

    /// All findings: the verdict's, what is behind it, and those of the other oracles.
    pub fn told(&self) -> impl Iterator<Item = FindingRecord<'_>> {
        let of_verdict = self.verdict.iter().filter_map(|verdict| {
            let (finding, smaller) = (bug(verdict)?, self.smaller.clone());
            Some(FindingRecord { finding, is_verdict: true, smaller, rewritten: None })
        });
        let behind = self.behind.iter().map(|found| FindingRecord {
            finding: &found.finding,
            is_verdict: false,
            smaller: found.smaller.clone(),
            rewritten: None,
        });
        let of_answers = self.answers.iter().filter_map(|answer| {
            let finding = bug(answer.verdict.as_ref()?)?;
            let smaller = answer.alone.clone().map(|alone| alone.smaller(finding));
            Some(FindingRecord { finding, is_verdict: true, smaller, rewritten: answer.rewritten.as_ref() })
        });
        of_verdict.chain(behind).chain(of_answers)
    }

    /// The verdict on the question that led to a finding on another target.
    pub fn verdict_on(&self, finding: &Finding) -> Option<&Verdict> {
        match &finding.check {
            Some(check) => self.answers.iter().find(|answer| answer.check == *check)?.verdict.as_ref(),
            None => self.verdict.as_ref(),
        }
    }
}

fn bug(verdict: &Verdict) -> Option<&Finding> {
    match verdict {
        Verdict::Bug(finding) => Some(finding),
        Verdict::Pass | Verdict::Incomparable(_) => None,
    }
}
