//! Elements chosen by index or by place.

use ir::{Tensor, Type};
use ops::Op;
use ops::movement::reverse_sequence::Order;
use ops::movement::{EyeLike, Gather, GatherElements, OneHot, ReverseSequence, Trilu};

use crate::PlantedFault;
use crate::node::{along, column_major, only, picked, reshaped, resolve};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "gather-does-not-wrap-negative-indices",
        operator: "Gather",
        does: "takes negative indices for 0",
        source: Some("tracel-ai/burn-onnx#523"),
        kernel: |n| n.with(1, &not_negative(n.input(1)?)),
    },
    PlantedFault {
        name: "gather-drops-the-last-index",
        operator: "Gather",
        does: "uses the index before in place of the last one",
        source: None,
        kernel: |n| {
            let indices = n.input(1)?;
            let (at, last) = (indices.to_i128s(), indices.len().checked_sub(1)?);
            n.with(
                1,
                &Tensor::from_i128_fn(&indices.ty(), |i| at[if i == last { i.saturating_sub(1) } else { i }]),
            )
        },
    },
    PlantedFault {
        name: "gather-takes-the-first-axis",
        operator: "Gather",
        does: "gathers along the first axis and sets the shape as asked for",
        source: None,
        kernel: |n| {
            let &Op::Gather(op) = n.op else { return None };
            let (x, indices) = (n.input(0)?, n.input(1)?);
            let axis = resolve(op.axis, x.shape().len()).filter(|&a| a > 0)?;
            let mut ty = x.ty();
            ty.shape.splice(..1, indices.ty().shape);
            if x.shape()[0] < x.shape()[axis] {
                return None;
            }
            let y = backends::cpu::run_node(&Gather { axis: 0 }.into(), n.inputs, &[ty]).ok()?;
            Some(vec![reshaped(y.first()?, n.outputs.first()?)?])
        },
    },
    PlantedFault {
        name: "gather-elements-ignores-axis",
        operator: "GatherElements",
        does: "gathers along the last axis",
        source: None,
        kernel: |n| {
            // On the other axes the indices may not be longer than the operand.
            let (x, indices) = (n.input(0)?.shape(), n.input(1)?.shape());
            let fits = x.iter().zip(indices).rev().skip(1).all(|(x, indices)| indices <= x);
            if fits { n.instead(GatherElements { axis: -1 }) } else { None }
        },
    },
    PlantedFault {
        name: "gather-elements-does-not-wrap-negative-indices",
        operator: "GatherElements",
        does: "takes negative indices for 0",
        source: Some("apache/tvm#20217"),
        kernel: |n| n.with(1, &not_negative(n.input(1)?)),
    },
    PlantedFault {
        name: "one-hot-does-not-wrap-negative-indices",
        operator: "OneHot",
        does: "has no \"on\" value for negative indices",
        source: Some("apache/tvm#20217"),
        kernel: |n| {
            let Op::OneHot(op) = n.op else { return None };
            let indices = n.input(0)?;
            let at = indices.to_f64s();
            let beyond = op.depth as f64;
            n.with(0, &Tensor::from_f64_fn(&indices.ty(), |i| if at[i] <= -1.0 { beyond } else { at[i] }))
        },
    },
    PlantedFault {
        name: "one-hot-exchanges-its-values",
        operator: "OneHot",
        does: "takes the values for [on, off]",
        source: None,
        kernel: |n| n.with(1, &along(n.input(1)?, 0, |i, size| Some(size - 1 - i))?),
    },
    PlantedFault {
        name: "trilu-ignores-k",
        operator: "Trilu",
        does: "cuts at the main diagonal",
        source: None,
        kernel: |n| match n.op {
            Op::Trilu(op) => n.instead(Trilu { k: 0, ..*op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "trilu-leaves-the-diagonal-out",
        operator: "Trilu",
        does: "leaves the diagonal itself out of the triangle",
        source: None,
        kernel: |n| match n.op {
            Op::Trilu(op) => n.instead(Trilu { k: if op.upper { op.k + 1 } else { op.k - 1 }, ..*op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "eye-like-mirrors-k",
        operator: "EyeLike",
        does: "counts diagonals downward",
        source: None,
        kernel: |n| match n.op {
            Op::EyeLike(op) => n.instead(EyeLike { k: -op.k, ..*op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "reverse-sequence-ignores-lengths",
        operator: "ReverseSequence",
        does: "reverses all of each sequence",
        source: None,
        kernel: |n| {
            let Op::ReverseSequence(op) = n.op else { return None };
            let time = *n.input(0)?.shape().get(usize::from(op.batch_first()))? as i128;
            let lengths = n.input(1)?;
            n.with(1, &Tensor::from_i128_fn(&lengths.ty(), |_| time))
        },
    },
    PlantedFault {
        name: "gather-of-a-scalar-index-takes-the-first",
        operator: "Gather",
        does: "takes slice 0 where the indices have no axes",
        source: None,
        kernel: |n| {
            let indices = n.input(1).filter(|indices| indices.shape().is_empty())?;
            n.with(1, &Tensor::zeros(&indices.ty()))
        },
    },
    PlantedFault {
        name: "one-hot-lies-along-the-last-axis",
        operator: "OneHot",
        does: "lays its lists along the last axis and sets the shape as asked for",
        source: Some("apache/tvm#16295"),
        kernel: |n| {
            let (Op::OneHot(op), y) = (n.op, n.outputs.first()?) else { return None };
            let mut last = Type::new(y.dtype, n.input(0)?.ty().shape);
            last.shape.push(op.depth);
            let wrong = only(&OneHot { axis: -1, ..*op }.into(), n.inputs, &last)?;
            Some(vec![reshaped(&wrong, y)?])
        },
    },
    PlantedFault {
        name: "trilu-of-the-first-matrix",
        operator: "Trilu",
        does: "cuts the first matrix of a batch only",
        source: None,
        kernel: |n| {
            let x = n.input(0)?;
            let matrix: usize = x.shape().iter().rev().take(2).product();
            n.patched(x, |i| i >= matrix)
        },
    },
    PlantedFault {
        name: "eye-like-of-squares",
        operator: "EyeLike",
        does: "steps from one to the next as if there were as many columns as rows",
        source: None,
        kernel: |n| {
            let &[rows, columns] = n.outputs.first()?.extents().as_slice() else { return None };
            n.moved(|i| if rows > columns && i >= columns * columns { None } else { Some(i) })
        },
    },
    PlantedFault {
        name: "reverse-sequence-takes-time-for-batch",
        operator: "ReverseSequence",
        does: "reverses along the second axis where time is the first one",
        source: Some("iree-org/iree#24229"),
        kernel: |n| {
            let Op::ReverseSequence(ReverseSequence { order: Order::TimeFirst }) = n.op else { return None };
            let (x, lengths) = (n.input(0)?, n.input(1).filter(|lengths| !lengths.is_empty())?);
            let (rows, most, of) = (x.shape()[0], x.shape()[1] as i128, lengths.to_i128s());
            let each = Type::new(lengths.dtype(), [rows as i64]);
            let each = Tensor::from_i128_fn(&each, |i| of[i % of.len()].clamp(0, most));
            let other = ReverseSequence { order: Order::BatchFirst };
            Some(vec![only(&other.into(), &[Some(x), Some(&each)], n.outputs.first()?)?])
        },
    },
    PlantedFault {
        name: "reverse-sequence-of-nothing-is-zero",
        operator: "ReverseSequence",
        does: "leaves a sequence of length 0 unwritten",
        source: Some("microsoft/onnxruntime#28490"),
        kernel: |n| {
            let (Op::ReverseSequence(op), x) = (n.op, n.input(0)?) else { return None };
            let lengths = n.input(1)?.to_i128s();
            let axis = usize::from(!op.batch_first());
            let inner: usize = x.shape()[axis + 1..].iter().product();
            n.moved(|i| (lengths[i / inner % lengths.len()] > 0).then_some(i))
        },
    },
    PlantedFault {
        name: "gather-elements-steps-as-the-operand-does",
        operator: "GatherElements",
        does: "reads the indices in the order of a tensor of the operand's shape",
        source: None,
        kernel: |n| {
            let (x, indices) = (n.input(0)?, n.input(1)?);
            let (wide, narrow) = (*x.shape().last()?, *indices.shape().last()?);
            let read = |i: usize| Some((i / narrow * wide + i % narrow) % indices.len());
            let axis = match n.op {
                Op::GatherElements(op) => resolve(op.axis, x.shape().len())?,
                _ => return None,
            };
            // Along the axis itself, any size is right.
            if axis + 1 == x.shape().len() || wide == narrow {
                return None;
            }
            n.with(1, &picked(indices, &indices.ty(), read)?)
        },
    },
    PlantedFault {
        name: "non-zero-is-transposed",
        operator: "NonZero",
        does: "gives a place after the other, not an axis after the other",
        source: None,
        kernel: |n| Some(vec![column_major(n.right()?.first()?)?]),
    },
    PlantedFault {
        name: "non-zero-has-the-last-axis-first",
        operator: "NonZero",
        does: "lists the places along the last axis first",
        source: None,
        kernel: |n| {
            let right = n.right()?;
            let places = right.first()?;
            let &[rank, count] = places.shape() else { return None };
            let from = |i: usize| Some((rank - 1 - i / count) * count + i % count);
            Some(vec![picked(places, &places.ty(), from)?])
        },
    },
];

/// Indices with 0 for those from the end.
pub(super) fn not_negative(indices: &Tensor) -> Tensor {
    let at = indices.to_i128s();
    Tensor::from_i128_fn(&indices.ty(), |i| at[i].max(0))
}
