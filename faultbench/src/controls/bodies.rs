//! ONNX's function bodies: what the standard itself gives as an operator in terms of others.
//!
//! A body is taken as it is written. Where it overflows though the operator does not, it is left out.

use ir::{DType, Tensor};
use ops::Op;
use ops::arith::Comparison;
use ops::elementwise::{Activation, ActivationFn, Binary, BinaryFn, Compare, UnaryFn};
use ops::reduction::{Reduce, ReduceFn};

use super::chain::{add, below, cast, div, finite, float, map, mul, number, of, one, reduce, sub};
use super::{ALL, Control, Difference, LOOSE};
use crate::node::{Node, Outputs, reshaped, resolve};

/// A body of an operator, which conforms everywhere.
macro_rules! body {
    ($operator:literal, $does:literal, $kernel:expr) => {
        body!($operator, $does, $kernel, ALL)
    };
    ($operator:literal, $does:literal, $kernel:expr, $conforms:expr) => {
        Control {
            name: concat!("body-of-", $operator),
            does: concat!("computes ", $operator, " as ", $does),
            conforms: $conforms,
            kind: Difference::Kernel { operator: $operator, kernel: $kernel },
            open: None,
        }
    };
}

pub(super) const CONTROLS: &[Control] = &[
    body!("Elu", "alpha·(eˣ − 1) below 0", |n| activation(n, ActivationFn::Elu, elu)),
    body!("Selu", "gamma·(alpha·eˣ − alpha) below 0", |n| activation(n, ActivationFn::Selu, selu)),
    body!("Celu", "alpha·Elu(x / alpha)", |n| activation(n, ActivationFn::Celu, celu)),
    body!("LeakyRelu", "alpha·x below 0", |n| activation(n, ActivationFn::LeakyRelu, leaky)),
    body!("HardSigmoid", "max(min(alpha·x + beta, 1), 0)", |n| activation(
        n,
        ActivationFn::HardSigmoid,
        hard_sigmoid
    )),
    body!("ThresholdedRelu", "x where alpha is less, else 0", |n| activation(
        n,
        ActivationFn::ThresholdedRelu,
        thresholded
    )),
    body!("PRelu", "slope·x below 0", prelu),
    body!("Gelu", "x/2·(1 + …)", gelu),
    body!("HardSwish", "x·HardSigmoid(x)", hard_swish),
    body!("Mish", "x·tanh(Softplus(x))", mish),
    body!("Softplus", "ln(eˣ + 1)", softplus),
    body!("Softsign", "x/(1 + |x|)", softsign),
    body!("LessOrEqual", "less or equal", |n| or_equal(n, Comparison::Less)),
    body!("GreaterOrEqual", "greater or equal", |n| or_equal(n, Comparison::Greater)),
    body!("Softmax", "eˣ over its sum, the largest subtracted first", softmax),
    body!("LogSoftmax", "x − ln Σeˣ, the largest subtracted first", log_softmax),
    body!("ReduceL1", "a sum of magnitudes", |n| reduced(n, |x| map(UnaryFn::Abs, x), ReduceFn::Sum, Some)),
    body!("ReduceSumSquare", "a sum of squares", |n| reduced(n, |x| mul(x, x), ReduceFn::Sum, Some)),
    body!("ReduceL2", "the root of a sum of squares", |n| reduced(
        n,
        |x| mul(x, x),
        ReduceFn::Sum,
        |y| map(UnaryFn::Sqrt, &y)
    )),
    body!("ReduceLogSum", "the logarithm of a sum", |n| reduced(
        n,
        |x| Some(x.clone()),
        ReduceFn::Sum,
        |y| map(UnaryFn::Log, &y)
    )),
    body!("ReduceLogSumExp", "the logarithm of a sum of exponentials", |n| {
        reduced(n, moderate, ReduceFn::LogSum, Some)
    }),
    body!("MeanVarianceNormalization", "(x − E[x])/(√(E[x²] − E[x]²) + 1e-9)", mean_variance),
    body!("LayerNormalization", "(x − E[x])/√(E[x²] − E[x]² + ε)·scale + bias", layer_norm, LOOSE),
    body!("GroupNormalization", "(x − E[x])/√(E[x²] − E[x]² + ε)·scale + bias", group_norm, LOOSE),
    body!("RMSNormalization", "x/√(E[x²] + ε)·scale", rms_norm),
];

/// The first operand, if its elements are floats.
fn x<'n>(n: &'n Node<'_>) -> Option<&'n Tensor> {
    float(n, 0)
}

/// The body of an activation, which gets its parameters.
fn activation(
    n: &Node<'_>,
    function: ActivationFn,
    body: fn(&Tensor, &dyn Fn(usize) -> Tensor) -> Option<Tensor>,
) -> Outputs {
    let Op::Activation(Activation { function: own, parameters }) = n.op else { return None };
    let x = x(n).filter(|_| *own == function)?;
    let defaults = function.attributes();
    let parameter = |i: usize| {
        let value = parameters.get(i).copied().unwrap_or(defaults[i].1);
        number(value.into(), x)
    };
    one(body(x, &parameter))
}

