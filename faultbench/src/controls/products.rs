//! Products of matrices, convolutions and what is folded into them, by other steps than ours.

use ir::{Tensor, Type};
use ops::Op;
use ops::elementwise::UnaryFn;
use ops::linear::{Gemm, MatMul};
use ops::movement::Transpose;

use super::chain::{add, div, float, map, mul, number, of, one, reversed, sub};
use super::{ALL, Control};
use crate::node::{Node, Outputs, along, only, reshaped, resized};

pub(super) const CONTROLS: &[Control] = &[
    Control::of("conv-channels-reversed", "Conv", "convolves the last channel first", ALL, conv_reversed),
    Control::of(
        "conv-channel-by-channel",
        "Conv",
        "convolves each channel and adds up the results",
        ALL,
        conv_by_channel,
    ),
    Control::of(
        "matmul-split-in-two",
        "MatMul",
        "adds the products of two halves of the inner axis",
        ALL,
        matmul_split,
    ),
    Control::of(
        "matmul-of-transposes",
        "MatMul",
        "transposes the product of the transposes, in the other order",
        ALL,
        matmul_of_transposes,
    ),
    Control::of(
        "matmul-reversed",
        "MatMul",
        "goes through the inner axis from its end",
        ALL,
        matmul_reversed,
    ),
    Control::of(
        "gemm-scales-a-first",
        "Gemm",
        "multiplies A by alpha and C by beta before it adds products",
        ALL,
        |n| gemm(n, 0),
    ),
    Control::of(
        "gemm-scales-b-first",
        "Gemm",
        "multiplies B by alpha and C by beta before it adds products",
        ALL,
        |n| gemm(n, 1),
    ),
    Control::of(
        "gemm-in-steps",
        "Gemm",
        "multiplies the product by alpha, C by beta, and adds",
        ALL,
        gemm_in_steps,
    ),
    Control::of(
        "batch-normalization-folded",
        "BatchNormalization",
        "is x·s + (bias − mean·s) with s = scale/√(variance + ε)",
        ALL,
        batch_folded,
    ),
    Control::of(
        "batch-normalization-centred",
        "BatchNormalization",
        "subtracts the mean first, divides by the root, then scales",
        ALL,
        batch_centred,
    ),
];

/// The slices of an axis from one on.
fn part(x: &Tensor, axis: usize, from: usize, size: usize) -> Option<Tensor> {
    resized(x, axis, size, |i| Some(from + i))
}

fn conv_reversed(n: &Node<'_>) -> Outputs {
    let (Op::Conv(op), x, w) = (n.op, float(n, 0)?, n.input(1)?) else { return None };
    // Within each group.
    let per_group = w.shape()[1];
    if op.group != 1 && per_group == 1 {
        return None;
    }
    let x = along(x, 1, |i, _| Some(i / per_group * per_group + (per_group - 1 - i % per_group)))?;
    let w = reversed(w, 1)?;
    n.on(&[Some(&x), Some(&w), n.input(2)])
}

fn conv_by_channel(n: &Node<'_>) -> Outputs {
    let (Op::Conv(op), x, w) = (n.op, float(n, 0)?, n.input(1)?) else { return None };
    let channels = w.shape()[1];
    if op.group != 1 || channels < 2 {
        return None;
    }
    let of_channel = |c: usize| {
        let (x, w) = (part(x, 1, c, 1)?, part(w, 1, c, 1)?);
        n.on(&[Some(&x), Some(&w), n.input(2).filter(|_| c == 0)])?.pop()
    };
    one((1..channels).try_fold(of_channel(0)?, |sum, c| add(&sum, &of_channel(c)?)))
}

/// The axes of two operands of a MatMul that are summed over.
fn inner_axes(a: &Tensor, b: &Tensor) -> (usize, usize) {
    (a.shape().len() - 1, b.shape().len().saturating_sub(2))
}

