//! The same elements under another shape or in another order, and what is asked of shapes.

use ir::{Tensor, Type};
use ops::Op;
use ops::movement::{DepthToSpace, Shape, Squeeze, Transpose};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, bytes, column_major, only, reshaped};

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
            let from = |i: usize| {
                if op.depth_first {
                    i / places * places + turned(i % places)
                } else {
                    turned(i / depth) * depth + i % depth
                }
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
            Some(vec![Tensor::zeros(n.outputs.first()?)])
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
    let mut bytes = bytes(x)?;
    if x.len() % 2 == 1 {
        let kept = bytes.len() - x.dtype().whole_bytes();
        bytes[kept..].fill(0);
    }
    Tensor::from_bytes(&x.ty(), &bytes).ok()
}
