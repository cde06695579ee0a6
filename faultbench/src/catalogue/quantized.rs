//! Numbers as few integers: how quotients are rounded, and what saturates.

use ir::{DType, Tensor};
use ops::Op;
use ops::quantized::{DequantizeLinear, Granularity, QuantizeLinear};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "quantize-truncates",
        operator: "QuantizeLinear",
        does: "cuts the quotient's fraction off",
        source: None,
        kernel: |n| requantized(n, f64::trunc),
    },
    PlantedFault {
        name: "quantize-rounds-ties-away-from-zero",
        operator: "QuantizeLinear",
        does: "rounds a half away from zero",
        source: None,
        kernel: |n| requantized(n, f64::round),
    },
    PlantedFault {
        name: "quantize-wraps",
        operator: "QuantizeLinear",
        does: "keeps the low bits of what is beyond the integers",
        source: None,
        kernel: |n| {
            let mut right = n.right()?;
            let all = quotients(n)?;
            let first = right.first_mut()?;
            let (ty, wrapped) = (first.ty(), |i: usize| {
                let (quotient, point) = all[i];
                quotient.round_ties_even() as i128 + point
            });
            *first = Tensor::from_i128_fn(&ty, |i| ty.dtype.wrap(wrapped(i)));
            Some(right)
        },
    },
    PlantedFault {
        name: "quantize-ignores-blocks",
        operator: "QuantizeLinear",
        does: "takes the first scale of each row of blocks for all of them",
        source: None,
        kernel: |n| match n.op {
            Op::QuantizeLinear(QuantizeLinear {
                granularity: Granularity { axis, block_size: 1.. }, ..
            }) => first_along(n, *axis),
            _ => None,
        },
    },
    PlantedFault {
        name: "dequantize-wraps-the-difference",
        operator: "DequantizeLinear",
        does: "subtracts the zero point in the integers' own dtype",
        source: None,
        kernel: |n| {
            let (x, point) = (n.input(0)?, n.input(2).filter(|point| point.shape().is_empty())?);
            let (all, point) = (x.to_i128s(), point.to_i128s().first().copied()?);
            let moved = Tensor::from_i128_fn(&x.ty(), |i| x.dtype().wrap(all[i] - point));
            backends::cpu::run_node(n.op, &[Some(&moved), n.inputs[1]], n.outputs).ok()
        },
    },
    PlantedFault {
        name: "dequantize-takes-u8-for-i8",
        operator: "DequantizeLinear",
        does: "reads unsigned bytes as signed ones",
        source: None,
        kernel: |n| {
            let x = n.of(&[DType::U8])?;
            let all = x.to_i128s();
            let signed =
                Tensor::from_i128_fn(&ir::Type::new(DType::I8, x.ty().shape), |i| DType::I8.wrap(all[i]));
            backends::cpu::run_node(n.op, &[Some(&signed), n.inputs[1]], n.outputs)
                .ok()
                .filter(|_| n.input(2).is_none())
        },
    },
    PlantedFault {
        name: "dequantize-ignores-the-axis",
        operator: "DequantizeLinear",
        does: "takes the first scale for all of an axis",
        source: None,
        kernel: |n| match n.op {
            Op::DequantizeLinear(DequantizeLinear { granularity, .. }) if granularity.block_size == 0 => {
                n.with(1, &along(n.input(1).filter(|scale| !scale.shape().is_empty())?, 0, |_, _| Some(0))?)
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "dynamic-quantize-leaves-zero-out",
        operator: "DynamicQuantizeLinear",
        does: "takes the range of the elements, and not that of the elements and 0",
        source: None,
        kernel: |n| {
            let x = n.input(0)?.to_f64s();
            let low = x.iter().copied().fold(f64::INFINITY, f64::min);
            let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut right = n.right()?;
            let scale = right.get_mut(1).filter(|_| low > 0.0 && high > low)?;
            *scale = Tensor::from_f64_fn(&scale.ty(), |_| (high - low) / 255.0);
            Some(right)
        },
    },
    PlantedFault {
        name: "dynamic-quantize-truncates-its-zero-point",
        operator: "DynamicQuantizeLinear",
        does: "cuts the fraction of the zero point off, and says so",
        source: None,
        kernel: |n| {
            let (x, mut right) = (n.input(0)?.to_f64s(), n.right()?);
            let scale = right.get(1)?.to_f64s().first().copied()?;
            let low = x.iter().copied().fold(0.0, f64::min);
            let point = right.get_mut(2)?;
            *point = Tensor::from_i128_fn(&point.ty(), |_| (-low / scale) as i128);
            Some(right)
        },
    },
];

/// The quotient of each element, and its zero point, where one scale serves all.
fn quotients(n: &Node<'_>) -> Option<Vec<(f64, i128)>> {
    let scale = n.input(1).filter(|scale| scale.shape().is_empty())?.to_f64s().first().copied()?;
    let point = n.input(2).map_or(Some(0), |point| point.to_i128s().first().copied())?;
    // In f32, as right kernels have it.
    let x = n.input(0)?.to_f64s().into_iter();
    Some(x.map(|x| (f64::from(x as f32 / scale as f32), point)).collect())
}

/// The right outputs but for how quotients are rounded.
fn requantized(n: &Node<'_>, round: impl Fn(f64) -> f64) -> Outputs {
    let (mut right, all) = (n.right()?, quotients(n)?);
    let first = right.first_mut()?;
    let (low, high) = first.dtype().int_range()?;
    *first = Tensor::from_i128_fn(&first.ty(), |i| {
        let (quotient, point) = all[i];
        (round(quotient) as i128).saturating_add(point).clamp(low, high)
    });
    Some(right)
}

/// The right outputs with the first scale along an axis for all.
fn first_along(n: &Node<'_>, axis: i64) -> Outputs {
    let scale = n.input(1)?;
    n.with(1, &along(scale, crate::node::resolve(axis, scale.shape().len())?, |_, _| Some(0))?)
}
