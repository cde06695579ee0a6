//! What overflows is an infinity or a number as large as it would be in a wider format, of the right sign, in every implementation:
//! neither NaN nor 0 nor garbage. And so is what comes of it.

use std::sync::Arc;

use ir::{DType, Tensor, Type};
use onnxsmith_interp::evaluate::Undecided;
use onnxsmith_interp::{Comparison, Profile, Taps, compare, evaluate};
use ops::Model;

const LARGE: f64 = 3e38;
const MOST: f64 = f32::MAX as f64;
const INF: f64 = f64::INFINITY;

fn floats(dtype: DType, values: &[f64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(dtype, [values.len() as i64]), |i| values[i])
}

/// What comparing an answer with the reference of the model with this body, from `%0`, an f32 vector, gives.
fn against(body: &str, x: &[f64], answer: &[f64], profile: &Profile) -> Comparison {
    let input = floats(DType::F32, x);
    let text = format!("onnxsmith 1 opset 21\ngraph {{\n  %0: {} = variable \"x\"\n{body}\n}}\n", input.ty());
    let model: Model = text.parse().expect("a model");
    let given = std::slice::from_ref(&input);
    let evaluation = evaluate(&model, given, profile, Taps::Outputs).expect("inputs that fit");
    let expected = &evaluation.outputs[0];
    // Who counts what is open without the outputs counts the same, but for what overflowed: of that something is known.
    let open = expected.undecidable() + expected.undefined.len() - expected.limited.len();
    let tensor = Arc::new(input.clone());
    let counted = Undecided::new(&model, profile).on(&|id| (id.index() == 0).then_some(&tensor));
    assert_eq!(counted, (open as u64, expected.tensor.len() as u64));
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
const HALVES: &str = "  %1: f16[1] = Cast(%0) {to = f16}\n  %2: f16[] = constant {1.0}\n  \
                          %3: f16[1] = Add(%1, %2)\n  return \"y\" = %3";

#[test]
fn an_overflow_has_its_sign_and_its_size() {
    for profile in [&Profile::TIGHT, &Profile::DECLARED] {
        for (body, x, sign) in [(EXP, 100.0, 1.0), (NEGATED, 100.0, -1.0), (SQUARED, -LARGE, 1.0)] {
            let judged = |answer| passes(body, &[x], answer, profile);
            assert_eq!(judged(sign * INF), Some(true), "{body}");
            assert_eq!(judged(sign * MOST), Some(true), "{body}");
            for wrong in [f64::NAN, 0.0, sign, -sign * INF, sign * LARGE] {
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
fn a_cast_rounds_once_or_by_way_of_another_float() {
    // A little above halfway between 1 and the next half; by f32 it is halfway, and goes to the even one.
    let x = 1.0 + f64::from(1.0f32 / 2048.0) + 1e-12;
    let judged = |answer, profile| {
        let text = "onnxsmith 1 opset 21\ngraph {\n  %0: f64[1] = variable \"x\"\n  \
                    %1: f16[1] = Cast(%0) {to = f16}\n  return \"y\" = %1\n}\n";
        let model: Model = text.parse().expect("a model");
        let evaluation =
            evaluate(&model, &[floats(DType::F64, &[x])], profile, Taps::Outputs).expect("inputs that fit");
        compare(&evaluation.outputs[0], &floats(DType::F16, &[answer]), profile).expect("the type").passes()
    };
    let above = 1.0 + 1.0 / 1024.0;
    assert_eq!([1.0, above].map(|answer| judged(answer, &Profile::TIGHT)), [false, true]);
    assert_eq!([1.0, above].map(|answer| judged(answer, &Profile::DECLARED)), [true, true]);
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
fn what_may_be_nan_after_an_overflow_is_undecidable() {
    // In a wider format it would not have been one.
    assert_eq!(passes(SCALED_BACK, &[100.0], f64::NAN, &Profile::DECLARED), None);
}

#[test]
fn what_is_made_of_an_overflow_is_as_large() {
    let judged = |answer| passes(AND_BACK, &[1e5], answer, &Profile::DECLARED);
    // The last is what an implementation has that keeps halves in a wider format.
    assert_eq!([judged(INF), judged(65504.0), judged(1e5)], [Some(true); 3]);
    assert_eq!([judged(f64::NAN), judged(65472.0), judged(-INF)], [Some(false); 3]);
}

#[test]
fn near_the_largest_number_it_is_that_or_an_infinity() {
    // A sum of 1.01 times the largest number.
    let x = [MOST, 3e36];
    for answer in [INF, MOST] {
        assert_eq!(passes(SUMMED, &x, answer, &Profile::DECLARED), Some(true));
    }
    for answer in [f64::NAN, LARGE] {
        assert_eq!(passes(SUMMED, &x, answer, &Profile::DECLARED), Some(false));
    }
    // To nearest it is the largest.
    for profile in [&Profile::TIGHT, &Profile::DECLARED] {
        let judged = |answer| passes(HALVES, &[65504.0], answer, profile);
        assert_eq!([65504.0, 40000.0, INF].map(judged), [Some(true), Some(false), Some(false)]);
    }
}

/// Answers of one element, and whether each passes.
type Answers = &'static [(f64, Option<bool>)];

#[test]
fn what_overflows_on_the_way_is_between_the_result_and_an_infinity() {
    let reduce =
        |operator: &str| format!("  %1: f32[1] = {operator}(%0) {{keepdims = 1}}\n  return \"y\" = %1");
    let table: [(&str, &[f64], Answers); 11] = [
        // The squares overflow in f32 and not in f64.
        (
            "ReduceL2",
            &[3e25, 1.0],
            &[(3e25, Some(true)), (INF, Some(true)), (-5.0, Some(false)), (2.9e25, Some(false))],
        ),
        ("ReduceL2", &[INF, LARGE], &[(INF, Some(true)), (LARGE, Some(false))]),
        ("ReduceSumSquare", &[LARGE, -LARGE], &[(INF, Some(true)), (0.0, Some(false)), (LARGE, Some(false))]),
        // Their sum overflows; scaled first, they do not.
        (
            "ReduceMean",
            &[LARGE, LARGE],
            &[(LARGE, Some(true)), (INF, Some(true)), (7.0, Some(false)), (f64::NAN, Some(false))],
        ),
        ("ReduceMean", &[-LARGE, -LARGE], &[(-LARGE, Some(true)), (-INF, Some(true)), (LARGE, Some(false))]),
        ("ReduceMean", &[LARGE, -1e38], &[(1e38, Some(true)), (INF, Some(true)), (f64::NAN, Some(false))]),
        ("ReduceMean", &[INF, INF], &[(INF, Some(true)), (f64::NAN, Some(false))]),
        (
            "ReduceSum",
            &[-INF, -LARGE, -LARGE],
            &[(-INF, Some(true)), (-MOST, Some(false)), (f64::NAN, Some(false))],
        ),
        ("ReduceSum", &[-INF, LARGE, LARGE], &[(f64::NAN, None)]),
        (
            "ReduceLogSum",
            &[LARGE, LARGE],
            &[(89.3, Some(true)), (INF, Some(true)), (80.0, Some(false)), (f64::NAN, Some(false))],
        ),
        ("ReduceProd", &[LARGE, LARGE], &[(INF, Some(true)), (MOST, Some(true)), (LARGE, Some(false))]),
    ];
    for (operator, x, answers) in table {
        for &(answer, wanted) in answers {
            let judged = passes(&reduce(operator), x, answer, &Profile::DECLARED);
            assert_eq!(judged, wanted, "{operator} {x:?}: {answer}");
        }
    }
}

#[test]
fn steps_on_an_overflow_keep_what_is_known() {
    // eˣ is at least 2.6e43, or an infinity.
    let table: [(&str, Answers); 12] = [
        ("Add(%1, %2)", &[(INF, Some(true)), (LARGE, Some(false)), (f64::NAN, Some(false))]),
        ("Sub(%2, %1)", &[(-INF, Some(true)), (INF, Some(false)), (f64::NAN, Some(false))]),
        ("Sub(%1, %1)", &[(f64::NAN, None), (0.0, None)]),
        ("Mul(%1, %2)", &[(-INF, Some(true)), (INF, Some(false))]),
        (
            "Div(%2, %1)",
            &[(-0.0, Some(true)), (0.0, Some(true)), (1.0, Some(false)), (f64::NAN, Some(false))],
        ),
        ("Div(%1, %1)", &[(f64::NAN, None)]),
        ("Min(%1, %2)", &[(-2.0, Some(true)), (0.0, Some(false))]),
        ("Max(%1, %2)", &[(INF, Some(true)), (-2.0, Some(false))]),
        (
            "Sqrt(%1)",
            &[
                (INF, Some(true)),
                (1.844_674_3e19, Some(true)),
                (1.8e19, Some(false)),
                (f64::NAN, Some(false)),
            ],
        ),
        ("Tanh(%1)", &[(1.0, Some(true)), (0.5, Some(false)), (f64::NAN, Some(false))]),
        ("Sin(%1)", &[(0.5, None), (f64::NAN, None)]),
        ("Sign(%1)", &[(1.0, Some(true)), (0.0, Some(false))]),
    ];
    for (step, answers) in table {
        let body = format!(
            "  %1: f32[1] = Exp(%0)\n  %2: f32[] = constant {{-2.0}}\n  %3: f32[1] = {step}\n  return \"y\" = %3"
        );
        for &(answer, wanted) in answers {
            assert_eq!(passes(&body, &[100.0], answer, &Profile::DECLARED), wanted, "{step}: {answer}");
        }
    }
}

#[test]
fn comparisons_with_an_overflow_are_decided() {
    let table = [
        ("Greater(%1, %2)", Some(true)),
        ("Less(%1, %2)", Some(false)),
        ("Equal(%1, %1)", None),
        ("IsNaN(%1)", Some(false)),
    ];
    for (step, holds) in table {
        let body = format!(
            "  %1: f32[1] = Exp(%0)\n  %2: f32[] = constant {{-2.0}}\n  %3: bool[1] = {step}\n  \
             %4: f32[1] = Cast(%3) {{to = f32}}\n  return \"y\" = %4"
        );
        for answer in [0.0, 1.0] {
            let wanted = holds.map(|holds| holds == (answer == 1.0));
            assert_eq!(passes(&body, &[100.0], answer, &Profile::DECLARED), wanted, "{step}: {answer}");
        }
    }
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
