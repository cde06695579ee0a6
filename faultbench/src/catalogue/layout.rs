//! Changing shapes, repeating, joining and cutting.

use ir::Tensor;
use ops::Op;
use ops::movement::{DepthToSpace, Pad, PadMode, Shape, Transpose};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, column_major, reshaped, resized, resolve};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "transpose-copies",
        operator: "Transpose",
        does: "changes the shape and leaves the elements where they are",
        source: None,
        kernel: |n| Some(vec![reshaped(n.input(0)?, n.outputs.first()?)?]),
    },
    PlantedFault {
        name: "transpose-inverts-perm",
        operator: "Transpose",
        does: "moves elements by the inverse permutation",
        source: Some("webonnx/wonnx#112"),
        kernel: transpose_inversely,
    },
    PlantedFault {
        name: "flatten-column-major",
        operator: "Flatten",
        does: "takes the elements with the first axis running fastest",
        source: None,
        kernel: |n| n.with(0, &column_major(n.input(0)?)?),
    },
    PlantedFault {
        name: "unsqueeze-keeps-a-stale-shape",
        operator: "Unsqueeze",
        does: "returns its operand's shape",
        source: None,
        kernel: |n| Some(vec![n.input(0)?.clone()]),
    },
    PlantedFault {
        name: "reshape-loses-the-last-element",
        operator: "Reshape",
        does: "leaves the last element of a buffer of odd length unwritten",
        source: None,
        kernel: |n| {
            let mut y = n.right()?;
            *y.first_mut()? = without_odd_tail(y.first()?)?;
            Some(y)
        },
    },
    PlantedFault {
        name: "expand-fills-the-first-copy",
        operator: "Expand",
        does: "fills the first copy along the first axis that grows, and leaves 0 in the others",
        source: None,
        kernel: |n| {
            let y = n.right()?;
            let (from, to) = (n.input(0)?.shape(), y[0].shape());
            let lacking = to.len() - from.len().min(to.len());
            let axis = (0..to.len()).find(|&i| to[i] > i.checked_sub(lacking).map_or(1, |i| from[i]))?;
            Some(vec![along(&y[0], axis, |i, _| (i == 0).then_some(0))?])
        },
    },
    PlantedFault {
        name: "tile-repeats-elements",
        operator: "Tile",
        does: "repeats each element in place (aabb) instead of the whole (abab)",
        source: None,
        kernel: |n| {
            let Op::Tile(op) = n.op else { return None };
            let mut y = n.input(0)?.clone();
            for (axis, &count) in op.repeats.iter().enumerate() {
                let count = usize::try_from(count).ok().filter(|&c| c > 0)?;
                y = resized(&y, axis, y.shape()[axis] * count, |i| Some(i / count))?;
            }
            Some(vec![y])
        },
    },
    PlantedFault {
        name: "concat-reverses-its-operands",
        operator: "Concat",
        does: "joins the operands in reverse",
        source: None,
        kernel: |n| n.on(&n.inputs.iter().rev().copied().collect::<Vec<_>>()),
    },
    PlantedFault {
        name: "concat-appends-buffers",
        operator: "Concat",
        does: "appends buffer to buffer, whatever the axis",
        source: None,
        kernel: |n| {
            let buffers: Vec<u8> = n.inputs.iter().flatten().flat_map(|x| x.to_bytes()).collect();
            Some(vec![Tensor::from_bytes(n.outputs.first()?, &buffers).ok()?])
        },
    },
    PlantedFault {
        name: "split-advances-by-the-first-part",
        operator: "Split",
        does: "advances by the size of the first part where parts are uneven",
        source: Some("webonnx/wonnx#205"),
        kernel: split_evenly,
    },
    PlantedFault {
        name: "slice-backward-is-off-by-one",
        operator: "Slice",
        does: "starts one element late where the step is negative",
        source: None,
        kernel: |n| {
            let Op::Slice(op) = n.op else { return None };
            let backward = op.steps.as_ref()?.iter().position(|&step| step < 0)?;
            let axis = op.axes.as_ref().map_or(backward as i64, |axes| axes[backward]);
            let y = n.right()?;
            let axis = resolve(axis, y[0].shape().len())?;
            Some(vec![along(&y[0], axis, |i, size| Some((i + 1).min(size - 1)))?])
        },
    },
    PlantedFault {
        name: "slice-ignores-steps",
        operator: "Slice",
        does: "takes consecutive elements where the step is more than 1",
        source: None,
        kernel: |n| {
            let Op::Slice(op) = n.op else { return None };
            let mut op = op.clone();
            op.steps.as_mut()?.iter_mut().for_each(|step| *step = (*step).min(1));
            n.instead(op)
        },
    },
    PlantedFault {
        name: "pad-is-off-by-one",
        operator: "Pad",
        does: "adds one element less at the beginning and one more at the end",
        source: None,
        kernel: |n| {
            let Op::Pad(op) = n.op else { return None };
            let (mut op, axes) = (op.clone(), op.pads.len() / 2);
            let (begins, ends) = op.pads.split_at_mut(axes);
            for (begin, end) in begins.iter_mut().zip(ends).filter(|(begin, _)| **begin > 0) {
                *begin -= 1;
                *end += 1;
            }
            n.instead(op)
        },
    },
    PlantedFault {
        name: "pad-ignores-the-value",
        operator: "Pad",
        does: "pads with 0 whatever the value",
        source: None,
        kernel: |n| n.on(&n.inputs[..1]),
    },
    PlantedFault {
        name: "pad-reflect-repeats-the-edge",
        operator: "Pad",
        does: "repeats the edge where it should reflect",
        source: None,
        kernel: |n| pad_as(n, PadMode::Reflect, PadMode::Edge),
    },
    PlantedFault {
        name: "pad-wrap-reflects",
        operator: "Pad",
        does: "reflects where it should wrap",
        source: None,
        kernel: |n| pad_as(n, PadMode::Wrap, PadMode::Reflect),
    },
    PlantedFault {
        name: "depth-to-space-ignores-mode",
        operator: "DepthToSpace",
        does: "takes DCR for CRD",
        source: Some("llvm/torch-mlir#4351"),
        kernel: |n| match n.op {
            Op::DepthToSpace(op) => n.instead(DepthToSpace { depth_first: false, ..*op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "shape-ignores-start",
        operator: "Shape",
        does: "counts from the first axis whatever the start",
        source: None,
        kernel: |n| {
            let length = n.outputs.first()?.shape[0];
            n.instead(Shape { start: 0, end: Some(length) })
        },
    },
];

fn transpose_inversely(n: &Node<'_>) -> Outputs {
    let Op::Transpose(op) = n.op else { return None };
    let x = n.input(0)?;
    let perm = op.perm.as_ref()?;
    let inverse = (0..perm.len() as i64).map(|axis| perm.iter().position(|&p| p == axis).map(|p| p as i64));
    let inverse: Vec<i64> = inverse.collect::<Option<_>>()?;
    let mut ty = x.ty();
    ty.shape = inverse.iter().map(|&p| x.shape()[p as usize] as i64).collect();
    let moved = backends::cpu::run_node(&Transpose { perm: Some(inverse) }.into(), n.inputs, &[ty]).ok()?;
    Some(vec![reshaped(moved.first()?, n.outputs.first()?)?])
}

fn without_odd_tail(x: &Tensor) -> Option<Tensor> {
    let mut bytes = x.to_bytes();
    if x.len() % 2 == 1 {
        let kept = bytes.len() - x.dtype().whole_bytes();
        bytes[kept..].fill(0);
    }
    Tensor::from_bytes(&x.ty(), &bytes).ok()
}

fn split_evenly(n: &Node<'_>) -> Outputs {
    let Op::Split(op) = n.op else { return None };
    let x = n.input(0)?;
    let axis = resolve(op.axis, x.shape().len())?;
    let (size, first) = (x.shape()[axis], *op.split.first()? as usize);
    let parts = op.split.iter().enumerate();
    parts
        .map(|(i, &part)| {
            resized(x, axis, part as usize, |k| Some((i * first + k).min(size.checked_sub(1)?)))
        })
        .collect()
}

fn pad_as(n: &Node<'_>, asked: PadMode, mode: PadMode) -> Outputs {
    match n.op {
        Op::Pad(op) if op.mode == asked => n.instead(Pad { mode, ..op.clone() }),
        _ => None,
    }
}
