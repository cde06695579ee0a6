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