fn matmul_split(n: &Node<'_>) -> Outputs {
    let (Op::MatMul(_), a, b) = (n.op, float(n, 0)?, float(n, 1)?) else { return None };
    let (of_a, of_b) = inner_axes(a, b);
    let size = a.shape()[of_a];
    let half = size / 2;
    if half == 0 {
        return None;
    }
    let product =
        |from: usize, size: usize| of(MatMul, &[&part(a, of_a, from, size)?, &part(b, of_b, from, size)?]);
    one(add(&product(0, half)?, &product(half, size - half)?))
}

fn matmul_reversed(n: &Node<'_>) -> Outputs {
    let (Op::MatMul(_), a, b) = (n.op, float(n, 0)?, float(n, 1)?) else { return None };
    let (of_a, of_b) = inner_axes(a, b);
    one(of(MatMul, &[&reversed(a, of_a)?, &reversed(b, of_b)?]))
}

fn matmul_of_transposes(n: &Node<'_>) -> Outputs {
    let (Op::MatMul(_), a, b) = (n.op, float(n, 0)?, float(n, 1)?) else { return None };
    let ([_, _], [_, _]) = (a.shape(), b.shape()) else { return None };
    let turned = |x: &Tensor| of(Transpose { perm: None }, &[x]);
    one(turned(&of(MatMul, &[&turned(b)?, &turned(a)?])?))
}

fn gemm(n: &Node<'_>, scaled: usize) -> Outputs {
    let (Op::Gemm(op), a, b) = (n.op, float(n, 0)?, float(n, 1)?) else { return None };
    let alpha = number(op.alpha.into(), a);
    let (a, b) = if scaled == 0 { (mul(a, &alpha)?, b.clone()) } else { (a.clone(), mul(b, &alpha)?) };
    let scaled_addend = |c: &Tensor| mul(c, &number(op.beta.into(), c));
    let c = match n.input(2) {
        Some(c) => Some(scaled_addend(c)?),
        None => None,
    };
    let op = Op::from(Gemm { alpha: 1.0, beta: 1.0, ..*op });
    one(only(&op, &[Some(&a), Some(&b), c.as_ref()], n.outputs.first()?))
}

fn gemm_in_steps(n: &Node<'_>) -> Outputs {
    let (Op::Gemm(op), a, b) = (n.op, float(n, 0)?, float(n, 1)?) else { return None };
    let plain = Gemm { alpha: 1.0, beta: 1.0, ..*op };
    let product = mul(&of(plain, &[a, b])?, &number(op.alpha.into(), a))?;
    one(match n.input(2) {
        Some(c) => add(&product, &mul(c, &number(op.beta.into(), c))?),
        None => Some(product),
    })
}

/// Scale, bias, mean and √(variance + ε) of a batch normalisation, each in the operand's dtype and along its channels.
fn parameters(n: &Node<'_>) -> Option<[Tensor; 4]> {
    let (Op::BatchNorm(op), x) = (n.op, float(n, 0)?) else { return None };
    let mut shape = vec![1; x.shape().len()];
    if let Some(channels) = shape.get_mut(1) {
        *channels = x.ty().shape[1];
    }
    let parameter = |i: usize| {
        let given = n.input(i).filter(|p| p.dtype() == x.dtype())?;
        reshaped(given, &Type::new(x.dtype(), shape.clone()))
    };
    let root = map(UnaryFn::Sqrt, &add(&parameter(4)?, &number(op.epsilon.into(), x))?)?;
    Some([parameter(1)?, parameter(2)?, parameter(3)?, root])
}

fn batch_folded(n: &Node<'_>) -> Outputs {
    let [scale, bias, mean, root] = parameters(n)?;
    let slope = div(&scale, &root)?;
    let offset = sub(&bias, &mul(&mean, &slope)?)?;
    one(add(&mul(n.input(0)?, &slope)?, &offset))
}

fn batch_centred(n: &Node<'_>) -> Outputs {
    let [scale, bias, mean, root] = parameters(n)?;
    let standard = mul(&sub(n.input(0)?, &mean)?, &div(&number(1.0, &mean), &root)?)?;
    one(add(&mul(&standard, &scale)?, &bias))
}
