//! What looks like a finding and is none: what an engine may do.

use ir::{DType, NodeKind};
use ops::{Hazard, Operator};
use oracles::{Finding, Why};

use harness::isolate::Isolated;
use harness::target::Target;

/// Why a finding says nothing about the target, if it does not: an engine may refuse what is undefined, and may be as
/// narrow as it declares. Only where it is narrow the model is taken apart; where it cannot be, the target is excused.
pub fn allowed<'a>(
    target: &Target,
    finding: &Finding,
    is_defined: bool,
    isolated: impl FnOnce() -> Option<&'a Isolated>,
) -> Option<Why> {
    if !is_defined && finding.is_refusal() {
        return Some(Why::Undefined);
    }
    let is_too_wide = target.shortens_integers() && isolated().is_none_or(exceeds_i32);
    is_too_wide
        .then(|| Why::Widened(format!("{} computes i64 as i32, and a value does not fit", target.backend)))
}

/// Why a refusal says nothing about the target, if it does not, where no operator refuses the reference's values alone: the
/// engine may have computed other values, rightly, and one that is undefined.
pub fn allowed_in_context(finding: &Finding, isolated: &Isolated) -> Option<Why> {
    (finding.is_refusal() && may_be_undefined(isolated)).then_some(Why::Undefined)
}

/// Whether an integer is undecidable on which it depends whether an operator is defined: a divisor that may be 0, an index
/// that may be out of range. (With floats an operator that is undefined gives NaN, and refuses nothing.)
fn may_be_undefined(isolated: &Isolated) -> bool {
    let graph = &isolated.flat.graph;
    graph.nodes.iter().any(|node| {
        let NodeKind::Operator(op) = &node.kind else { return false };
        let types = graph.types(&node.inputs);
        op.hazards(&types).iter().any(|hazard| match *hazard {
            Hazard::Zero { operand } | Hazard::Outside { operand, .. } | Hazard::Perhaps { operand, .. } => {
                let value = node.inputs.get(operand).copied().flatten();
                let judged = value.and_then(|value| isolated.evaluation.taps.get(&value));
                judged.is_some_and(|judged| judged.tensor.dtype().is_int() && judged.undecidable() > 0)
            }
            Hazard::Always => false,
        })
    })
}

/// Whether an i64 value, those inside of functions included, is beyond what i32 holds.
fn exceeds_i32(isolated: &Isolated) -> bool {
    let range = i128::from(i32::MIN)..=i128::from(i32::MAX);
    let mut wide = isolated.evaluation.taps.values().filter(|t| t.tensor.dtype() == DType::I64);
    wide.any(|t| t.tensor.to_i128s().iter().any(|v| !range.contains(v)))
}

#[cfg(test)]
mod tests {
    use backends::engines::models::OnModels;
    use interp::Profile;
    use ir::{Tensor, Type};
    use ops::Model;

    use super::*;
    use harness::reference::Reference;

    #[test]
    fn only_what_is_undefined_may_be_refused_and_nothing_may_crash() {
        let target = &Target::here(Box::new(OnModels::new(Reference)))[0];
        let finding = |symptom: &str| -> Finding {
            let text = format!(
                r#"{{"backend":"x","level":"l","symptom":{symptom},"culprit":null,"hidden_by_taps":false,"detail":""}}"#
            );
            serde_json::from_str(&text).expect("a finding")
        };
        let refusal = finding(r#"{"rejected":{"stage":"load","message":"no"}}"#);
        let crash = finding(r#"{"fault":{"kind":"signal","place":"SIGSEGV"}}"#);
        let excused = |finding, is_defined| allowed(target, finding, is_defined, || None).is_some();
        assert!(excused(&refusal, false) && !excused(&refusal, true));
        assert!(!excused(&crash, false) && !excused(&crash, true));
    }

    #[test]
    fn a_remainder_by_what_may_be_zero_may_be_refused() {
        // What is normalised is 1, or a little less; then it is 0 as an integer.
        let normalised = r#"onnxsmith 1 opset 21
graph {
  %0: f32[1] = variable "x"
  %1: f32[1] = LpNormalization(%0) {axis = 0, p = 2}
  %2: i8[1] = Cast(%1) {to = i8}
  %3: i8[1] = Mod(%2, %2)
  return "y" = %3
}
"#;
        let three = Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| 3.0);
        let may_be = |text: &str| {
            let model: Model = text.parse().expect("a model");
            let isolated = Isolated::of(&model, std::slice::from_ref(&three), &Profile::DECLARED);
            may_be_undefined(&isolated.expect("no functions"))
        };
        assert!(may_be(normalised));
        assert!(!may_be(&normalised.replace("LpNormalization(%0) {axis = 0, p = 2}", "Ceil(%0)")));
        assert!(!may_be(&normalised.replace("Mod", "Add")));
    }
}
