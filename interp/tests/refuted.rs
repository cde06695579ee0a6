//! What a conforming implementation gave that was outside of its bound: the least case of each, which is inside since.

use onnxsmith_interp::Profile;

mod judged;

use judged::{accepts, reference};

#[test]
fn a_power_of_negative_zero_has_either_sign_where_the_exponent_is_rounded() {
    let power = |exponent: u32| {
        let text = format!(
            "onnxsmith 1 opset 23 graph {{ %0: f32[1] = variable \"x\" %1: u32[1] = constant {{{exponent}}} \
             %2: f32[1] = Pow(%0, %1) return \"y\" = %2 }}"
        );
        reference(&text, &[&[-0.0]], &Profile::TIGHT)
    };
    // 2^24 + 1 is odd, and no number of f32.
    let (rounded, odd) = (power(16_777_217), power(3));
    let accepts = |expected, v| accepts(expected, &[v], &Profile::TIGHT);
    assert!(accepts(&rounded, 0.0) && accepts(&rounded, -0.0) && !accepts(&rounded, 1e-45));
    assert!(accepts(&odd, -0.0) && !accepts(&odd, 0.0));
}

#[test]
fn a_step_within_an_operator_need_not_be_rounded() {
    let text = |inner: &str| {
        format!(
            "onnxsmith 1 opset 21 graph {{ %0: f32[1] = variable \"x\" %1: f32[1] = variable \"offset\" \
             %2: f32[1] = variable \"scale\" %3: f32[1] = Sub(%0, %1){inner} %4: f32[1] = Mul(%3, %2) \
             return \"y\" = %4 }}"
        )
    };
    let [x, offset, scale] = [0.815f32, -1.205, 0.241];
    let twice = f64::from((x - offset) * scale);
    let once = f64::from(((f64::from(x) - f64::from(offset)) * f64::from(scale)) as f32);
    let operands = [x, offset, scale].map(|v| [f64::from(v)]);
    let operands: Vec<&[f64]> = operands.iter().map(|v| &v[..]).collect();
    for profile in Profile::ALL {
        let written_out = reference(&text(" inner"), &operands, profile);
        assert!(accepts(&written_out, &[twice], profile), "{}", profile.name);
        assert_eq!(accepts(&written_out, &[once], profile), profile.name != Profile::TIGHT.name);
        assert!(!accepts(&written_out, &[once * 1.000_01], profile), "{}", profile.name);
    }
    // Two operators of a model are two roundings, where steps are no less accurate.
    let two = reference(&text(""), &operands, &Profile::DECLARED);
    assert!(once != twice && !accepts(&two, &[once], &Profile::DECLARED));
}

#[test]
fn the_sign_of_negative_zero_is_a_zero_of_either_sign() {
    // "If input == 0, output 0": by comparisons it is +0.
    let text =
        "onnxsmith 1 opset 23 graph { %0: f32[4] = variable \"x\" %1: f32[4] = Sign(%0) return \"y\" = %1 }";
    for profile in Profile::ALL {
        let signs = reference(text, &[&[-0.0, 0.0, -3.0, 1e-40]], profile);
        for zero in [0.0, -0.0] {
            assert!(accepts(&signs, &[zero, 0.0, -1.0, 1.0], profile), "{}", profile.name);
        }
        assert!(!accepts(&signs, &[1e-40, 0.0, -1.0, 1.0], profile), "{}", profile.name);
        assert!(!accepts(&signs, &[0.0, 0.0, 0.0, 1.0], profile), "{}", profile.name);
    }
    let signs = reference(text, &[&[-0.0, 0.0, -3.0, 1e-40]], &Profile::TIGHT);
    assert!(!accepts(&signs, &[0.0, -0.0, -1.0, 1.0], &Profile::TIGHT));
}

