//! Several operators made into one, wrongly.

use ir::Value;
use ops::Op;
use ops::elementwise::{Binary, BinaryFn, Clip, Unary, UnaryFn};
use ops::linear::MatMul;
use ops::movement::Unsqueeze;
use ops::nn::BatchNorm;

use super::site::{Inner, Site, is_binary};
use super::{Pass, WrongRewriting};

pub(super) const FAULTS: &[WrongRewriting] = &[
    WrongRewriting {
        name: "multiply-add-takes-the-addend-for-a-factor",
        does: "fuses a·b + c into a·c + b",
        source: None,
        pass: Pass::Each(multiply_add),
    },
    WrongRewriting {
        name: "multiply-subtract-has-the-other-sign",
        does: "fuses a·b − c into c − a·b",
        source: None,
        pass: Pass::Each(multiply_subtract),
    },
    WrongRewriting {
        name: "batch-normalization-is-folded-with-the-default-epsilon",
        does: "folds a batch normalisation into the product before it with an epsilon of 1e-5, whatever it is",
        source: Some("PaddlePaddle/Paddle-Lite#9861"),
        pass: Pass::Each(default_epsilon),
    },
    WrongRewriting {
        name: "batch-normalization-is-folded-over-an-activation",
        does: "folds a batch normalisation into what is before the activation between",
        source: Some("pytorch/glow#5892"),
        pass: Pass::Each(normalization_before_activation),
    },
    WrongRewriting {
        name: "activation-is-fused-before-the-addition",
        does: "applies an activation to the first operand of the addition before it, not to the sum",
        source: Some("microsoft/onnxruntime#15837"),
        pass: Pass::Each(activation_before_addition),
    },
    WrongRewriting {
        name: "activation-is-fused-into-the-operand-of-a-sum-of-products",
        does: "applies an activation to the first operand of the product or the reduction before it",
        source: None,
        pass: Pass::Each(activation_before_sum),
    },
    WrongRewriting {
        name: "bias-of-a-square-product-is-added-by-row",
        does: "fuses an addition into the matrix product before it, whose vector it takes for a column where it can",
        source: Some("openxla/xla#46897"),
        pass: Pass::Each(bias_by_row),
    },
    WrongRewriting {
        name: "factor-of-a-product-moves-into-its-second-matrix",
        does: "multiplies the second matrix, not the product, by a factor that is not one number",
        source: None,
        pass: Pass::Each(factor_into_matrix),
    },
    WrongRewriting {
        name: "clip-after-arithmetic-loses-its-upper-bound",
        does: "fuses a Clip into the sum or product before it, without its upper bound",
        source: Some("NVIDIA/TensorRT#4606"),
        pass: Pass::Each(clip_without_maximum),
    },
    WrongRewriting {
        name: "two-clampings-merge-into-the-outer-one",
        does: "drops the first of two clampings (Relu, Clip) after each other",
        source: None,
        pass: Pass::Each(outer_clamping),
    },
    WrongRewriting {
        name: "scale-of-a-normalization-is-fused-as-its-bias",
        does: "adds the factor that follows a normalisation instead of multiplying by it",
        source: None,
        pass: Pass::Each(factor_as_bias),
    },
];

fn multiply_add(s: &mut Site<'_, '_>) -> Option<Value> {
    let (product, addend) = sum_of_product(s, BinaryFn::Add)?;
    let (a, b) = (s.now(product.operand(0)?)?, s.now(product.operand(1)?)?);
    let addend = s.now(addend)?;
    let product = s.push(Binary(BinaryFn::Mul), &[a, addend])?;
    s.push(Binary(BinaryFn::Add), &[product, b])
}

fn multiply_subtract(s: &mut Site<'_, '_>) -> Option<Value> {
    if !is_binary(s.inner(0)?.op, BinaryFn::Mul) || !is_binary(s.op, BinaryFn::Sub) {
        return None;
    }
    let (product, other) = (s.x(0)?, s.x(1)?);
    s.push(Binary(BinaryFn::Sub), &[other, product])
}

/// The operand of a sum (or of another `outer`) that is a product, and the other operand.
fn sum_of_product<'g>(s: &Site<'_, 'g>, outer: BinaryFn) -> Option<(Inner<'g>, Value)> {
    is_binary(s.op, outer).then(|| s.inner_and_other(|op| is_binary(op, BinaryFn::Mul)))?
}

fn default_epsilon(s: &mut Site<'_, '_>) -> Option<Value> {
    let Op::BatchNorm(op) = s.op else { return None };
    if !is_product(s.inner(0)?.op) {
        return None;
    }
    let operands = s.all_now(s.operands())?;
    s.push_some(&BatchNorm { epsilon: 1e-5, ..*op }.into(), &operands)
}

