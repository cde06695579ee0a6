//! Changing shapes, repeating, joining and cutting.

use ir::{DType, Tensor, Type};
use ops::Op;
use ops::movement::{DepthToSpace, Pad, PadMode, Shape, Squeeze, Transpose};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, column_major, only, picked, reshaped, resized, resolve};

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
        name: "transpose-exchanges-the-last-two",
        operator: "Transpose",
        does: "exchanges the last two axes whatever perm is, and sets the shape as asked for",
        source: Some("tracel-ai/burn#1642"),
        kernel: |n| {
            let x = n.input(0)?;
            let rank = x.shape().len();
            let mut perm: Vec<i64> = (0..rank as i64).collect();
            perm.swap(rank.checked_sub(2)?, rank - 1);
            let shape: Vec<i64> = perm.iter().map(|&p| x.shape()[p as usize] as i64).collect();
            let moved =
                only(&Transpose { perm: Some(perm) }.into(), &[Some(x)], &Type::new(x.dtype(), shape))?;
            Some(vec![reshaped(&moved, n.outputs.first()?)?])
        },
    },
    PlantedFault {
        name: "transpose-folds-axes-of-one-away",
        operator: "Transpose",
        does: "leaves the second half unwritten where the last axis has size 1",
        source: Some("google/XNNPACK#3029"),
        kernel: |n| {
            n.input(0)?.shape().last().filter(|&&size| size == 1)?;
            let all = n.more_than(1)?;
            n.moved(|i| (i < all.div_ceil(2)).then_some(i))
        },
    },
    PlantedFault {
        name: "transpose-of-five-axes-copies",
        operator: "Transpose",
        does: "leaves elements where they are if there are five axes and more",
        source: Some("tenstorrent/tt-metal#21803"),
        kernel: |n| {
            let x = n.input(0).filter(|x| x.shape().len() >= 5)?;
            Some(vec![reshaped(x, n.outputs.first()?)?])
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
        name: "unsqueeze-counts-from-the-operand",
        operator: "Unsqueeze",
        does: "counts negative axes from the end of the operand, not of the output",
        source: Some("microsoft/onnxruntime#11944"),
        kernel: |n| {
            let (Op::Unsqueeze(op), x) = (n.op, n.input(0)?) else { return None };
            if op.axes.iter().all(|&axis| axis >= 0) {
                return None;
            }
            let mut shape = x.ty().shape;
            for &axis in &op.axes {
                let at = if axis < 0 { axis + x.shape().len() as i64 } else { axis };
                shape.insert(usize::try_from(at).ok()?.min(shape.len()), 1);
            }
            Some(vec![reshaped(x, &Type::new(x.dtype(), shape))?])
        },
    },
    PlantedFault {
        name: "squeeze-knows-no-negative-axes",
        operator: "Squeeze",
        does: "returns its operand's shape where an axis is negative",
        source: Some("XUANTIE-RV/tvm#4"),
        kernel: |n| match n.op {
            Op::Squeeze(Squeeze { axes: Some(axes) }) if axes.iter().any(|&axis| axis < 0) => {
                Some(vec![n.input(0)?.clone()])
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "squeeze-starts-at-the-second-row",
        operator: "Squeeze",
        does: "points one element further where the first axis goes",
        source: None,
        kernel: |n| {
            n.input(0)?.shape().first().filter(|&&size| size == 1)?;
            let all = n.more_than(1)?;
            n.moved(|i| Some((i + 1) % all))
        },
    },
    PlantedFault {
        name: "space-to-depth-has-the-depth-first",
        operator: "SpaceToDepth",
        does: "numbers channels with the depth first and the place in the block last",
        source: None,
        kernel: |n| {
            let channels = *n.input(0)?.shape().get(1)?;
            let right = n.right()?.pop()?;
            let places = right.shape()[1].checked_div(channels)?;
            Some(vec![along(&right, 1, |i, _| Some(i % places * channels + i / places))?])
        },
    },
    PlantedFault {
        name: "depth-to-space-exchanges-the-sides-of-a-block",
        operator: "DepthToSpace",
        does: "takes the row in a block for the column",
        source: None,
        kernel: |n| {
            let (Op::DepthToSpace(op), x) = (n.op, n.input(0)?) else { return None };
            let (block, channels) = (op.blocksize as usize, *x.shape().get(1)?);
            let (places, depth) = (block * block, channels.checked_div(block * block)?);
            let turned = |place: usize| place % block * block + place / block;
            let from = |i: usize| match op.depth_first {
                true => i / places * places + turned(i % places),
                false => turned(i / depth) * depth + i % depth,
            };
            n.with(0, &along(x, 1, |i, _| Some(from(i)))?)
        },
    },
    PlantedFault {
        name: "size-of-scalars-is-zero",
        operator: "Size",
        does: "multiplies no sizes and gets 0",
        source: None,
        kernel: |n| {
            n.scalar()?;
            Some(vec![Tensor::from_i128_fn(n.outputs.first()?, |_| 0)])
        },
    },
    PlantedFault {
        name: "size-in-a-byte",
        operator: "Size",
        does: "keeps the low eight bits",
        source: None,
        kernel: |n| {
            let all = n.input(0)?.len() as i128;
            Some(vec![Tensor::from_i128_fn(n.outputs.first()?, |_| all % 256)])
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
            for axis in 0..x.len().saturating_sub(1) {
                y = along(&y, axis, |i, _| (i < x[axis]).then_some(i))?;
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
    PlantedFault {
        name: "flatten-takes-one-axis-more",
        operator: "Flatten",
        does: "stores the matrix with its rows as columns",
        source: None,
        kernel: |n| {
            let y = n.outputs.first()?;
            let (rows, columns) = (y.extents()[0], y.extents()[1]);
            n.moved(|i| Some(i % rows * columns + i / rows))
        },
    },
    PlantedFault {
        name: "shape-is-reversed",
        operator: "Shape",
        does: "lists the sizes from the last axis on",
        source: None,
        kernel: |n| {
            let all = n.more_than(1)?;
            n.moved(|i| Some(all - 1 - i))
        },
    },
    PlantedFault {
        name: "reshape-pads-rows-to-four",
        operator: "Reshape",
        does: "reads rows of the operand as if each were followed by what fills up a vector of four",
        source: None,
        kernel: |n| {
            let row = *n.input(0)?.shape().last().filter(|&&row| row > 0)?;
            let (padded, all) = (row.next_multiple_of(4), n.more_than(0)?);
            n.moved(|i| Some(i / row * padded + i % row).filter(|&j| j < all))
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
