//! What a bound must not let pass, and what it must: the least case of each that once was too wide, or too tight.

use onnxsmith_interp::Profile;

mod judged;

use judged::{accepts, reference};

#[test]
fn the_slope_of_a_folded_normalisation_is_one_number() {
    // In one pass, the variance of equal elements is of the size of ε, and so the slope may be anything up to 1/√ε. The
    // elements are at the mean: what the slope is makes no difference to them.
    for (operator, attributes) in [("InstanceNormalization", ""), ("GroupNormalization", "num_groups = 1")] {
        let text = format!(
            "onnxsmith 1 opset 21 graph {{ %0: f32[1, 1, 5] = variable \"x\" %1: f32[1] = constant {{1.5}} \
             %2: f32[1] = constant {{3.5}} %3: f32[1, 1, 5] = {operator}(%0, %1, %2) {{{attributes}}} \
             return \"y\" = %3 }}"
        );
        let profile = &Profile::DECLARED;
        let expected = reference(&text, &[&[1.5; 5]], profile);
        assert!(expected.error_at(0) < 2.5e-3, "{operator}: {}", expected.error_at(0));
        assert!(accepts(&expected, &[3.5; 5], profile) && !accepts(&expected, &[3.51; 5], profile));
    }
}

#[test]
fn bits_are_those_of_the_element_as_it_is() {
    // bf16 has fewer digits than this number of f16.
    let text = "onnxsmith 1 opset 26 graph { %0: f16[1] = variable \"x\" %1: bf16[1] = BitCast(%0) {to = bf16} \
                return \"y\" = %1 }";
    for profile in [&Profile::TIGHT, &Profile::DECLARED, &Profile::WGSL] {
        let expected = reference(text, &[&[-3.619_140_625]], profile);
        assert!(expected.is_exact() && expected.undefined.is_empty(), "{}", profile.name);
        assert!(accepts(&expected, &[-189.0], profile) && !accepts(&expected, &[-188.0], profile));
    }
}

#[test]
fn what_a_slope_is_multiplied_by_is_rounded_whatever_digits_the_slope_has_here() {
    // Of a lane of one element the mean is that, and 7/√ε times 3 is a number of the dtype by chance. It is not for a
    // slope beside it: fma(3, a, fma(-3, a, b)) is off by what the inner one is rounded by.
    let text = "onnxsmith 1 opset 25 graph { %0: f64[1, 1, 1] = variable \"x\" %1: f64[1] = constant {7.0} \
                %2: f64[1] = constant {-1.5} \
                %3: f64[1, 1, 1] = InstanceNormalization(%0, %1, %2) {epsilon = 1e-5} return \"y\" = %3 }";
    let profile = &Profile::DECLARED;
    let expected = reference(text, &[&[3.0]], profile);
    assert!(accepts(&expected, &[-1.499_999_999_999_545_3], profile));
    assert!(expected.error_at(0) < 1e-11, "{}", expected.error_at(0));
}