fn normalization_before_activation(s: &mut Site<'_, '_>) -> Option<Value> {
    let (Op::BatchNorm(_), activation) = (s.op, s.inner(0)?) else { return None };
    if !bends(activation.op) {
        return None;
    }
    let mut operands = s.all_now(s.operands())?;
    operands[0] = Some(s.now(activation.operand(0)?)?);
    let normalized = s.push_some(s.op, &operands)?;
    s.push(activation.op.clone(), &[normalized])
}

fn activation_before_addition(s: &mut Site<'_, '_>) -> Option<Value> {
    let sum = s.inner(0).filter(|sum| bends(s.op) && is_binary(sum.op, BinaryFn::Add))?;
    let (a, b) = (s.now(sum.operand(0)?)?, s.now(sum.operand(1)?)?);
    let bent = s.push(s.op.clone(), &[a])?;
    s.push(Binary(BinaryFn::Add), &[bent, b])
}

fn activation_before_sum(s: &mut Site<'_, '_>) -> Option<Value> {
    let sum = s.inner(0).filter(|sum| bends(s.op) && is_sum(sum.op))?;
    let mut operands = s.all_now(sum.operands)?;
    operands[0] = Some(s.push(s.op.clone(), &[operands[0]?])?);
    s.push_some(sum.op, &operands)
}

fn bias_by_row(s: &mut Site<'_, '_>) -> Option<Value> {
    let (_, addend) = is_binary(s.op, BinaryFn::Add).then(|| s.inner_and_other(is_matrix_product))??;
    if s.ty(addend).shape.len() != 1 {
        return None;
    }
    let product = if s.operand(0)? == addend { s.x(1)? } else { s.x(0)? };
    let addend = s.now(addend)?;
    let column = s.push(Unsqueeze { axes: vec![1] }, &[addend])?;
    s.push(Binary(BinaryFn::Add), &[product, column])
}

fn factor_into_matrix(s: &mut Site<'_, '_>) -> Option<Value> {
    let (matrices, factor) = is_binary(s.op, BinaryFn::Mul)
        .then(|| s.inner_and_other(|op| matches!(op, Op::MatMul(_))))
        .flatten()
        .filter(|(_, factor)| s.ty(*factor).count() != 1)?;
    let (a, b) = (s.now(matrices.operand(0)?)?, s.now(matrices.operand(1)?)?);
    let factor = s.now(factor)?;
    let scaled = s.push(Binary(BinaryFn::Mul), &[b, factor])?;
    s.push(MatMul, &[a, scaled])
}

fn clip_without_maximum(s: &mut Site<'_, '_>) -> Option<Value> {
    let (Op::Clip(_), Some(_)) = (s.op, s.operand(2)) else { return None };
    let inner = s.inner(0)?.op;
    if !is_product(inner) && !matches!(inner, Op::Binary(_)) {
        return None;
    }
    let operands = s.all_now(&s.operands()[..2])?;
    s.push_some(&Clip.into(), &operands)
}

fn outer_clamping(s: &mut Site<'_, '_>) -> Option<Value> {
    let clamps = |op: &Op| matches!(op, Op::Clip(_) | Op::Unary(Unary(UnaryFn::Relu)));
    let inner = s.inner(0).filter(|inner| clamps(s.op) && clamps(inner.op))?;
    let mut operands = s.all_now(s.operands())?;
    operands[0] = Some(s.now(inner.operand(0)?)?);
    s.push_some(s.op, &operands)
}

fn factor_as_bias(s: &mut Site<'_, '_>) -> Option<Value> {
    let (_, factor) = is_binary(s.op, BinaryFn::Mul).then(|| s.inner_and_other(is_normalization))??;
    let normalized = if s.operand(0)? == factor { s.x(1)? } else { s.x(0)? };
    let factor = s.now(factor)?;
    s.push(Binary(BinaryFn::Add), &[normalized, factor])
}

/// Whether an operator is a function of each element that sums do not pass through.
fn bends(op: &Op) -> bool {
    match op {
        Op::Unary(Unary(f)) => {
            !matches!(f, UnaryFn::Identity | UnaryFn::Neg | UnaryFn::Not | UnaryFn::BitwiseNot)
        }
        op => matches!(op, Op::Activation(_) | Op::Gelu(_) | Op::Shrink(_)),
    }
}

fn is_matrix_product(op: &Op) -> bool {
    matches!(op, Op::MatMul(_) | Op::Gemm(_))
}

/// Whether an operator is one that normalisations are folded into.
fn is_product(op: &Op) -> bool {
    matches!(op, Op::Conv(_)) || is_matrix_product(op)
}

fn is_sum(op: &Op) -> bool {
    is_product(op) || matches!(op, Op::Reduce(_) | Op::AveragePool(_) | Op::GlobalPool(_))
}

pub(super) fn is_normalization(op: &Op) -> bool {
    matches!(
        op,
        Op::BatchNorm(_)
            | Op::LayerNorm(_)
            | Op::InstanceNorm(_)
            | Op::GroupNorm(_)
            | Op::RmsNorm(_)
            | Op::LpNorm(_)
            | Op::MeanVariance(_)
    )
}
