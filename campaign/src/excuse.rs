//! What looks like a finding and is none: what an engine may do.

use interp::Evaluation;
use ir::DType;
use oracles::{Finding, Symptom, Why};

use crate::target::Target;

/// Why a finding says nothing about the target, if it does not: an engine may refuse what is undefined, and may be as
/// narrow as it declares. `exceeds_i32` is only asked of a target that shortens integers.
pub(crate) fn excuse(
    target: &Target,
    finding: &Finding,
    is_defined: bool,
    exceeds_i32: impl FnOnce() -> bool,
) -> Option<Why> {
    if !is_defined && matches!(finding.symptom, Symptom::Rejected { .. }) {
        return Some(Why::Undefined);
    }
    let is_too_wide = target.shortens_integers() && exceeds_i32();
    is_too_wide
        .then(|| Why::Widened(format!("{} computes i64 as i32, and a value does not fit", target.backend)))
}

/// Whether an i64 value of an evaluation with all its values is beyond what i32 holds.
pub(crate) fn exceeds_i32(evaluation: &Evaluation) -> bool {
    let range = i128::from(i32::MIN)..=i128::from(i32::MAX);
    let mut wide = evaluation.taps.values().filter(|t| t.tensor.dtype() == DType::I64);
    wide.any(|t| t.tensor.to_i128s().iter().any(|v| !range.contains(v)))
}
