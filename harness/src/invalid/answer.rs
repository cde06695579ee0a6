//! How an engine answers a case whose model is not valid, or may not be.

use ir::Interface;
use oracles::{Verdict, Why, judge_refusal, judge_survival};
use worker::{Outcome, WorkerError};

use crate::case::Case;
use crate::target::Target;
use crate::validity::{Expectation, Relaxed, Validity};

/// Judges an outcome by what is expected.
pub fn judge(target: &Target, outcome: &Outcome, relaxed: &Relaxed) -> Verdict {
    let (backend, level) = (&target.backend, &target.level);
    match relaxed.expected {
        Expectation::Refusal => judge_refusal(backend, level, outcome, &relaxed.broken(), &relaxed.why),
        Expectation::Survival => judge_survival(backend, level, outcome, &relaxed.why),
    }
}

/// Runs a case and judges the answer. A fault that the valid model shows too says nothing about the rule; the level of
/// valid cases finds it, and blames an operator. A refusal says nothing either if the valid model gives no outputs.
pub fn ask(target: &Target, case: &Case, relaxed: &Relaxed) -> Result<Verdict, WorkerError> {
    if let Some(why) = target.lacks_of(case) {
        return Ok(Verdict::Incomparable(Why::Unsupported(why)));
    }
    let ran = target.run(&relaxed.onnx, &case.inputs, &relaxed.wanted())?;
    let verdict = judge(target, &ran.outcome, relaxed).with_stderr(&ran.stderr);
    if relaxed.level != Validity::Violate || matches!(ran.outcome, Outcome::Outputs(_)) {
        return Ok(verdict);
    }
    let valid = target.run(&case.onnx, &case.inputs, &Interface::of(&case.model))?;
    Ok(same_without(&ran.outcome, &valid.outcome).unwrap_or(verdict))
}

/// The verdict, if the answer to the valid model shows that the other answer has nothing to do with the rule.
fn same_without(invalid: &Outcome, valid: &Outcome) -> Option<Verdict> {
    let why = match (invalid, valid) {
        (Outcome::Outputs(_), _)
        | (_, Outcome::Outputs(_))
        | (Outcome::Fault(_), Outcome::Rejected { .. } | Outcome::Unsupported { .. }) => return None,
        (Outcome::Fault(_), Outcome::Fault(_)) => "the valid model has a fault too",
        (Outcome::Rejected { .. } | Outcome::Unsupported { .. }, _) => {
            "the valid model gives no outputs either"
        }
    };
    Some(Verdict::Incomparable(Why::Undecided(why.to_owned())))
}

#[cfg(test)]
mod tests {
    use worker::{Fault, Stage};

    use super::*;

    #[test]
    fn an_answer_that_the_valid_model_gets_too_says_nothing_about_the_rule() {
        let outputs = Outcome::Outputs(Vec::new());
        let refused = Outcome::Rejected { stage: Stage::Load, message: "no".to_owned() };
        let lacking = Outcome::Unsupported { why: "no".to_owned() };
        let fault = Outcome::Fault(Fault::Timeout);
        for (invalid, valid, says_nothing) in [
            (&refused, &outputs, false),
            (&refused, &refused, true),
            (&refused, &lacking, true),
            (&refused, &fault, true),
            (&lacking, &lacking, true),
            (&fault, &outputs, false),
            (&fault, &refused, false),
            (&fault, &fault, true),
            (&outputs, &refused, false),
        ] {
            assert_eq!(same_without(invalid, valid).is_some(), says_nothing, "{invalid:?} {valid:?}");
        }
    }
}
