//! The optimiser oracle: is it the optimiser that makes an answer wrong, and from which level on?
//!
//! Comparison with the reference says at each level whether an answer is wrong. This oracle says which level is to
//! blame. Where a level is wrong, the levels below it run too, from the unoptimised one upwards. If that is right, the
//! first level that is wrong in the same way is the culprit, and the finding is said to be of that level. A
//! crash or a refusal at one level alone is a finding like any other. If the unoptimised model is wrong too, the
//! optimiser is not at fault, and the finding is left to the reference.
//!
//! Two answers within the bounds agree, however their bits differ: a fusion may round elsewhere.

use onnx::CaseFolder;
use oracles::{Check, Expected, Verdict, Why, judge};
use worker::Outcome;

use super::saved::Saved;
use super::{AskError, Oracle, OracleAnswer, Question};
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
        let own =
            judge(&target.backend, &target.level, question.outcome, expected).with_stderr(question.stderr);
        let mut answer = OracleAnswer::inapplicable(check(&target.level));
        if !matches!(own, Verdict::Bug(_)) {
            return Ok(vec![OracleAnswer { verdict: Some(own), ..answer }]);
        }
        let mut culprit = (target.clone(), own, question.outcome.clone(), question.stderr.to_owned());
        for (number, lower) in below.iter().enumerate() {
            let ran = lower.run(&question.case.onnx, &question.case.inputs, question.interface)?;
            let verdict = verdict(lower, &ran.outcome, expected).with_stderr(&ran.stderr);
            if is_same(&verdict, &culprit.1) {
                if number == 0 {
                    return Ok(vec![OracleAnswer { verdict: Some(not_its_fault()), ..answer }]);
                }
                culprit = (lower.clone(), verdict, ran.outcome, ran.stderr);
                break;
            }
        }
        let (target, verdict, outcome, stderr) = culprit;
        answer.check = check(&target.level);
        let exam = Exam::new(&target, &outcome, &stderr, expected);
        let (mut verdict, alone) =
            question.suspect.conclude(&target, question.case.all_defined, verdict, &exam)?;
        if let Verdict::Bug(finding) = &mut verdict {
            finding.check = Some(answer.check.clone());
            finding.detail = format!("not at `{}`: {}", below[0].level, finding.detail);
        }
        Ok(vec![OracleAnswer { verdict: Some(verdict), alone, ..answer }])
    }
}

fn verdict(target: &Target, outcome: &Outcome, expected: &Expected<'_>) -> Verdict {
    judge(&target.backend, &target.level, outcome, expected)
}

/// Whether two verdicts are findings of one kind.
fn is_same(one: &Verdict, other: &Verdict) -> bool {
    match (one, other) {
        (Verdict::Bug(one), Verdict::Bug(other)) => same_kind(&one.symptom, &other.symptom),
        _ => false,
    }
}

/// Asks of a saved case whether this level is wrong and the unoptimised one is not.
pub(crate) fn replay(folder: &CaseFolder, check: &Check, target: &Target) -> Result<Verdict, String> {
    let culprit =
        target.at_level(&check.name).ok_or_else(|| format!("there is no level `{}`", check.name))?;
    let below = culprit.below();
    let unoptimised = below.first().ok_or("the level is the unoptimised one")?;
    let saved = Saved::load(folder, target.profile)?;
    let judged = |target: &Target| Ok::<_, String>(verdict(target, &saved.run(target)?, &saved.expected()));
    let (plain, optimised) = (judged(unoptimised)?, judged(&culprit)?);
    Ok(if is_same(&plain, &optimised) { not_its_fault() } else { optimised })
}

fn not_its_fault() -> Verdict {
    Verdict::Incomparable(Why::Undecided("the unoptimised model is wrong too".to_owned()))
}
