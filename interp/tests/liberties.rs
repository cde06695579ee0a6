//! What conforming implementations may do differently, and what they may not: operators for which a bound was once
//! too narrow or a value wrong.

use ir::{DType, Tensor, Type};
use onnxsmith_interp::{Evaluation, Profile, Taps, evaluate, judge};
use ops::elementwise::{Unary, UnaryFn};
use ops::linear::Gemm;
use ops::nn::window::{AutoPad, Window};
use ops::nn::{BatchNorm, Conv, MeanVariance};
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
fn a_batch_may_be_centred_first_or_folded() {
    let line = |dtype, x, parameters: [f64; 3]| {
        let op = BatchNorm { epsilon: 0.0, momentum: 0.9 };
        let [scale, bias, mean] = parameters.map(|v| tensor(dtype, &[1], &[v]));
        reference(op, &[tensor(dtype, &[1, 1], &[x]), scale, bias, mean, tensor(dtype, &[1], &[1.0])])
    };
    // (2 - 2)·-1 is -0, 2·-1 + 2·1 is 0.
    let cancelled = line(DType::F64, 2.0, [-1.0, -0.0, 2.0]);
    assert!(accepts(&cancelled, &[-0.0]) && accepts(&cancelled, &[0.0]) && !accepts(&cancelled, &[1e-300]));
    let (x, scale, bias, mean) = (1.1f32, 0.3f32, 0.7f32, 1.3f32);
    let both = line(DType::F32, x.into(), [scale, bias, mean].map(f64::from));
    let (centred, folded) = ((x - mean) * scale + bias, x * scale + (bias - mean * scale));
    assert!(accepts(&both, &[centred.into()]) && accepts(&both, &[folded.into()]));
    assert!(!accepts(&both, &[f64::from(folded) * (1.0 + 1e-5)]));
}

#[test]
fn the_mean_of_a_normalisation_may_be_a_running_one() {
    // The sum, 8, is exact in every order, and so is the mean; the running one is not.
    let x = [6.0f32, -3.0, -5.0, 1.0, -6.0, 7.0, 0.0, 8.0];
    let mut running = 0.0f32;
    for (k, x) in (1u8..).zip(x) {
        running += (x - running) / f32::from(k);
    }
    assert_ne!(running, 1.0);
    let squares: f32 = x.iter().map(|x| (x - 1.0) * (x - 1.0)).sum();
    let deviation = (squares / 8.0).sqrt();
    let op = MeanVariance { axes: vec![0] };
    let expected = reference(op, &[tensor(DType::F32, &[8], &x.map(f64::from))]);
    let by = |mean: f32| x.map(|x| f64::from((x - mean) / deviation));
    assert!(accepts(&expected, &by(1.0)) && accepts(&expected, &by(running)));
    assert!(!accepts(&expected, &by(1.00001)));
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
