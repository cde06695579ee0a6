//! What an engine makes of a case whose model is not, or may not be, valid.

use ir::Interface;
use oracles::{Symptom, Verdict, Why, judge_refusal, judge_survival};
use worker::{Outcome, WorkerError};

use crate::case::Case;
use crate::target::Target;
use crate::validity::{Expectation, Relaxed, Validity};

/// Judges an outcome by what is expected.
pub fn judge(target: &Target, outcome: &Outcome, relaxed: &Relaxed) -> Verdict {
    let (backend, level) = (&target.backend, &target.level);
    match relaxed.expected {
        Expectation::Refusal => judge_refusal(backend, level, outcome, &relaxed.rule, &relaxed.why),
        Expectation::Survival => judge_survival(backend, level, outcome, &relaxed.why),
    }
}

/// Runs a case and judges the answer. A fault that the valid model shows as well says nothing about the rule; it is
/// found, and blamed on an operator, at the level of valid cases.
pub fn ask(target: &Target, case: &Case, relaxed: &Relaxed) -> Result<Verdict, WorkerError> {
    if let Some(why) = target.lacks(&case.model) {
        return Ok(Verdict::Incomparable(Why::Unsupported(why)));
    }
    let ran = target.run(&relaxed.onnx, &case.inputs, &relaxed.wanted())?;
    let mut verdict = judge(target, &ran.outcome, relaxed).with_stderr(&ran.stderr);
    if relaxed.level == Validity::Violate && is_fault(&verdict) {
        let valid = target.run(&case.onnx, &case.inputs, &Interface::of(&case.model))?;
        if matches!(valid.outcome, Outcome::Fault(_)) {
            verdict = Verdict::Incomparable(Why::Undecided("the valid model has a fault too".to_owned()));
        }
    }
    Ok(verdict)
}

fn is_fault(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Bug(finding) if matches!(finding.symptom, Symptom::Fault { .. }))
}