/// eˣ − 1
fn exp_minus_one(x: &Tensor) -> Option<Tensor> {
    sub(&map(UnaryFn::Exp, x)?, &number(1.0, x))
}

fn elu(x: &Tensor, p: &dyn Fn(usize) -> Tensor) -> Option<Tensor> {
    below(&number(0.0, x), x, &mul(&p(0), &exp_minus_one(x)?)?, x)
}

fn selu(x: &Tensor, p: &dyn Fn(usize) -> Tensor) -> Option<Tensor> {
    let curve = sub(&mul(&p(0), &map(UnaryFn::Exp, x)?)?, &p(0))?;
    below(&number(0.0, x), x, &mul(&p(1), &curve)?, &mul(&p(1), x)?)
}

fn celu(x: &Tensor, p: &dyn Fn(usize) -> Tensor) -> Option<Tensor> {
    let alpha = p(0);
    let scaled = div(x, &alpha)?;
    let curve = below(&number(0.0, x), &scaled, &exp_minus_one(&scaled)?, &scaled)?;
    mul(&alpha, &curve)
}

fn leaky(x: &Tensor, p: &dyn Fn(usize) -> Tensor) -> Option<Tensor> {
    below(&number(0.0, x), x, &mul(&p(0), x)?, x)
}

fn hard_sigmoid(x: &Tensor, p: &dyn Fn(usize) -> Tensor) -> Option<Tensor> {
    let line = add(&mul(x, &p(0))?, &p(1))?;
    clamped(&line)
}

/// The elements between 0 and 1; NaN stays.
fn clamped(x: &Tensor) -> Option<Tensor> {
    let (zero, one) = (number(0.0, x), number(1.0, x));
    let low = below(&zero, x, &zero, x)?;
    below(&low, &one, &one, &low)
}

fn thresholded(x: &Tensor, p: &dyn Fn(usize) -> Tensor) -> Option<Tensor> {
    below(x, &p(0), x, &number(0.0, x))
}

fn prelu(n: &Node<'_>) -> Outputs {
    let (x, slope) = (x(n)?, n.input(1)?);
    one(below(&number(0.0, x), x, &mul(slope, x)?, x))
}

fn gelu(n: &Node<'_>) -> Outputs {
    let (Op::Gelu(op), x) = (n.op, x(n)?) else { return None };
    let bend = if op.tanh {
        let cube = mul(&mul(x, x)?, x)?;
        let sum = add(x, &mul(&number(0.044_715, x), &cube)?)?;
        let root = number(f64::from(std::f32::consts::FRAC_2_PI).sqrt(), x);
        map(UnaryFn::Tanh, &mul(&root, &sum)?)?
    } else {
        map(UnaryFn::Erf, &div(x, &map(UnaryFn::Sqrt, &number(2.0, x))?)?)?
    };
    let half = mul(&number(0.5, x), x)?;
    one(mul(&half, &add(&number(1.0, x), &bend)?))
}

fn hard_swish(n: &Node<'_>) -> Outputs {
    let x = x(n)?;
    let line = add(&mul(x, &number(1.0 / 6.0, x))?, &number(0.5, x))?;
    one(mul(x, &clamped(&line)?))
}

fn mish(n: &Node<'_>) -> Outputs {
    let x = x(n)?;
    one(mul(x, &map(UnaryFn::Tanh, &map(UnaryFn::Softplus, x)?)?))
}

fn softplus(n: &Node<'_>) -> Outputs {
    let x = x(n)?;
    let sum = finite(add(&map(UnaryFn::Exp, x)?, &number(1.0, x))?)?;
    one(map(UnaryFn::Log, &sum))
}

fn softsign(n: &Node<'_>) -> Outputs {
    let x = x(n)?;
    one(div(x, &add(&number(1.0, x), &map(UnaryFn::Abs, x)?)?))
}

fn or_equal(n: &Node<'_>, comparison: Comparison) -> Outputs {
    let (a, b) = (n.input(0)?, n.input(1)?);
    let compare = |comparison| of(Compare(comparison), &[a, b]);
    one(of(Binary(BinaryFn::Or), &[&compare(comparison)?, &compare(Comparison::Equal)?]))
}

/// The operand less its largest element along the axis, the exponentials of that, and the axis.
fn exponentials(n: &Node<'_>) -> Option<(Tensor, Tensor, [i64; 1])> {
    let (Op::Softmax(op), x) = (n.op, x(n)?) else { return None };
    let shifted = sub(x, &reduce(ReduceFn::Max, x, &[op.axis])?)?;
    let powers = map(UnaryFn::Exp, &shifted)?;
    Some((shifted, powers, [op.axis]))
}

fn softmax(n: &Node<'_>) -> Outputs {
    let (_, powers, axes) = exponentials(n)?;
    one(div(&powers, &reduce(ReduceFn::Sum, &powers, &axes)?))
}