#[test]
fn one_of_two_zeros_has_either_sign_where_the_choice_is_undecidable() {
    // Two exponentials of one number may differ, so that one may be the greater.
    let text = "onnxsmith 1 opset 23 graph { %0: f32[1] = variable \"x\" %1: f32[1] = constant {-0.0} \
                %2: f32[1] = constant {0.0} %3: f32[1] = Exp(%0) %4: f32[1] = Exp(%0) %5: bool[1] = Greater(%3, %4) \
                %6: f32[1] = Where(%5, %1, %2) return \"y\" = %6 }";
    let chosen = reference(text, &[&[0.3]], &Profile::TIGHT);
    let accepts = |v| accepts(&chosen, &[v], &Profile::TIGHT);
    assert!(accepts(0.0) && accepts(-0.0) && !accepts(1e-45));
}

#[test]
fn a_product_too_small_for_its_bound_has_either_sign() {
    // The hyperbolic cosine of 0 is 1, the inverse of that 0 to within a denormal, which a denormal is multiplied by.
    let text = "onnxsmith 1 opset 23 graph { %0: f64[1, 1] = variable \"x\" %1: f64[1, 1] = constant {-1e-308} \
                %2: f64[1, 1] = Acosh(%0) %3: f64[1, 1] = MatMul(%2, %1) return \"y\" = %3 }";
    let product = reference(text, &[&[1.0]], &Profile::TIGHT);
    let accepts = |v| accepts(&product, &[v], &Profile::TIGHT);
    assert!(accepts(0.0) && accepts(-0.0) && !accepts(1e-300));
}

#[test]
fn products_of_both_signs_that_overflow_are_no_number() {
    let text = "onnxsmith 1 opset 23 graph { %0: f32[1, 2] = variable \"x\" %1: f32[2, 1] = variable \"w\" \
                %2: f32[1, 1] = MatMul(%0, %1) return \"y\" = %2 }";
    let product = |x: &[f64]| reference(text, &[x, &[1e27, 1e20]], &Profile::TIGHT);
    let accepts = |x, v| accepts(&product(x), &[v], &Profile::TIGHT);
    // In the sum of the magnitudes 1e40 is lost beside 3e57.
    assert!(accepts(&[3e30, -1e20], f64::NAN) && accepts(&[3e30, -1e20], f64::INFINITY));
    assert!(accepts(&[3e20, -1e5], f64::INFINITY) && !accepts(&[3e20, -1e5], f64::NAN));
}

#[test]
fn a_denormal_that_is_compared_as_zero_may_go_on_as_it_is() {
    let relu =
        "onnxsmith 1 opset 16 graph { %0: f32[1] = variable \"x\" %1: f32[1] = Relu(%0) return \"y\" = %1 }";
    let of = |profile| reference(relu, &[&[-1e-40]], profile);
    // x < 0 ? 0 : x, where the comparison flushes and the choice does not.
    assert!(accepts(&of(&Profile::DECLARED), &[-1e-40], &Profile::DECLARED));
    assert!(!accepts(&of(&Profile::DECLARED), &[-3e-38], &Profile::DECLARED));
    assert!(!accepts(&of(&Profile::TIGHT), &[-1e-40], &Profile::TIGHT));
}

#[test]
fn denormals_that_are_sorted_as_zeros_may_come_in_any_order() {
    let top = "onnxsmith 1 opset 16 graph { %0: f32[3] = variable \"x\" \
               %1: f32[1], i64[1] = TopK(%0) {k = 1, axis = 0, largest = 1, sorted = 1} return \"y\" = %1 }";
    let lane: &[f64] = &[-8e-39, -5e-39, 0.0];
    let of = |profile| reference(top, &[lane], profile);
    for &x in lane {
        assert!(accepts(&of(&Profile::WGSL), &[x], &Profile::WGSL), "{x}");
    }
    assert!(!accepts(&of(&Profile::WGSL), &[-3e-38], &Profile::WGSL));
    assert!(!accepts(&of(&Profile::TIGHT), &[-5e-39], &Profile::TIGHT));
}

