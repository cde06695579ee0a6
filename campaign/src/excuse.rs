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

#[cfg(test)]
mod tests {
    use backends::engines::models::OnModels;

    use super::*;
    use crate::reference::Reference;

    #[test]
    fn only_what_is_undefined_may_be_refused_and_nothing_may_crash() {
        let target = &Target::here(Box::new(OnModels(Reference)))[0];
        let finding = |symptom: &str| -> Finding {
            let text = format!(
                r#"{{"backend":"x","level":"l","symptom":{symptom},"culprit":null,"hidden_by_taps":false,"detail":""}}"#
            );
            serde_json::from_str(&text).expect("a finding")
        };
        let refusal = finding(r#"{"rejected":{"stage":"load","message":"no"}}"#);
        let crash = finding(r#"{"fault":{"kind":"signal","place":"SIGSEGV"}}"#);
        let excused = |finding, is_defined| excuse(target, finding, is_defined, || true).is_some();
        assert!(excused(&refusal, false) && !excused(&refusal, true));
        assert!(!excused(&crash, false) && !excused(&crash, true));
    }
}
