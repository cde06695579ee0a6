//! Sums kept in a dtype that is too narrow.
//!
//! Where an operator only adds, every profile grants any order in the dtype of the terms, so that a sum of halves in
//! halves is none of these: a narrower dtype is. Where a normalisation promises more, the dtype of the terms is too
//! narrow already.

use ir::DType;
use ir::round::round_to;
use ops::Op;
use ops::nn::RmsNorm;
use ops::reduction::Cumulative;

use crate::PlantedFault;
use crate::node::{Node, Outputs, lanes, resolve};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "reduce-sum-of-f16-in-bf16",
        operator: "ReduceSum",
        does: "keeps sums of halves in bf16",
        source: None,
        kernel: |n| {
            let (Op::Reduce(op), x) = (n.op, n.of(&[DType::F16])?) else { return None };
            let &[axis] = op.axes.as_deref()? else { return None };
            n.summed_in(DType::BF16, 0, resolve(axis, x.shape().len())?)
        },
    },
    PlantedFault {
        name: "matmul-of-f16-in-bf16",
        operator: "MatMul",
        does: "keeps sums of products of halves in bf16",
        source: None,
        kernel: |n| {
            let rank = n.of(&[DType::F16])?.shape().len();
            n.summed_in(DType::BF16, 0, rank.checked_sub(1)?)
        },
    },
    PlantedFault {
        name: "gemm-of-bf16-in-8-bits",
        operator: "Gemm",
        does: "keeps sums of products of bf16 in floats of eight bits",
        source: None,
        kernel: |n| match n.op {
            // With an addend, it would be added once per term.
            Op::Gemm(op) if n.input(2).is_none() => {
                n.of(&[DType::BF16])?;
                n.summed_in(DType::F8E5M2, 0, usize::from(!op.trans_a))
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "conv-of-f16-in-bf16",
        operator: "Conv",
        does: "keeps sums of what the channels of halves give in bf16",
        source: None,
        kernel: |n| match n.op {
            Op::Conv(op) if op.group == 1 && n.input(2).is_none() => {
                n.of(&[DType::F16])?;
                n.summed_in(DType::BF16, 0, 1)
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "cum-sum-of-f32-in-bf16",
        operator: "CumSum",
        does: "keeps running sums of f32 in bf16",
        source: None,
        kernel: |n| match *n.op {
            Op::Cumulative(Cumulative { axis, exclusive: false, reverse: false, .. }) => {
                let x = n.of(&[DType::F32])?;
                let running = |lane: &[f64]| {
                    let next = |sum: &mut f64, x: &f64| {
                        *sum = round_to(DType::BF16, *sum + x);
                        Some(*sum)
                    };
                    lane.iter().scan(0.0, next).collect()
                };
                Some(vec![lanes(x, resolve(axis, x.shape().len())?, running)?])
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "layer-norm-of-f16-in-f16",
        operator: "LayerNormalization",
        does: "computes mean and variance of halves in halves",
        source: Some("pytorch/pytorch#66707"),
        kernel: layer_norm_in_halves,
    },
    PlantedFault {
        name: "rms-norm-squares-in-f16",
        operator: "RMSNormalization",
        does: "sums the squares of halves in halves",
        source: Some("microsoft/onnxruntime#29034"),
        kernel: |n| {
            let (&Op::RmsNorm(RmsNorm { axis, epsilon, .. }), x) = (n.op, n.of(&[DType::F16])?) else {
                return None;
            };
            let (together, half) = (row(x.shape(), axis)?, |v| round_to(DType::F16, v));
            let roots: Vec<[f64; 2]> = x
                .to_f64s()
                .chunks(together)
                .map(|row| {
                    let squares = row.iter().fold(0.0, |sum, x| half(sum + half(x * x)));
                    let right = row.iter().map(|x| x * x).sum::<f64>();
                    [half(squares / together as f64), right / together as f64]
                })
                .collect();
            let epsilon = f64::from(epsilon);
            n.edited(|i, y| {
                let [short, right] = roots[i / together];
                y * ((right + epsilon) / (short + epsilon)).sqrt()
            })
        },
    },
];

/// How many elements are normalised together.
fn row(shape: &[usize], axis: i64) -> Option<usize> {
    Some(shape[resolve(axis, shape.len())?..].iter().product()).filter(|&together| together > 0)
}

/// The right outputs of operands that are moved by how far the mean in halves is off, and scaled by how far the deviation is.
fn layer_norm_in_halves(n: &Node<'_>) -> Outputs {
    let (Op::LayerNorm(op), x, half) = (n.op, n.of(&[DType::F16])?, |v| round_to(DType::F16, v)) else {
        return None;
    };
    let together = row(x.shape(), op.axis)?;
    let (scale, count) = (n.input(1)?, together as f64);
    // The standard's function body, every step of it in halves.
    let standardised: Vec<f64> = x
        .to_f64s()
        .chunks(together)
        .flat_map(|row| {
            let mean = half(row.iter().fold(0.0, |sum, x| half(sum + x)) / count);
            let apart: Vec<f64> = row.iter().map(|x| half(x - mean)).collect();
            let variance = half(apart.iter().fold(0.0, |sum, d| half(sum + half(d * d))) / count);
            let deviation = half(half(variance + f64::from(op.epsilon)).sqrt());
            apart.into_iter().map(move |d| half(d / deviation)).collect::<Vec<_>>()
        })
        .collect();
    let (scales, biases) = (scale.to_f64s(), n.input(2).map(ir::Tensor::to_f64s));
    let bias = |i: usize| biases.as_ref().map_or(0.0, |b| b[i % b.len()]);
    let is_plain = scales.len() == together && n.input(2).is_none_or(|b| b.len() == together);
    if !is_plain {
        return None;
    }
    n.edited(|i, _| half(half(standardised[i] * scales[i % together]) + bias(i)))
}