#[test]
fn a_pivot_that_may_vanish_where_it_divides_decides_nothing() {
    let det =
        "onnxsmith 1 opset 23 graph { %0: f32[2, 2] = variable \"x\" %1: f32[] = Det(%0) return \"y\" = %1 }";
    let matrix: &[f64] = &[0.0, 0.5, -1e-45, 3.0];
    // 0/0 where the pivot has become 0.
    assert!(accepts(&reference(det, &[matrix], &Profile::DECLARED), &[f64::NAN], &Profile::DECLARED));
    assert!(!accepts(&reference(det, &[matrix], &Profile::TIGHT), &[f64::NAN], &Profile::TIGHT));
}

#[test]
fn a_row_of_zeros_makes_no_zero_of_a_pivot_beyond_what_may_divide() {
    let det =
        "onnxsmith 1 opset 23 graph { %0: f16[2, 2] = variable \"x\" %1: f16[] = Det(%0) return \"y\" = %1 }";
    // Nothing is promised of 0 divided by the pivot, where that is denormal or beyond 2^14.
    for pivot in [-65504.0, 20000.0, 3.0 * 2f64.powi(-16)] {
        let matrix: &[f64] = &[pivot, 4.0, 0.0, 0.0];
        let accepts = |profile, v| accepts(&reference(det, &[matrix], profile), &[v], profile);
        assert!(accepts(&Profile::WGSL, -11.25), "{pivot}");
    }
    let fine: &[f64] = &[1024.0, 4.0, 0.0, 0.0];
    assert!(!accepts(&reference(det, &[fine], &Profile::WGSL), &[-11.25], &Profile::WGSL));
    assert!(!accepts(&reference(det, &[fine], &Profile::TIGHT), &[2f64.powi(-24)], &Profile::TIGHT));
}

/// An ULP of 0 is a number, but nobody's quotient of 0 is another: `x · (1 / y)` and an estimate that is corrected give
/// 0 as well.
#[test]
fn zero_divided_is_zero() {
    let det =
        "onnxsmith 1 opset 21 graph { %0: f16[2, 2] = variable \"x\" %1: f16[] = Det(%0) return \"y\" = %1 }";
    let matrix: &[f64] = &[-1.0, -0.0, 3.0, 0.0];
    for profile in [&Profile::WGSL, &Profile::DECLARED, &Profile::TIGHT] {
        let accepts = |v| accepts(&reference(det, &[matrix], profile), &[v], profile);
        assert!(accepts(0.0) && accepts(-0.0) && !accepts(2f64.powi(-24)), "{}", profile.name);
    }
}

/// What is left of a pivot of 0 in f16 may be denormal, and nothing is promised of what that divides.
#[test]
fn a_singular_matrix_of_halves_may_be_divided_by_what_is_left_of_a_pivot() {
    let det =
        "onnxsmith 1 opset 21 graph { %0: f16[2, 2] = variable \"x\" %1: f16[] = Det(%0) return \"y\" = %1 }";
    let single = det.replace("f16", "f32");
    let matrix: &[f64] = &[3.0, 1.0, 1.5, 0.5];
    let accepts = |text: &str, profile| accepts(&reference(text, &[matrix], profile), &[1000.0], profile);
    assert!(accepts(det, &Profile::WGSL) && !accepts(det, &Profile::TIGHT));
    assert!(!accepts(&single, &Profile::WGSL));
}

#[test]
fn elements_are_rounded_where_the_first_stage_has_fewer_digits() {
    let norm = "onnxsmith 1 opset 23 graph { %0: f64[1] = variable \"x\" %1: f64[1] = constant {1.0} \
                %2: f64[1] = RMSNormalization(%0, %1) {axis = 0, epsilon = 0.01, stash_type = 1} return \"y\" = %2 }";
    let least = f64::from(f32::from_bits(1));
    let expected = reference(norm, &[&[0.7 * least]], &Profile::TIGHT);
    // As ONNX's function body has it: cast to f32 first, which gives the least denormal.
    let by_body = f64::from((least / 0.01f64.sqrt()) as f32);
    assert!(accepts(&expected, &[by_body], &Profile::TIGHT), "{expected:?}");
    assert!(!accepts(&expected, &[2.0 * by_body], &Profile::TIGHT));
}

