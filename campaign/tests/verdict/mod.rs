//! What running a model shows, before anyone is blamed for it.

use harness::{Target, case};
use interp::{Evaluation, Taps};
use ir::{Interface, Tensor};
use ops::Model;
use oracles::{Assessment, Expected, Verdict, assess};
use triage::allowance::Exam;

/// The verdict on a target's answer to a model.
pub(crate) fn verdict(target: &Target, model: &Model, inputs: &[Tensor]) -> Verdict {
    examined(target, model, inputs, |assessed, _| assessed.verdict)
}

/// What is made of the assessment of a target's answer to a model.
pub(crate) fn examined<T>(
    target: &Target,
    model: &Model,
    inputs: &[Tensor],
    made: impl FnOnce(Assessment, &Exam<'_>) -> T,
) -> T {
    let onnx = case::export(model).expect("a model");
    let ran = target.run(&onnx, &case::named(model, inputs.to_vec()), &Interface::of(model)).expect("a run");
    let evaluation = evaluated(target, model, inputs);
    let names: Vec<String> = model.graph.outputs.iter().map(|o| o.name.clone()).collect();
    let expected = Expected { names: &names, outputs: &evaluation.outputs, profile: target.profile };
    let exam = Exam::new(target, &ran.outcome, "", &expected);
    made(assess(&target.backend, &target.level, &ran.outcome, &expected), &exam)
}

/// What the reference says, with the bounds of a target's profile.
pub(crate) fn evaluated(target: &Target, model: &Model, inputs: &[Tensor]) -> Evaluation {
    interp::evaluate(model, inputs, target.profile, Taps::Outputs).expect("a reference")
}
