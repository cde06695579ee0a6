//! The judgement by outputs that somebody has stored, and a fixed tolerance.

use ir::Tensor;
use onnx::case::NamedDatum;
use oracles::{Expected, Tolerance, Verdict, Why};
use worker::Outcome;

use super::result::{Grade, Judgement};
use super::verdict;
use harness::target::Target;

/// The judgement by expected outputs and a fixed tolerance. If the case has a dtype that the target does not say that
/// it takes, everything is excused. If the target computes one of its dtypes in a narrower one, wrong elements are
/// excused, and wrong shapes are not.
pub(super) fn fixed(
    target: &Target,
    outcome: &Outcome,
    inputs: &[NamedDatum],
    wanted: &[NamedDatum],
    tolerance: Option<Tolerance>,
) -> Judgement {
    let judged = by_outputs(target, outcome, wanted, tolerance);
    if !judged.grade.is_wrong() {
        return judged;
    }
    let tensors = || inputs.iter().chain(wanted).flat_map(|value| value.datum.tensors());
    if let Some(why) = tensors().find_map(|tensor| target.declines_dtype(tensor.dtype())) {
        return Judgement::new(Grade::Unsupported, format!("{why}: {}", judged.why));
    }
    let narrower = tensors().map(Tensor::dtype).find(|&dtype| !target.support.dtypes.contains(dtype));
    match (narrower, outcome) {
        (Some(dtype), Outcome::Outputs(outputs)) if has_shapes(outputs, wanted) => {
            let why = format!("{} does not compute in {dtype}, and {}", target.backend, judged.why);
            verdict(&Verdict::Incomparable(Why::Widened(why)))
        }
        _ => judged,
    }
}

/// The judgement that excuses nothing.
fn by_outputs(
    target: &Target,
    outcome: &Outcome,
    wanted: &[NamedDatum],
    tolerance: Option<Tolerance>,
) -> Judgement {
    let Outcome::Outputs(outputs) = outcome else {
        let none = Expected { names: &[], outputs: &[], profile: target.profile };
        return verdict(&target.judge(outcome, &none));
    };
    match close(outputs, wanted, tolerance) {
        Ok(()) => Judgement::new(Grade::Pass, ""),
        Err(why) => Judgement::new(Grade::Mismatch, why),
    }
}

/// Whether the outputs are there in the shapes that are wanted: what an engine computes in explains digits alone.
fn has_shapes(outputs: &[(String, Tensor)], wanted: &[NamedDatum]) -> bool {
    wanted.iter().flat_map(|value| value.datum.clone().parts(&value.name)).all(|(name, tensor)| {
        outputs.iter().any(|(other, given)| *other == name && given.shape() == tensor.shape())
    })
}

/// What is not within a tolerance of the stored outputs.
pub(crate) fn close(
    outputs: &[(String, Tensor)],
    stored: &[NamedDatum],
    tolerance: Option<Tolerance>,
) -> Result<(), String> {
    for (name, tensor) in stored.iter().flat_map(|value| value.datum.clone().parts(&value.name)) {
        let actual = outputs.iter().find(|(n, _)| *n == name).map(|(_, actual)| actual);
        let actual = actual.ok_or_else(|| format!("output `{name}` is missing"))?;
        let tolerance = tolerance.unwrap_or_else(|| Tolerance::onnx(tensor.dtype()));
        tolerance.compare(&tensor, actual).map_err(|(_, why)| format!("output `{name}` {why}"))?;
    }
    Ok(())
}