#[test]
fn a_determinant_of_a_zero_alone_has_either_sign() {
    let det =
        "onnxsmith 1 opset 18 graph { %0: f32[1, 1] = variable \"x\" %1: f32[] = Det(%0) return \"y\" = %1 }";
    let expected = reference(det, &[&[-0.0]], &Profile::TIGHT);
    let accepts = |v| accepts(&expected, &[v], &Profile::TIGHT);
    assert!(accepts(-0.0) && accepts(0.0) && !accepts(1e-45));
}

#[test]
fn an_odd_power_of_zero_below_it_has_either_sign_where_zeros_have_none() {
    let pow = "onnxsmith 1 opset 21 graph { %0: f16[2] = variable \"x\" %1: i8[2] = constant {-1, -2} \
               %2: f16[2] = Pow(%0, %1) return \"y\" = %2 }";
    let zeros: &[f64] = &[-0.0, -0.0];
    let accepts = |profile, odd, even| accepts(&reference(pow, &[zeros], profile), &[odd, even], profile);
    let infinite = f64::INFINITY;
    assert!(
        accepts(&Profile::DECLARED, infinite, infinite) && !accepts(&Profile::DECLARED, infinite, -infinite)
    );
    assert!(accepts(&Profile::TIGHT, -infinite, infinite) && !accepts(&Profile::TIGHT, infinite, infinite));
}

#[test]
fn a_remainder_that_is_denormal_may_be_flushed() {
    let modulo = "onnxsmith 1 opset 16 graph { %0: f32[1] = variable \"x\" %1: f32[1] = variable \"y\" \
                  %2: f32[1] = Mod(%0, %1) {fmod = 1} return \"r\" = %2 }";
    // Both are normal, and half of the least normal number remains.
    let (x, y) = (f64::from(f32::MIN_POSITIVE) * 2.0, f64::from(f32::MIN_POSITIVE) * 1.5);
    let of = |profile| reference(modulo, &[&[x], &[y]], profile);
    assert!(accepts(&of(&Profile::DECLARED), &[x - y], &Profile::DECLARED));
    assert!(accepts(&of(&Profile::DECLARED), &[0.0], &Profile::DECLARED));
    assert!(!accepts(&of(&Profile::DECLARED), &[y], &Profile::DECLARED));
    assert!(!accepts(&of(&Profile::TIGHT), &[0.0], &Profile::TIGHT));
}

/// An H100 converts denormals of f32 and bf16 to an f64 of 0, under NVIDIA's Vulkan driver 580.159.04. Those of f16 it keeps.
#[test]
fn a_denormal_that_is_read_by_a_step_in_a_wider_dtype_may_be_flushed() {
    let of = |from: &str, profile: &Profile, x: f64, got: f64| {
        let cast = format!(
            "onnxsmith 1 opset 21 graph {{ %0: {from}[1] = variable \"x\" %1: f64[1] = Cast(%0) {{to = f64}} \
             return \"y\" = %1 }}"
        );
        accepts(&reference(&cast, &[&[x]], profile), &[got], profile)
    };
    let least = f64::from(f32::MIN_POSITIVE);
    for (from, x) in [("f32", least * 0.75), ("bf16", least * 0.5)] {
        for profile in [&Profile::WGSL, &Profile::DECLARED] {
            assert!(of(from, profile, x, x) && of(from, profile, x, 0.0), "{from} {}", profile.name);
            assert!(!of(from, profile, x, -x) && !of(from, profile, x, 2.5 * x), "{from} {}", profile.name);
            assert!(!of(from, profile, 2.0 * least, 0.0), "{from} {}", profile.name);
        }
        assert!(of(from, &Profile::TIGHT, x, x) && !of(from, &Profile::TIGHT, x, 0.0), "{from}");
    }
    assert!(!of("f16", &Profile::WGSL, 2f64.powi(-20), 0.0));
}

