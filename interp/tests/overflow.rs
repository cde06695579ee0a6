//! What overflows is an infinity or a huge number of the right sign, in every implementation: neither NaN nor 0 nor garbage.

use ir::{DType, Tensor, Type};
use onnxsmith_interp::{Comparison, Profile, Taps, compare, evaluate};
use ops::Model;

const LARGE: f64 = 3e38;

fn floats(dtype: DType, values: &[f64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(dtype, [values.len() as i64]), |i| values[i])
}

/// What comparing an answer with the reference of the model with this body, from `%0`, an f32 vector, gives.
fn against(body: &str, x: &[f64], answer: &[f64], profile: &Profile) -> Comparison {
    let input = floats(DType::F32, x);
    let text = format!("onnxsmith 1 opset 21\ngraph {{\n  %0: {} = variable \"x\"\n{body}\n}}\n", input.ty());
    let model: Model = text.parse().expect("a model");
    let evaluation = evaluate(&model, &[input], profile, Taps::Outputs).expect("inputs that fit");
    let expected = &evaluation.outputs[0];
    let dtype = expected.tensor.dtype();
    let answer = Tensor::from_f64_fn(&expected.tensor.ty(), |i| answer[i]);
    assert_eq!(answer.dtype(), dtype);
    compare(expected, &answer, profile).expect("a tensor of the type")
}

/// How an answer of one element is judged: whether it passes, or `None` where it is undecidable.
fn passes(body: &str, x: &[f64], answer: f64, profile: &Profile) -> Option<bool> {
    let compared = against(body, x, &[answer], profile);
    (compared.undecidable == 0).then(|| compared.passes())
}

const EXP: &str = "  %1: f32[1] = Exp(%0)\n  return \"y\" = %1";
const NEGATED: &str = "  %1: f32[1] = Exp(%0)\n  %2: f32[1] = Neg(%1)\n  return \"y\" = %2";
const SQUARED: &str = "  %1: f32[1] = Mul(%0, %0)\n  return \"y\" = %1";
const SHRUNK: &str = "  %1: f16[1] = Cast(%0) {to = f16}\n  return \"y\" = %1";
const AND_BACK: &str =
    "  %1: f16[1] = Cast(%0) {to = f16}\n  %2: f32[1] = Cast(%1) {to = f32}\n  return \"y\" = %2";
const SCALED_BACK: &str =
    "  %1: f32[1] = Exp(%0)\n  %2: f32[1] = Mul(%1, %0)\n  %3: f32[1] = Div(%2, %1)\n  return \"y\" = %3";
const SUMMED: &str = "  %1: f32[] = ReduceSum(%0) {keepdims = 0}\n  return \"y\" = %1";

#[test]
fn an_overflow_has_its_sign_and_its_size() {
    for profile in [&Profile::TIGHT, &Profile::DECLARED] {
        for (body, x, sign) in [(EXP, 100.0, 1.0), (NEGATED, 100.0, -1.0), (SQUARED, -LARGE, 1.0)] {
            let judged = |answer| passes(body, &[x], answer, profile);
            assert_eq!(judged(sign * f64::INFINITY), Some(true), "{body}");
            assert_eq!(judged(sign * LARGE), Some(true), "{body}");
            for wrong in [f64::NAN, 0.0, sign, -sign * f64::INFINITY, sign * 1e38] {
                assert_eq!(judged(wrong), Some(false), "{wrong} of {body}");
            }
        }
    }
}

#[test]
fn what_a_format_without_infinities_lacks_is_nan_unless_it_saturates() {
    let quantized = |saturate: u8| {
        format!(
            "  %1: f32[] = constant {{3.0}}\n  %2: f8e4m3fn[] = constant {{0.0}}\n  \
             %3: f8e4m3fn[1] = QuantizeLinear(%0, %1, %2) {{axis = 1, block_size = 0, saturate = {saturate}}}\n  return \"y\" = %3"
        )
    };
    for profile in [&Profile::TIGHT, &Profile::DECLARED] {
        for x in [1e4, -1e4] {
            let judged = |saturate, answer| passes(&quantized(saturate), &[x], answer, profile);
            let most = 448f64.copysign(x);
            assert_eq!([judged(0, f64::NAN), judged(0, most)], [Some(true), Some(false)], "{x}");
            assert_eq!([judged(1, f64::NAN), judged(1, most)], [Some(false), Some(true)], "{x}");
        }
    }
}

#[test]
fn a_narrow_dtype_overflows_sooner() {
    for profile in [&Profile::TIGHT, &Profile::DECLARED] {
        let judged = |answer| passes(SHRUNK, &[1e5], answer, profile);
        assert_eq!([judged(f64::INFINITY), judged(65504.0)], [Some(true); 2]);
        assert_eq!([judged(f64::NAN), judged(1024.0), judged(-f64::INFINITY)], [Some(false); 3]);
    }
}

#[test]
fn what_is_made_of_an_overflow_is_undecidable() {
    // In a wider format it would not have been one.
    for body in [AND_BACK, SCALED_BACK] {
        let x = if body == AND_BACK { 1e5 } else { 100.0 };
        assert_eq!(passes(body, &[x], f64::NAN, &Profile::DECLARED), None, "{body}");
    }
}

#[test]
fn near_the_largest_number_nothing_is_said() {
    // A sum of 1.01 times the largest number, by an implementation that may be off by more.
    let x = [f64::from(f32::MAX), 3e36];
    assert_eq!(passes(SUMMED, &x, f64::INFINITY, &Profile::DECLARED), Some(true));
    assert_eq!(passes(SUMMED, &x, LARGE, &Profile::DECLARED), Some(true));
    assert_eq!(passes(SUMMED, &x, f64::NAN, &Profile::DECLARED), Some(false));
}

#[test]
fn terms_of_both_signs_may_become_nan() {
    let x = [LARGE, LARGE, LARGE, -LARGE, -LARGE];
    assert_eq!(passes(SUMMED, &x, f64::NAN, &Profile::DECLARED), None);
    let x = [LARGE, LARGE, -1.0];
    assert_eq!(passes(SUMMED, &x, f64::NAN, &Profile::DECLARED), Some(false));
}

#[test]
fn a_shader_may_have_anything() {
    for (body, x) in [(EXP, 100.0), (SQUARED, LARGE), (SHRUNK, 1e5)] {
        assert_eq!(passes(body, &[x], f64::NAN, &Profile::WGSL), None, "{body}");
    }
}

#[test]
fn open_bits_are_still_those_of_the_number() {
    const THERE_AND_BACK: &str =
        "  %1: u32[1] = BitCast(%0) {to = u32}\n  %2: f32[1] = BitCast(%1) {to = f32}\n  return \"y\" = %2";
    for body in [THERE_AND_BACK, "  %1: f32[1] = BitCast(%0) {to = f32}\n  return \"y\" = %1"] {
        let model: Model =
            format!("onnxsmith 1 opset 26\ngraph {{\n  %0: f32[1] = variable \"x\"\n{body}\n}}\n")
                .parse()
                .expect("a model");
        let input = floats(DType::F32, &[f64::INFINITY]);
        let evaluation = evaluate(&model, std::slice::from_ref(&input), &Profile::WGSL, Taps::Outputs)
            .expect("inputs that fit");
        let y = &evaluation.outputs[0];
        assert_eq!(y.tensor.to_f64s(), [f64::INFINITY], "{body}");
        let compared = compare(y, &input, &Profile::WGSL).expect("a tensor of the type");
        assert_eq!(compared.undecidable, 1, "{body}");
    }
}
