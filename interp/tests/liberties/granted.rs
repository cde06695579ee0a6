//! What an audit found to be granted: by optimisers, by shaders, by accumulators of integers.

use ir::{DType, Type};
use onnxsmith_interp::bound::{Ball, Bound};
use onnxsmith_interp::{Profile, Taps, evaluate};
use ops::arith::{Arith, Fun};
use ops::elementwise::{Binary, BinaryFn, Pow, Unary, UnaryFn};
use ops::reduction::{Reduce, ReduceFn};
use ops::{Graph, Model};

use super::{accepts, reference_by, tensor};

/// (x + a)·b as OpenVINO makes it of a picture's normalisation: x·b, and a·b rounded once.
#[test]
fn a_factor_goes_into_both_terms_of_a_sum_before_it() {
    let (x, a, b) = (0.484_999_98_f32, -0.485_f32, 4.366_812_f32);
    let model = |profile: &Profile| {
        let mut graph = Graph::new();
        let of = |v: f32| tensor(DType::F32, &[1], &[v.into()]);
        let input = graph.variable("x", Type::new(DType::F32, [1]));
        let (shift, scale) = (graph.constant(of(a)), graph.constant(of(b)));
        let sum = graph.operator(Binary(BinaryFn::Add).into(), &[Some(input), Some(shift)]).unwrap();
        let product = graph
            .operator(Binary(BinaryFn::Mul).into(), &[Some(ir::Value::new(sum, 0)), Some(scale)])
            .unwrap();
        graph.output("y", ir::Value::new(product, 0));
        evaluate(&Model::new(21, graph), &[of(x)], profile, Taps::Outputs).unwrap()
    };
    let folded = f64::from(x.mul_add(b, a * b));
    let apart = f64::from((x + a) * b);
    assert!((folded - apart).abs() > 1e-3 * apart.abs(), "{folded:e} {apart:e}");
    assert!(accepts(&model(&Profile::DECLARED), &[folded]));
    assert!(!accepts(&model(&Profile::TIGHT), &[folded]));
    for profile in [&Profile::DECLARED, &Profile::TIGHT] {
        assert!(accepts(&model(profile), &[apart]));
        assert!(!accepts(&model(profile), &[apart + 1e-5]));
    }
}

/// WGSL has the arc cosine as atan2(√(1 − x·x), x), and x·x may be rounded to either side.
#[test]
fn an_arc_cosine_near_1_has_the_error_of_the_square() {
    for (dtype, digits) in [(DType::F32, 24), (DType::F16, 11)] {
        let x = 1.0 - 2f64.powi(-digits);
        let near = 2f64.powi(-digits);
        // 1 − x² is near 2·near; x² has neighbours at 1 − 2·near, and at 1 − near or 1 − 3·near.
        for (function, angle) in [
            (UnaryFn::Acos, (3.0 * near).sqrt()),
            (UnaryFn::Asin, std::f64::consts::FRAC_PI_2 - (3.0 * near).sqrt()),
        ] {
            let expected = reference_by(&Profile::WGSL, Unary(function), &[tensor(dtype, &[1], &[x])]);
            let angle = ir::round::round_to(dtype, angle);
            assert!(
                accepts(&expected, &[angle]),
                "{function:?} {dtype}: {angle:e} {:?}",
                expected.outputs[0]
            );
        }
        let middle = reference_by(&Profile::WGSL, Unary(UnaryFn::Acos), &[tensor(dtype, &[1], &[0.5])]);
        assert!(middle.outputs[0].error_at(0) < 0.01, "{dtype}: {:?}", middle.outputs[0]);
    }
}

const FUNCTIONS: [Fun; 21] = [
    Fun::Sqrt,
    Fun::Exp,
    Fun::Log,
    Fun::Expm1,
    Fun::Log1p,
    Fun::Sin,
    Fun::Cos,
    Fun::Tan,
    Fun::Asin,
    Fun::Acos,
    Fun::Atan,
    Fun::Sinh,
    Fun::Cosh,
    Fun::Tanh,
    Fun::Asinh,
    Fun::Acosh,
    Fun::Atanh,
    Fun::Erf,
    Fun::Erfc,
    Fun::Sigmoid,
    Fun::Softplus,
];