#[test]
fn a_sum_of_products_with_zeros_has_either_sign_whatever_else_is_known_of_the_factors() {
    // Which zero Celu gives for one is open, and the bias is a negative one.
    let inexact = "onnxsmith 1 opset 23 graph { %0: f32[1, 1, 1] = variable \"x\" %1: f32[1] = constant {-0.0} \
                   %2: f32[1, 1, 1] = Celu(%0) {alpha = 1.0} %3: f32[1, 1, 1] = Conv(%0, %2, %1) return \"y\" = %3 }";
    // The least factors have a product that f64 does not hold.
    let tiny = "onnxsmith 1 opset 23 graph { %0: f64[1, 2] = variable \"x\" %1: f64[2, 1] = constant {-0.0, -0.0} \
                %2: f64[1, 1] = MatMul(%0, %1) return \"y\" = %2 }";
    for (text, x) in [(inexact, &[-0.0][..]), (tiny, &[1.67e-308, 1e-300])] {
        let zero = reference(text, &[x], &Profile::TIGHT);
        let accepts = |v| accepts(&zero, &[v], &Profile::TIGHT);
        assert!(accepts(0.0) && accepts(-0.0) && !accepts(1e-30), "{text}");
    }
}

#[test]
fn an_element_of_weight_0_beside_a_position_spoils_no_sum_for_sure() {
    let sampled = |position: f64, mode: &str, far: [f64; 3], profile: &Profile| {
        let text = format!(
            "onnxsmith 1 opset 20 graph {{ %0: f32[1, 1, 5] = variable \"x\" %1: f32[1, 1, 1] = variable \"grid\" \
             %2: f32[1, 1, 1] = GridSample(%0, %1) {{mode = \"{mode}\", padding_mode = \"reflection\", \
             align_corners = 1}} return \"y\" = %2 }}"
        );
        let [first, third, fourth] = far;
        reference(&text, &[&[first, 5.0, third, fourth, 1.0], &[position]], profile)
    };
    let nan = f64::NAN;
    for profile in [&Profile::TIGHT, &Profile::DECLARED, &Profile::WGSL] {
        for (mode, far) in [("linear", [nan, nan, 1.0]), ("cubic", [1.0, 1.0, nan])] {
            let accepts = |position| accepts(&sampled(position, mode, far, profile), &[5.0], profile);
            // At the second element, to either side of which the position may be computed, and in the middle of it and the third.
            // Of NaN WGSL promises nothing.
            assert!(accepts(-0.5), "{mode} {}", profile.name);
            assert!(profile.name == Profile::WGSL.name || !accepts(-0.25), "{mode} {}", profile.name);
        }
    }
}

/// Fused, it is added before it is rounded; and of finite numbers whose sum overflows, another order may add the infinity first.
#[test]
fn what_overflows_is_no_infinity_that_cancels_another() {
    let product = "onnxsmith 1 opset 21 graph { %0: f64[1, 2] = variable \"x\" %1: f64[2, 1] = constant {1e200, -inf} \
                   %2: f64[1, 1] = MatMul(%0, %1) return \"y\" = %2 }";
    let sum = "onnxsmith 1 opset 13 graph { %0: f64[3] = variable \"x\" \
               %1: f64[1] = ReduceSum(%0) {axes = [0], keepdims = 1, noop_with_empty_axes = 0} return \"y\" = %1 }";
    let (least, nan) = (f64::NEG_INFINITY, f64::NAN);
    let accepts =
        |text, x: &[f64], y| accepts(&reference(text, &[x], &Profile::TIGHT), &[y], &Profile::TIGHT);
    assert!(accepts(product, &[1e200, 1.0], least) && accepts(product, &[1e200, 1.0], nan));
    assert!(accepts(sum, &[1e308, 1e308, least], least) && accepts(sum, &[1e308, 1e308, least], nan));
    // Infinities that are there do.
    let infinite = f64::INFINITY;
    assert!(!accepts(product, &[infinite, 1.0], least) && accepts(product, &[infinite, 1.0], nan));
    assert!(!accepts(sum, &[infinite, 1.0, least], least) && accepts(sum, &[infinite, 1.0, least], nan));
}

