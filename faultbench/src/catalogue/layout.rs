//! Repeating, joining and cutting.

use ir::{DType, Tensor, Type};
use ops::Op;
use ops::movement::{Pad, PadMode};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, picked, resized, resolve};

pub(super) const FAULTS: &[PlantedFault] = &[
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
        name: "pad-crops-at-the-other-end",
        operator: "Pad",
        does: "does not move the start where it crops the beginning, and so loses the end",
        source: Some("microsoft/onnxruntime#2433"),
        kernel: |n| {
            let Op::Pad(op) = n.op else { return None };
            let (mut op, axes) = (op.clone(), op.pads.len() / 2);
            let (begins, ends) = op.pads.split_at_mut(axes);
            for (begin, end) in begins.iter_mut().zip(ends).filter(|(begin, _)| **begin < 0) {
                *end += *begin;
                *begin = 0;
            }
            n.instead(op)
        },
    },
    PlantedFault {
        name: "pad-reflects-rows-too",
        operator: "Pad",
        does: "turns the last axis of reflected slices round as well",
        source: Some("microsoft/onnxruntime#6442"),
        kernel: |n| match n.op {
            Op::Pad(op) if op.mode == PadMode::Reflect => with_padding_turned(n, op),
            _ => None,
        },
    },
    PlantedFault {
        name: "pad-of-bool-is-true",
        operator: "Pad",
        does: "pads truth values with true where there is no value",
        source: None,
        kernel: |n| {
            n.of(&[DType::Bool]).filter(|_| n.input(1).is_none())?;
            let value = Tensor::from_i128_fn(&Type::new(DType::Bool, []), |_| 1);
            n.on(&[n.input(0), Some(&value)])
        },
    },
    PlantedFault {
        name: "split-of-a-vector-starts-anew",
        operator: "Split",
        does: "takes every part from the beginning where there is one axis",
        source: Some("microsoft/onnxruntime#23376"),
        kernel: |n| {
            let x = n.input(0).filter(|x| x.shape().len() == 1)?;
            n.outputs.iter().map(|part| picked(x, part, Some)).collect()
        },
    },
    PlantedFault {
        name: "concat-shares-the-first-offset",
        operator: "Concat",
        does: "writes from the third operand on where the second one lies",
        source: None,
        kernel: |n| {
            let (Op::Concat(op), y) = (n.op, n.outputs.first()?) else { return None };
            let axis = resolve(op.axis, y.rank())?;
            let sizes: Vec<usize> = n.inputs.iter().flatten().map(|x| x.shape()[axis]).collect();
            let (&[first, second, ..], right) = (sizes.as_slice(), n.right()?.pop()?) else { return None };
            let late: usize = sizes[2..].iter().sum();
            // What came last over what the second one had written.
            let from = |i: usize| if i >= first && i < first + second.min(late) { i + second } else { i };
            Some(vec![along(&right, axis, |i, _| Some(from(i)))?])
        },
    },
    PlantedFault {
        name: "tile-repeats-the-last-axis-only",
        operator: "Tile",
        does: "fills the repetitions along other axes with 0",
        source: None,
        kernel: |n| {
            let x = n.input(0)?.shape();
            let mut y = n.right()?.pop()?;
            for (axis, &size) in x.iter().enumerate().take(x.len().saturating_sub(1)) {
                y = along(&y, axis, |i, _| (i < size).then_some(i))?;
            }
            Some(vec![y])
        },
    },
    PlantedFault {
        name: "expand-of-eight-bytes-repeats-half",
        operator: "Expand",
        does: "fills elements of 64 bits with the low half of each",
        source: None,
        kernel: |n| {
            n.of(&[DType::I64, DType::U64, DType::F64])?;
            let mut y = n.right()?.pop()?;
            let mut bytes = y.to_bytes();
            bytes.chunks_exact_mut(8).for_each(|element| element.copy_within(..4, 4));
            y = Tensor::from_bytes(&y.ty(), &bytes).ok()?;
            Some(vec![y])
        },
    },
];

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

/// The right outputs, but that slices which lie in the padding of an axis have their last axis turned round.
fn with_padding_turned(n: &Node<'_>, op: &Pad) -> Outputs {
    let (x, y) = (n.input(0)?.shape(), n.outputs.first()?.extents());
    let pads = op.by_axis(x.len()).ok()?;
    let row = *y.last().filter(|&&row| row > 0)?;
    let is_padding = |i: usize| {
        let mut place = i / row;
        (0..x.len() - 1).rev().any(|axis| {
            let at = (place % y[axis]) as i64 - pads[axis][0];
            place /= y[axis];
            at < 0 || at >= x[axis] as i64
        })
    };
    n.moved(|i| Some(if is_padding(i) { i / row * row + row - 1 - i % row } else { i }))
}