/// What a runtime in shaders is granted is no less than what shaders are, and what a library's functions are.
#[test]
fn a_runtime_in_shaders_may_call_a_library() {
    let granted = |profile: &'static Profile, dtype, ball: &dyn Fn(&Bound<'_>) -> Ball| {
        ball(&Bound::new(profile, dtype)).error
    };
    for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
        let is_enough = |what: &dyn std::fmt::Debug, ball: &dyn Fn(&Bound<'_>) -> Ball| {
            let runtime = granted(&Profile::WGSL_RUNTIME, dtype, ball);
            for other in [&Profile::WGSL, &Profile::DECLARED] {
                let least = granted(other, dtype, ball);
                assert!(
                    runtime >= least,
                    "{what:?} {dtype}: {runtime:e} is below {least:e} of {}",
                    other.name
                );
            }
        };
        let places = (-120..=120).map(|i| f64::from(i) / 16.0).chain([20.0, 68.0, -30.0, 1e-3, 1e-6, 0.999]);
        for x in places.map(|x| ir::round::round_to(dtype, x)) {
            for f in FUNCTIONS {
                is_enough(&(f, x), &|bound| bound.call(f, Ball::exact(x)));
            }
            for y in [0.5, 1.25, -3.0] {
                is_enough(&(x, y), &|bound| bound.pow(Ball::exact(x), Ball::exact(y)));
            }
        }
    }
}

#[test]
fn a_sum_of_integers_of_which_a_part_overflows_may_have_saturated() {
    let top = f64::from(i32::MAX);
    let sum = |profile: &Profile, values: &[f64]| {
        let (function, axes) = (ReduceFn::Sum, None);
        let reduce = Reduce { function, axes, keepdims: false, noop_with_empty_axes: false };
        reference_by(profile, reduce, &[tensor(DType::I32, &[values.len() as i64], values)])
    };
    let overflows = [top, 1.0, -1.0];
    assert_eq!(sum(&Profile::DECLARED, &overflows).outputs[0].undecidable(), 1);
    assert!(sum(&Profile::TIGHT, &overflows).outputs[0].is_exact());
    for fits in [[top, -1.0, 0.0], [top, -top, -1.0]] {
        assert!(sum(&Profile::DECLARED, &fits).outputs[0].is_exact(), "{fits:?}");
    }
}

#[test]
fn a_power_of_an_integer_is_decided_where_it_is_exact() {
    let base = [3.0, -7.0, 3.0, -5.0, 2.0, 5.0, 16_777_217.0, 3.0, 9.0];
    let exponent = [0.0, 1.0, 2.0, 3.0, 24.0, 11.0, 1.0, 40.0, 0.5];
    let operands = [tensor(DType::I64, &[9], &base), tensor(DType::F32, &[9], &exponent)];
    let decided = |profile: &Profile| -> Vec<bool> {
        reference_by(profile, Pow, &operands).outputs[0].error.iter().map(|&error| error == 0.0).collect()
    };
    for profile in Profile::ALL {
        let decided = decided(profile);
        assert!(decided[0] && !decided[8], "3⁰, and the root of 9, {}", profile.name);
    }
    // 5^11 and 2^24 + 1 are no numbers of f32, 3^40 none of i64; 2^(log₂ 7), rounded, may be less than 7.
    assert_eq!(decided(&Profile::TIGHT), [true, true, true, true, true, false, false, false, false]);
    assert_eq!(decided(&Profile::DECLARED)[1..], [false; 8]);
    let right = reference_by(&Profile::TIGHT, Pow, &operands);
    assert_eq!(right.outputs[0].tensor.to_f64s()[..5], [1.0, -7.0, 9.0, -125.0, 16_777_216.0]);
}