#[test]
fn a_position_that_may_overflow_may_be_infinite() {
    let sampled = |dtype: &str, position: f64| {
        let text = format!(
            "onnxsmith 1 opset 20 graph {{ %0: {dtype}[1, 1, 4] = variable \"x\" %1: {dtype}[1, 1, 1] = variable \"grid\" \
             %2: {dtype}[1, 1, 1] = GridSample(%0, %1) {{mode = \"linear\", padding_mode = \"zeros\", \
             align_corners = 1}} return \"y\" = %2 }}"
        );
        let image: &[f64] = &[1.0, 2.0, 3.0, 4.0];
        accepts(&reference(&text, &[image, &[position]], &Profile::TIGHT), &[f64::NAN], &Profile::TIGHT)
    };
    // 65,505 / 2 · 3 is none of f16.
    assert!(sampled("f16", 65504.0) && !sampled("f32", 65504.0) && !sampled("f16", 1000.0));
}

#[test]
fn between_two_elements_is_a_line_whose_slope_may_overflow() {
    let sampled = |last: f64| {
        let text = "onnxsmith 1 opset 26 graph { %0: f32[1, 1, 3] = variable \"x\" %1: f32[1, 1, 1] = variable \"grid\" \
                    %2: f32[1, 1, 1] = GridSample(%0, %1) {mode = \"linear\", padding_mode = \"zeros\", \
                    align_corners = 0} return \"y\" = %2 }";
        let image: &[f64] = &[0.0, -2.126_764_793_155_865_4e37, last];
        accepts(&reference(text, &[image, &[0.0]], &Profile::TIGHT), &[f64::NAN], &Profile::TIGHT)
    };
    // The middle element, or from there no way towards the next: 0 · (last + 2e37), in rten.
    assert!(sampled(f64::from(f32::MAX)) && !sampled(1.0));
}

#[test]
fn a_factor_of_all_terms_may_be_moved_behind_their_sum() {
    // (1.7·x)·w as 1.7·(x·w), which rten and ONNX Runtime make of it.
    let scaled = |terms: usize, x: &[f64], w: &[f64], profile: &Profile| {
        let text = format!(
            "onnxsmith 1 opset 23 graph {{ %0: f32[1, {terms}] = variable \"x\" %1: f32[{terms}, 1] = variable \"w\" \
             %2: f32[] = constant {{1.7}} %3: f32[1, {terms}] = Mul(%0, %2) %4: f32[1, 1] = MatMul(%3, %1) \
             return \"y\" = %4 }}"
        );
        reference(&text, &[x, w], profile)
    };
    let mut state = 1_u32;
    let mut draw = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state as f32 / u32::MAX as f32 + 0.5)
    };
    let mut apart = 0;
    for terms in [1, 2, 3].repeat(200) {
        let (x, w): (Vec<f64>, Vec<f64>) = (0..terms).map(|_| (draw(), draw())).unzip();
        let products = |factor: f32| x.iter().zip(&w).map(move |(&x, &w)| factor * x as f32 * w as f32);
        let (moved, as_written) = (1.7 * products(1.0).sum::<f32>(), products(1.7).sum::<f32>());
        apart += usize::from(moved.to_bits() != as_written.to_bits());
        let expected = scaled(terms, &x, &w, &Profile::DECLARED);
        for answer in [moved, as_written] {
            assert!(accepts(&expected, &[answer.into()], &Profile::DECLARED), "{x:?} {w:?}: {answer}");
        }
    }
    assert!(apart > 100, "{apart}");
    // Four units in the last place are too many.
    let unit = f64::from(f32::EPSILON);
    let one = scaled(1, &[1.1], &[1.3], &Profile::DECLARED);
    assert!(!accepts(&one, &[1.1 * 1.7 * 1.3 + 4.0 * 2.0 * unit], &Profile::DECLARED));
}

