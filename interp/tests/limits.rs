//! Functions at infinite operands: what they tend to is theirs, and not left open.

use onnxsmith_interp::Profile;

mod judged;

use judged::{accepts, reference};

#[test]
fn a_power_at_an_infinite_exponent_is_what_it_tends_to() {
    let pow = "onnxsmith 1 opset 21 graph { %0: f32[1] = variable \"x\" %1: f32[1] = variable \"y\" \
               %2: f32[1] = Pow(%0, %1) return \"r\" = %2 }";
    let judge = |x: f64, y: f64, profile, answer| {
        accepts(&reference(pow, &[&[x], &[y]], profile), &[answer], profile)
    };
    let infinite = f64::INFINITY;
    for (x, y, limit) in [
        (0.5, infinite, 0.0),
        (0.5, -infinite, infinite),
        (2.0, infinite, infinite),
        (2.0, -infinite, 0.0),
        (-0.5, infinite, 0.0),
        (-3.0, infinite, infinite),
    ] {
        for profile in [&Profile::TIGHT, &Profile::DECLARED] {
            assert!(judge(x, y, profile, limit), "{x}, {y}: {}", profile.name);
            assert!(!judge(x, y, profile, 12345.0), "{x}, {y}: {}", profile.name);
        }
        // WGSL may assume that there are no infinities.
        assert!(judge(x, y, &Profile::WGSL, 12345.0));
    }
    // IEEE 754 says what a power of 1 is there, and a logarithm times an infinity is NaN.
    for (x, y) in [(1.0, infinite), (-1.0, infinite), (1.0, f64::NAN)] {
        assert!(judge(x, y, &Profile::TIGHT, 1.0) && !judge(x, y, &Profile::TIGHT, f64::NAN));
        assert!(judge(x, y, &Profile::DECLARED, 1.0) && judge(x, y, &Profile::DECLARED, f64::NAN));
    }
}

/// Where denormals are flushed, each partial sum may be off by the least normal number; of normal numbers of one sign
/// none is denormal.
#[test]
fn a_sum_of_normal_numbers_of_one_sign_is_off_by_roundings_alone() {
    let sum = "onnxsmith 1 opset 21 graph { %0: f16[64] = variable \"x\" %1: f16[] = ReduceL1(%0) {keepdims = 0} \
               return \"y\" = %1 }";
    let error = |x: &[f64]| reference(sum, &[x], &Profile::DECLARED).error[0];
    let least = 2f64.powi(-14);
    let third = |v: f64| 1.0 / 3.0 * v;
    let normal: Vec<f64> = (0..64).map(|i| third(0.003 + f64::from(i) / 16384.0)).collect();
    let total: f64 = normal.iter().sum();
    assert!(error(&normal) < 0.04 * total, "{}", error(&normal));
    // One denormal number may be lost, and each partial sum with it.
    let denormal: Vec<f64> =
        normal.iter().enumerate().map(|(i, &x)| if i == 5 { least / 3.0 } else { x }).collect();
    assert!(error(&denormal) > 63.0 * least, "{}", error(&denormal));
}

