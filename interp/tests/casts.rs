//! What becomes of an infinity in a float of 8 bits that has none is what the text of the opset has.

use ir::{DType, Tensor, Type};
use onnxsmith_interp::{Comparison, Profile, Taps, compare, evaluate};
use ops::Model;

/// What comparing an answer with the reference gives for ∞ and −∞ as floats of 8 bits.
fn against(opset: u32, to: DType, nodes: &str, answer: [f64; 2]) -> Comparison {
    let text = format!("onnxsmith 1 opset {opset} graph {{ %0: f32[2] = variable \"x\" {nodes} }}");
    let model: Model = text.replace("TO", to.name()).parse().expect("a model");
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |i| [f64::INFINITY, f64::NEG_INFINITY][i]);
    let profile = &Profile::DECLARED;
    let evaluation = evaluate(&model, &[x], profile, Taps::Outputs).expect("inputs that fit");
    let answer = Tensor::from_f64_fn(&Type::new(to, [2]), |i| answer[i]);
    compare(&evaluation.outputs[0], &answer, profile).expect("a tensor of the type")
}

const CAST: &str = "%1: TO[2] = Cast(%0) {to = TO} return \"y\" = %1";
const QUANTIZED: &str = "%1: f32[] = constant {1.0} %2: TO[] = constant {0.0} \
                         %3: TO[2] = QuantizeLinear(%0, %1, %2) return \"y\" = %3";

#[test]
fn an_infinity_saturates_where_the_text_says_so() {
    for (to, most) in [(DType::F8E4M3FNUZ, 240.0), (DType::F8E5M2FNUZ, 57344.0)] {
        for nodes in [CAST, QUANTIZED] {
            let judged = |opset, answer| against(opset, to, nodes, answer);
            // Before opset 24 the text has NaN, and ONNX's reference the largest number.
            assert_eq!(judged(23, [most, -most]).undecidable, 2, "{to}");
            for opset in [24, 25] {
                let right = judged(opset, [most, -most]);
                assert!(right.undecidable == 0 && right.passes(), "{to}: {right:?}");
                for wrong in [[most * 0.875, -most], [most, f64::NAN]] {
                    assert_eq!(judged(opset, wrong).mismatches, 1, "{to}: {wrong:?}");
                }
            }
        }
    }
}
