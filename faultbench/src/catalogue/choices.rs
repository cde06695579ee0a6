//! Comparing, choosing, limiting and converting.

use backends::cpu::run_node;
use ir::round::round_to;
use ir::{DType, Tensor, Type};
use ops::arith::Comparison;
use ops::elementwise::{Compare, Unary, UnaryFn};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, as_signed, each};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "less-holds-for-equals",
        operator: "Less",
        does: "holds for equals",
        source: None,
        kernel: |n| n.instead(Compare(Comparison::LessOrEqual)),
    },
    PlantedFault {
        name: "greater-of-unsigned-as-signed",
        operator: "Greater",
        does: "compares unsigned integers as signed ones",
        source: None,
        kernel: as_signed,
    },
    PlantedFault {
        name: "equal-within-epsilon",
        operator: "Equal",
        does: "takes floats for equal that differ by less than 1e-6",
        source: None,
        kernel: |n| n.zip(|x, y| f64::from(u8::from(x == y || (x - y).abs() < 1e-6))),
    },
    PlantedFault {
        name: "greater-or-equal-is-not-less",
        operator: "GreaterOrEqual",
        does: "is the negation of Less, and so holds for NaN",
        source: None,
        kernel: |n| {
            let is_less = |x: f64, y: f64| x < y;
            n.zip(|x, y| f64::from(u8::from(!is_less(x, y))))
        },
    },
    PlantedFault {
        name: "where-exchanges-its-choices",
        operator: "Where",
        does: "takes Y where the condition holds",
        source: None,
        kernel: |n| n.exchanging(1, 2),
    },
    PlantedFault {
        name: "where-repeats-the-first-row",
        operator: "Where",
        does: "does not advance the condition from row to row",
        source: None,
        kernel: |n| n.with(0, &along(n.input(0)?, 0, |_, _| Some(0))?),
    },
    PlantedFault {
        name: "clip-takes-min-last",
        operator: "Clip",
        does: "returns min, not max, where min is larger",
        source: Some("microsoft/onnxruntime#25057"),
        kernel: |n| {
            let (low, high) = (n.input(1)?, n.input(2)?);
            if low.to_f64s() <= high.to_f64s() { None } else { n.on(&[n.input(0), Some(low), Some(low)]) }
        },
    },
    PlantedFault {
        name: "clip-starts-at-zero",
        operator: "Clip",
        does: "takes 0 for min where only max is given",
        source: None,
        kernel: |n| {
            let high = n.input(2)?;
            match n.input(1) {
                None => n.on(&[n.input(0), Some(&Tensor::zeros(&high.ty())), Some(high)]),
                Some(_) => None,
            }
        },
    },
    PlantedFault {
        name: "cast-rounds-to-nearest",
        operator: "Cast",
        does: "rounds floats to the nearest integer instead of towards zero",
        source: Some("microsoft/onnxruntime#26451"),
        kernel: |n| rounded(n, UnaryFn::Round),
    },
    PlantedFault {
        name: "cast-saturates-integers",
        operator: "Cast",
        does: "saturates integers that do not fit instead of wrapping them",
        source: None,
        kernel: |n| {
            let x = n.input(0).filter(|x| x.dtype().is_int())?.to_i128s();
            let (low, high) = n.outputs[0].dtype.int_range().filter(|_| n.outputs[0].dtype.is_int())?;
            Some(vec![Tensor::from_i128_fn(&n.outputs[0], |i| x[i].clamp(low, high))])
        },
    },
    PlantedFault {
        name: "cast-truncates-to-bf16",
        operator: "Cast",
        does: "cuts f32 off to bf16 instead of rounding it",
        source: None,
        kernel: |n| match (n.dtype()?, n.outputs[0].dtype) {
            (DType::F32, DType::BF16) => n.with(0, &each(n.input(0)?, cut_off)),
            _ => None,
        },
    },
    PlantedFault {
        name: "cast-rounds-twice",
        operator: "Cast",
        does: "rounds f64 to f32 on the way to f16",
        source: None,
        kernel: |n| match (n.dtype()?, n.outputs[0].dtype) {
            (DType::F64, DType::F16) => n.with(0, &each(n.input(0)?, |x| round_to(DType::F32, x))),
            _ => None,
        },
    },
    PlantedFault {
        name: "cast-to-bool-truncates",
        operator: "Cast",
        does: "takes fractions for false, as if they were integers first",
        source: None,
        kernel: |n| match n.outputs[0].dtype {
            DType::Bool => n.map(f64::trunc),
            _ => None,
        },
    },
    PlantedFault {
        name: "cast-like-floors",
        operator: "CastLike",
        does: "rounds floats down to integers instead of towards zero",
        source: None,
        kernel: |n| rounded(n, UnaryFn::Floor),
    },
];

/// Floats that become integers, made whole first.
fn rounded(n: &Node<'_>, function: UnaryFn) -> Outputs {
    let x = n.input(0).filter(|x| x.dtype().is_float())?;
    n.outputs.first().filter(|y| y.dtype.is_int())?;
    let ty: Type = x.ty();
    let whole = run_node(&Unary(function).into(), &[Some(x)], &[ty]).ok()?;
    n.with(0, whole.first()?)
}

/// An f32 without the bits that bf16 lacks.
fn cut_off(x: f64) -> f64 {
    f64::from(f32::from_bits((x as f32).to_bits() & 0xffff_0000))
}