/// What loses against a NaN that loses in its turn is forgotten, so that of many numbers any may be left.
#[test]
fn where_nan_may_lose_the_result_is_nan_or_a_number_that_it_may_lose_against() {
    let nan = f64::NAN;
    let unary = |dtype: &str, step: &str, ty: &str| {
        format!(
            "onnxsmith 1 opset 21 graph {{ %0: {dtype}[3] = variable \"x\" %1: {dtype}[] = constant {{-1}} \
             %2: {dtype}[] = constant {{2}} %3: {ty} = {step} return \"y\" = %3 }}"
        )
    };
    let after_relu = "onnxsmith 1 opset 21 graph { %0: f32[3] = variable \"x\" %1: f32[3] = Relu(%0) \
                %2: f32[] = ReduceMax(%1) {keepdims = 0} return \"y\" = %2 }";
    let cases = [
        (unary("f32", "Relu(%0)", "f32[3]"), vec![nan, -0.0], vec![1.0, -1.0, 1e9]),
        (unary("f32", "Clip(%0, %1, %2)", "f32[3]"), vec![nan, -1.0, 2.0], vec![-1.5, 2.5]),
        (unary("f32", "Sign(%0)", "f32[3]"), vec![nan, -1.0, 0.0, 1.0], vec![-2.0, 1e9]),
        (unary("f32", "Min(%0, %2)", "f32[3]"), vec![nan, 2.0], vec![1.0, 3.0]),
        (unary("f16", "Max(%0, %1)", "f16[3]"), vec![nan, -1.0], vec![-2.0, 1.0]),
        (unary("f32", "ReduceMax(%0) {keepdims = 0}", "f32[]"), vec![nan, 5.0, 3.0], vec![5.5, 1e9]),
        (unary("f64", "ReduceMin(%0) {keepdims = 0}", "f64[]"), vec![nan, 5.0, 3.0], vec![2.5, -1e9]),
        (after_relu.to_owned(), vec![nan, 5.0, 0.0], vec![6.0]),
    ];
    for (text, right, wrong) in cases {
        let expected = reference(&text, &[&[5.0, nan, 3.0]], &Profile::DECLARED);
        let at = usize::from(expected.tensor.len() > 1);
        let with = |v: f64| {
            let mut all = expected.tensor.to_f64s();
            all[at] = v;
            accepts(&expected, &all, &Profile::DECLARED)
        };
        assert!(right.iter().all(|&v| with(v)), "{text}: not all of {right:?}");
        assert!(!wrong.iter().any(|&v| with(v)), "{text}: one of {wrong:?}");
        let strict = reference(&text, &[&[5.0, nan, 3.0]], &Profile::TIGHT);
        assert_eq!((strict.error_at(at), strict.tensor.to_f64s()[at].is_nan()), (0.0, true), "{text}");
    }
    // In a lane of NaN alone, what implementations start from may be left.
    let lane =
        reference(&unary("f32", "ReduceMax(%0) {keepdims = 0}", "f32[]"), &[&[nan; 3]], &Profile::DECLARED);
    for (answer, is_right) in [(-f64::INFINITY, true), (f64::from(f32::MIN), true), (nan, true), (0.0, false)]
    {
        assert_eq!(accepts(&lane, &[answer], &Profile::DECLARED), is_right, "{answer}");
    }
    // WGSL may assume that there is no NaN.
    let relu = reference(&unary("f32", "Relu(%0)", "f32[3]"), &[&[5.0, nan, 3.0]], &Profile::WGSL);
    assert!(accepts(&relu, &[5.0, 1e9, 3.0], &Profile::WGSL));
}

#[test]
fn an_infinity_times_what_is_surely_no_zero_is_one_in_a_sum() {
    let dot = "onnxsmith 1 opset 21 graph { %0: f32[2] = variable \"x\" %1: f32[2] = variable \"z\" %2: f32[2] = Exp(%1) \
               %3: f32[] = MatMul(%0, %2) return \"y\" = %3 }";
    let sum = |x: [f64; 2], z: [f64; 2]| reference(dot, &[&x, &z], &Profile::DECLARED);
    let accepts = |expected, v| accepts(expected, &[v], &Profile::DECLARED);
    let infinite = f64::INFINITY;
    let one = sum([infinite, -3.0], [0.3, 0.7]);
    assert!(accepts(&one, infinite) && ![f64::NAN, 0.0, -infinite].iter().any(|&v| accepts(&one, v)));
    let opposed = sum([infinite, -infinite], [0.3, 0.7]);
    assert!(accepts(&opposed, f64::NAN) && !accepts(&opposed, infinite));
    // What vanishes may be 0, and what is finite may overflow to the other side.
    let open = [sum([infinite, 1.0], [-95.0, 0.5]), sum([infinite, -3e38], [0.3, 0.7])];
    for open in &open {
        assert!(accepts(open, f64::NAN));
    }
}