#[test]
fn a_log_sum_of_exponentials_of_f64_overflows_as_it_is_defined() {
    let text = "onnxsmith 1 opset 23 graph { %0: f64[2] = variable \"x\" \
                %1: f64[] = ReduceLogSumExp(%0) {keepdims = 0} return \"y\" = %1 }";
    let profile = &Profile::DECLARED;
    let of = |x: f64| reference(text, &[&[x, x - 50.0]], profile);
    assert!(accepts(&of(750.0), &[f64::INFINITY], profile) && accepts(&of(750.0), &[750.0], profile));
    assert!(accepts(&of(-750.0), &[f64::NEG_INFINITY], profile));
    assert!(accepts(&of(700.0), &[700.0], profile) && !accepts(&of(700.0), &[700.001], profile));
}

#[test]
fn between_two_elements_a_sample_is_a_weighted_sum_or_a_share_of_their_difference() {
    let text = "onnxsmith 1 opset 22 graph { %0: f32[1, 1, 1, 2] = variable \"x\" %1: f32[1, 1, 1, 2] = variable \"grid\" \
                %2: f32[1, 1, 1, 1] = GridSample(%0, %1) {mode = \"linear\", align_corners = 1} return \"y\" = %2 }";
    let grid = [0.985_510_826_110_839_8, 0.0];
    for profile in [&Profile::TIGHT, &Profile::DECLARED] {
        let expected = reference(text, &[&[7.0, -0.25], &grid], profile);
        // All steps of the sum are exact here. 7.25 times the share is not.
        assert!(accepts(&expected, &[-0.197_476_744_651_794_43], profile), "{}", profile.name);
        assert!(accepts(&expected, &[-0.197_476_863_861_083_98], profile), "{}", profile.name);
        assert!(!accepts(&expected, &[-0.197_5], profile), "{}", profile.name);
    }
}

#[test]
fn beside_a_nan_that_may_lose_what_overflowed_may_be_an_infinity() {
    let text = "onnxsmith 1 opset 18 graph { %0: f32[2] = variable \"x\" %1: f32[2] = Exp(%0) \
                %2: f32[1] = ReduceLogSumExp(%1) {axes = [0]} return \"y\" = %2 }";
    for (profile, may_lose) in [(&Profile::TIGHT, false), (&Profile::DECLARED, true)] {
        let expected = reference(text, &[&[1e5, f64::NAN]], profile);
        assert!(accepts(&expected, &[f64::NAN], profile), "{}", profile.name);
        assert_eq!(accepts(&expected, &[f64::INFINITY], profile), may_lose, "{}", profile.name);
    }
}

#[test]
fn a_large_integer_to_the_power_of_one_is_what_its_logarithm_leaves_of_it() {
    let pow = "onnxsmith 1 opset 14 graph { %0: i32[3] = constant {22151380, 1, 0} %1: f32[1] = variable \"y\" \
               %2: i32[3] = Pow(%0, %1) return \"r\" = %2 }";
    let accepts = |profile, answer: &[f64]| accepts(&reference(pow, &[&[1.0]], profile), answer, profile);
    // 2^(log₂ x) in f32.
    let by_logarithm = [22_151_394.0, 1.0, 0.0];
    assert!(accepts(&Profile::DECLARED, &by_logarithm) && accepts(&Profile::WGSL, &by_logarithm));
    assert!(!accepts(&Profile::TIGHT, &by_logarithm));
    assert!(!accepts(&Profile::DECLARED, &[22_151_380.0, 2.0, 0.0]));
}