fn log_softmax(n: &Node<'_>) -> Outputs {
    let (shifted, powers, axes) = exponentials(n)?;
    one(sub(&shifted, &map(UnaryFn::Log, &reduce(ReduceFn::Sum, &powers, &axes)?)?))
}

/// A reduction, with `before` applied to the elements and `after` to the result.
fn reduced(
    n: &Node<'_>,
    before: fn(&Tensor) -> Option<Tensor>,
    function: ReduceFn,
    after: fn(Tensor) -> Option<Tensor>,
) -> Outputs {
    let (Op::Reduce(op), x) = (n.op, x(n)?) else { return None };
    one(after(of(Reduce { function, ..op.clone() }, &[&before(x)?])?))
}

/// The exponentials, if none of them and no sum of them overflows.
fn moderate(x: &Tensor) -> Option<Tensor> {
    let largest = x.to_f64s().into_iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    (largest <= 4.0).then(|| map(UnaryFn::Exp, x))?
}

/// The mean of a tensor and its variance, E[x²] − E[x]², along some axes.
fn moments(x: &Tensor, axes: &[i64]) -> Option<(Tensor, Tensor)> {
    let mean = reduce(ReduceFn::Mean, x, axes)?;
    let squares = reduce(ReduceFn::Mean, &mul(x, x)?, axes)?;
    let variance = sub(&squares, &mul(&mean, &mean)?)?;
    Some((mean, variance))
}

fn mean_variance(n: &Node<'_>) -> Outputs {
    let (Op::MeanVariance(op), x) = (n.op, x(n)?) else { return None };
    let all: Vec<i64> = (0..x.shape().len() as i64).collect();
    let (mean, variance) = moments(x, if op.axes.is_empty() { &all } else { &op.axes })?;
    let deviation = add(&map(UnaryFn::Sqrt, &variance)?, &number(1e-9, x))?;
    one(div(&sub(x, &mean)?, &deviation))
}

/// The elements standardised along some axes in a dtype, by the body of ONNX's normalisations.
fn standardised(x: &Tensor, axes: &[i64], epsilon: f32, stage: DType) -> Option<Tensor> {
    // The variance E[x²] − E[x]² is a liberty in f32 and wider alone.
    let is_granted = stage.bits() >= DType::F32.bits();
    let x = is_granted.then(|| cast(x, stage))??;
    let (mean, variance) = moments(&x, axes)?;
    let deviation = map(UnaryFn::Sqrt, &add(&variance, &number(epsilon.into(), &x))?)?;
    div(&sub(&x, &mean)?, &deviation)
}

fn layer_norm(n: &Node<'_>) -> Outputs {
    let (Op::LayerNorm(op), x, [_]) = (n.op, x(n)?, n.outputs) else { return None };
    let rank = x.shape().len();
    let axes: Vec<i64> = (resolve(op.axis, rank)? as i64..rank as i64).collect();
    let standard = cast(&standardised(x, &axes, op.epsilon, op.stash)?, x.dtype())?;
    let scaled = mul(&standard, n.input(1)?)?;
    one(match n.input(2) {
        Some(bias) => add(&scaled, bias),
        None => Some(scaled),
    })
}

fn group_norm(n: &Node<'_>) -> Outputs {
    let (Op::GroupNorm(op), x) = (n.op, x(n)?) else { return None };
    let ty = x.ty();
    let (images, channels) = (ty.shape[0], ty.shape[1]);
    let size = ty.count().checked_div(images * op.num_groups)?;
    let grouped = with_shape(x, &[images, op.num_groups, size])?;
    let standard = cast(&standardised(&grouped, &[2], op.epsilon, op.stash)?, x.dtype())?;
    let standard = with_shape(&standard, &ty.shape)?;
    let mut by_channel = vec![1; ty.shape.len()];
    by_channel[1] = channels;
    let (scale, bias) = (with_shape(n.input(1)?, &by_channel)?, with_shape(n.input(2)?, &by_channel)?);
    one(add(&mul(&standard, &scale)?, &bias))
}

/// The elements in another shape.
fn with_shape(x: &Tensor, shape: &[i64]) -> Option<Tensor> {
    reshaped(x, &ir::Type::new(x.dtype(), shape))
}

fn rms_norm(n: &Node<'_>) -> Outputs {
    let (Op::RmsNorm(op), x) = (n.op, x(n)?) else { return None };
    let rank = x.shape().len();
    let axes: Vec<i64> = (resolve(op.axis, rank)? as i64..rank as i64).collect();
    let stage = cast(x, op.stash)?;
    let squares = reduce(ReduceFn::Mean, &mul(&stage, &stage)?, &axes)?;
    let root = map(UnaryFn::Sqrt, &add(&squares, &number(op.epsilon.into(), &stage))?)?;
    let standard = cast(&div(&stage, &root)?, x.dtype())?;
    one(mul(&standard, n.input(1)?))
}
