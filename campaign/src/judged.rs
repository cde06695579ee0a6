//! Everything that came of a case on a target: what the reference says, and what the other oracles do.

use ir::{DType, Tensor};
use oracles::{Assessment, Expected, Finding, Verdict, Why, assess};

use crate::blame::{Alone, Suspicion};
use crate::case::Case;
use crate::fuzz::Plan;
use crate::oracle::{Answer, AskError, Optimiser, Question};
use crate::target::Target;

/// What came of a case on a target.
#[derive(Default)]
pub(crate) struct Judged {
    /// The verdict by the reference, or by the rules of the standard; `None` where that was not asked.
    pub(crate) verdict: Option<Verdict>,
    /// How its outputs compare with the reference.
    pub(crate) comparisons: Vec<interp::Comparison>,
    /// The culprit of a bug alone, with its inputs, where it fails alone.
    pub(crate) alone: Option<Alone>,
    /// What the other oracles say.
    pub(crate) answers: Vec<Answer>,
}

impl Judged {
    /// Runs a case and asks all oracles.
    pub(crate) fn of(
        plan: &Plan<'_>,
        target: &Target,
        case: &Case,
        inputs: &[Tensor],
        outputs: &[(String, DType)],
        expected: &Expected<'_>,
    ) -> Result<Self, AskError> {
        if let Some(why) = target.lacks(&case.model) {
            return Ok(Self::only(Verdict::Incomparable(Why::Unsupported(why))));
        }
        let ran = target.run(&case.onnx, &case.inputs, outputs)?;
        let mut judged = Self::default();
        let stream = plan.maker.stream(case.index);
        let question = Question {
            target,
            targets: &plan.targets,
            case,
            inputs,
            expected,
            outcome: &ran.outcome,
            seconds: ran.engine_seconds,
            stream,
        };
        judged.answers = plan.oracles.ask(&question)?;
        if plan.oracles.differential {
            let Assessment { verdict, comparisons } =
                assess(&target.backend, &target.level, &ran.outcome, expected);
            let judge = Suspicion { target, model: &case.model, inputs, all_defined: case.all_defined };
            judged.comparisons = comparisons;
            if !judged.is_the_optimisers(&verdict) {
                let (verdict, alone) = judge.settle(verdict)?;
                (judged.verdict, judged.alone) = (Some(verdict), alone);
            }
        }
        Ok(judged)
    }

    /// Whether a bug is one that the optimiser oracle has already told, with the level that is to blame.
    fn is_the_optimisers(&self, verdict: &Verdict) -> bool {
        let is_told = |answer: &Answer| {
            answer.check.oracle == Optimiser::NAME && matches!(answer.verdict, Some(Verdict::Bug(_)))
        };
        matches!(verdict, Verdict::Bug(_)) && self.answers.iter().any(is_told)
    }

    /// A verdict, and nothing else.
    pub(crate) fn only(verdict: Verdict) -> Self {
        Self { verdict: Some(verdict), ..Self::default() }
    }

    /// All verdicts.
    pub(crate) fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.verdict.iter().chain(self.answers.iter().filter_map(|answer| answer.verdict.as_ref()))
    }

    /// The answer to the same question that another target's finding is one to; `None` for the reference.
    pub(crate) fn answer_on(&self, finding: &Finding) -> Option<&Answer> {
        let check = finding.check.as_ref()?;
        self.answers.iter().find(|answer| answer.check == *check)
    }

    /// The verdict on the same question.
    pub(crate) fn verdict_on(&self, finding: &Finding) -> Option<&Verdict> {
        match &finding.check {
            Some(_) => self.answer_on(finding)?.verdict.as_ref(),
            None => self.verdict.as_ref(),
        }
    }

    /// The culprit of a finding alone.
    pub(crate) fn alone(&self, finding: &Finding) -> Option<&Alone> {
        match &finding.check {
            Some(_) => self.answer_on(finding)?.alone.as_ref(),
            None => self.alone.as_ref(),
        }
    }
}
