//! Elements chosen by index or by place.

use ir::Tensor;
use ops::Op;
use ops::movement::{EyeLike, Gather, GatherElements, Trilu};

use crate::PlantedFault;
use crate::node::{along, reshaped, resolve};

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
        kernel: |n| n.instead(GatherElements { axis: -1 }),
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
];

fn not_negative(indices: &Tensor) -> Tensor {
    let at = indices.to_i128s();
    Tensor::from_i128_fn(&indices.ty(), |i| at[i].max(0))
}
