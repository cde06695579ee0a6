//! The optimiser oracle: is it the optimiser that makes an answer wrong, and from which level on?
//!
//! Comparison with the reference says at each level whether an answer is wrong. This oracle says which level is to
//! blame. If a level is wrong, the levels below it run too, from the unoptimised one upwards. If the unoptimised level
//! is right, the first level that is wrong in the same way is the culprit, and the finding is reported for that level.
//! A crash or a refusal at a single level is a finding like any other. If the unoptimised level is wrong too, in
//! whatever way, or lacks something, nothing shows that the optimiser is at fault, and the finding is left to the
//! reference.
//!
//! Two answers within the bounds agree, however their bits differ: a fusion may round elsewhere.

use onnx::CaseFolder;
use oracles::{Check, Verdict, Why};

use super::saved::Saved;
use super::{AskError, NoReplay, Oracle, OracleAnswer, Question};
use crate::allowance::Exam;
use crate::symptom_match::same_kind;
use harness::target::Target;

/// Is it the optimiser?
pub struct Optimiser;

impl Optimiser {
    /// The oracle's name.
    pub const NAME: &'static str = "optimiser";
}

/// The question whether this level is to blame.
pub(crate) fn check(level: &str) -> Check {
    Check { oracle: Optimiser::NAME.to_owned(), name: level.to_owned() }
}

impl Oracle for Optimiser {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn questions(&self) -> Vec<String> {
        Vec::new()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Vec<OracleAnswer>, AskError> {
        let Question { target, expected, .. } = *question;
        let below = target.below();
        if below.is_empty() {
            return Ok(Vec::new());
        }
        let own = target.judge(question.outcome, expected).with_stderr(question.stderr);
        let mut answer = OracleAnswer::inapplicable(check(&target.level));
        if !matches!(own, Verdict::Bug(_)) {
            return Ok(vec![OracleAnswer { verdict: Some(own), ..answer }]);
        }
        let mut culprit = (target.clone(), own, question.outcome.clone(), question.stderr.to_owned());
        for (number, lower) in below.iter().enumerate() {
            let ran = lower.run(&question.case.onnx, &question.case.inputs, question.interface)?;
            let verdict = lower.judge(&ran.outcome, expected).with_stderr(&ran.stderr);
            if number == 0 && !is_answered(&verdict) {
                return Ok(vec![OracleAnswer { verdict: Some(not_its_fault()), ..answer }]);
            }
            if is_same(&verdict, &culprit.1) {
                culprit = (lower.clone(), verdict, ran.outcome, ran.stderr);
                break;
            }
        }
        let (target, verdict, outcome, stderr) = culprit;
        answer.check = check(&target.level);
        let exam = Exam::of(&target, &outcome, &stderr, expected, verdict);
        let (mut verdict, alone) = question.suspect.conclude(&target, question.case.all_defined, &exam)?;
        if let Verdict::Bug(finding) = &mut verdict {
            finding.check = Some(answer.check.clone());
            finding.detail = format!("not at `{}`: {}", below[0].level, finding.detail);
        }
        Ok(vec![OracleAnswer { verdict: Some(verdict), alone, ..answer }])
    }
}

/// Whether two verdicts are findings of one kind.
fn is_same(one: &Verdict, other: &Verdict) -> bool {
    match (one, other) {
        (Verdict::Bug(one), Verdict::Bug(other)) => same_kind(&one.symptom, &other.symptom),
        _ => false,
    }
}

/// Whether there are outputs, and none is known to be wrong.
fn is_answered(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Bug(_) | Verdict::Incomparable(Why::Unsupported(_) | Why::Widened(_)) => false,
        Verdict::Pass | Verdict::Incomparable(Why::Undecidable | Why::Undefined | Why::Undecided(_)) => true,
    }
}

/// Asks about a saved case whether this level is wrong and the unoptimised one is not.
pub(crate) fn replay(folder: &CaseFolder, check: &Check, target: &Target) -> Result<Verdict, NoReplay> {
    let no_level = || NoReplay::Inapplicable(format!("there is no level `{}`", check.name));
    let culprit = target.at_level(&check.name).ok_or_else(no_level)?;
    let below = culprit.below();
    let Some(unoptimised) = below.first() else {
        return Err(NoReplay::Inapplicable("the level is the unoptimised one".to_owned()));
    };
    let saved = Saved::load(folder, target.profile)?;
    let (plain, optimised) = (saved.verdict(unoptimised)?, saved.verdict(&culprit)?);
    let is_accused = !matches!(optimised, Verdict::Bug(_)) || is_answered(&plain);
    Ok(if is_accused { optimised } else { not_its_fault() })
}

fn not_its_fault() -> Verdict {
    Verdict::Incomparable(Why::Undecided("the unoptimised model is not answered right either".to_owned()))
}
