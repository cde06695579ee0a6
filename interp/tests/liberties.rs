//! What conforming implementations may do differently, and what they may not: operators for which a bound was once
//! too narrow or a value wrong.

use ir::{DType, Tensor, Type};
use onnxsmith_interp::{Evaluation, Profile, Taps, evaluate, judge};
use ops::elementwise::{Unary, UnaryFn};
use ops::linear::Gemm;
use ops::nn::Conv;
use ops::nn::window::{AutoPad, Window};
use ops::reduction::{Reduce, ReduceFn};
use ops::{Graph, Model, Op};

fn tensor(dtype: DType, shape: &[i64], values: &[f64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(dtype, shape), |i| values[i])
}

/// The reference of one operator on some operands.
fn reference(op: impl Into<Op>, operands: &[Tensor]) -> Evaluation {
    let mut graph = Graph::new();
    let inputs: Vec<_> =
        (0..).zip(operands).map(|(i, t)| Some(graph.variable(format!("x{i}"), t.ty()))).collect();
    let node = graph.operator(op.into(), &inputs).unwrap();
    graph.output("y", ir::Value::new(node, 0));
    evaluate(&Model::new(21, graph), operands, &Profile::TIGHT, Taps::Outputs).unwrap()
}

/// Whether these elements are acceptable.
fn accepts(evaluation: &Evaluation, elements: &[f64]) -> bool {
    let expected = &evaluation.outputs[0];
    let actual = Tensor::from_f64_fn(&expected.tensor.ty(), |i| elements[i]);
    judge(expected, &actual, &Profile::TIGHT).unwrap().passes()
}

#[test]
fn a_sixth_is_rounded() {
    let hard_swish = reference(Unary(UnaryFn::HardSwish), &[tensor(DType::F64, &[1], &[-2.0])]);
    let (by_sixth, by_six) = (-2.0 * (-2.0 * (1.0 / 6.0) + 0.5), -2.0 * ((-2.0 + 3.0) / 6.0));
    assert!(by_sixth != by_six && accepts(&hard_swish, &[by_sixth]) && accepts(&hard_swish, &[by_six]));
    assert!(!accepts(&hard_swish, &[by_six * (1.0 + 1e-14)]));
}

#[test]
fn a_sum_that_is_scaled_last_may_be_a_negative_zero() {
    let gemm = |alpha, a: &[f64], b: &[f64]| {
        let n = a.len() as i64;
        let operands = [tensor(DType::F32, &[1, n], a), tensor(DType::F32, &[n, 1], b)];
        reference(Gemm { alpha, beta: 1.0, trans_a: false, trans_b: false }, &operands)
    };
    for (a, b) in [(&[2.0][..], &[-0.0][..]), (&[2.0, 2.0], &[3.0, -3.0])] {
        let negative = gemm(-1.0, a, b);
        assert!(accepts(&negative, &[0.0]) && accepts(&negative, &[-0.0]) && !accepts(&negative, &[1e-45]));
    }
    assert!(!accepts(&gemm(1.0, &[2.0, 2.0], &[3.0, -3.0]), &[-0.0]));
}

#[test]
fn padding_may_be_multiplied_or_left_out() {
    let window = Window {
        auto_pad: AutoPad::NotSet,
        strides: vec![1],
        dilations: vec![1],
        pads: vec![1, 0],
        ceil_mode: false,
    };
    let conv = |weight| {
        let operands =
            [tensor(DType::F32, &[1, 1, 2], &[3.0, 5.0]), tensor(DType::F32, &[1, 1, 2], &[weight, 1.0])];
        reference(Conv { window: window.clone(), group: 1, kernel_shape: None }, &operands)
    };
    let of_nan = conv(f64::NAN);
    assert!(accepts(&of_nan, &[3.0, f64::NAN]) && accepts(&of_nan, &[f64::NAN; 2]));
    assert!(!accepts(&of_nan, &[3.0, 5.0]));
    assert!(!accepts(&conv(2.0), &[f64::NAN, 11.0]) && accepts(&conv(2.0), &[3.0, 11.0]));
}

#[test]
fn the_logarithm_of_infinite_sums_is_infinite() {
    let reduce = |x| {
        let op = Reduce {
            function: ReduceFn::LogSumExp,
            axes: None,
            keepdims: false,
            noop_with_empty_axes: false,
        };
        reference(op, &[tensor(DType::F32, &[2], &[x, f64::NEG_INFINITY])])
    };
    for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
        assert!(accepts(&reduce(infinity), &[infinity]) && !accepts(&reduce(infinity), &[f64::NAN]));
    }
    assert!(accepts(&reduce(f64::NAN), &[f64::NAN]) && accepts(&reduce(1.0), &[1.0]));
}

#[test]
fn there_is_no_acosh_below_one() {
    let below: Vec<f64> = (0..60).map(|i| -1.0 - 1.3f64.powi(i)).chain([-1.0, 0.0, 0.5]).collect();
    let n = below.len();
    for dtype in [DType::F32, DType::F64] {
        let acosh = reference(Unary(UnaryFn::Acosh), &[tensor(dtype, &[n as i64], &below)]);
        assert!(accepts(&acosh, &vec![f64::NAN; n]), "{dtype}");
    }
}
