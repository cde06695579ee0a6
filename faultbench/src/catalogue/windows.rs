//! Convolution and pooling.

use ir::{DType, Tensor};
use ops::Op;
use ops::nn::window::{AutoPad, Window};
use ops::nn::{AveragePool, Conv, GlobalLpPool, MaxPool, Pooling};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, resized};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "conv-forgets-the-bias",
        operator: "Conv",
        does: "does not add B",
        source: None,
        kernel: |n| n.on(&n.inputs[..2]),
    },
    PlantedFault {
        name: "conv-ignores-strides",
        operator: "Conv",
        does: "moves on by 1 whatever the stride",
        source: None,
        kernel: |n| conv(n, |window| window.strides.fill(1)),
    },
    PlantedFault {
        name: "conv-ignores-dilations",
        operator: "Conv",
        does: "takes neighbouring elements whatever the dilation",
        source: None,
        kernel: |n| conv(n, |window| window.dilations.fill(1)),
    },
    PlantedFault {
        name: "conv-exchanges-its-pads",
        operator: "Conv",
        does: "takes pads for [ends, begins]",
        source: None,
        kernel: |n| conv(n, exchange_pads),
    },
    PlantedFault {
        name: "conv-flips-its-kernel",
        operator: "Conv",
        does: "convolves in the mathematical sense: the kernel is mirrored",
        source: None,
        kernel: |n| {
            let mut w = n.input(1)?.clone();
            for axis in 2..w.shape().len() {
                w = along(&w, axis, |i, size| Some(size - 1 - i))?;
            }
            n.with(1, &w)
        },
    },
    PlantedFault {
        name: "conv-repeats-the-first-group",
        operator: "Conv",
        does: "reads the channels of the first group for every group",
        source: None,
        kernel: |n| {
            let per_group = *n.input(1)?.shape().get(1)?;
            n.with(0, &along(n.input(0)?, 1, |i, _| i.checked_rem(per_group))?)
        },
    },
    PlantedFault {
        name: "conv-in-tf32",
        operator: "Conv",
        does: "rounds f32 operands to the 11 bits of TensorFloat-32",
        source: None,
        kernel: |n| n.with_bits(11, DType::F32),
    },
    PlantedFault {
        name: "max-pool-exchanges-its-pads",
        operator: "MaxPool",
        does: "takes pads for [ends, begins]",
        source: None,
        kernel: |n| max_pool(n, exchange_pads),
    },
    PlantedFault {
        name: "max-pool-ignores-dilations",
        operator: "MaxPool",
        does: "takes neighbouring elements whatever the dilation",
        source: Some("xboot/libonnx#24"),
        kernel: |n| max_pool(n, |window| window.dilations.fill(1)),
    },
    PlantedFault {
        name: "max-pool-starts-at-zero",
        operator: "MaxPool",
        does: "starts at 0, so that padding wins over negative elements",
        source: None,
        kernel: |n| n.edited(|_, y| if y < 0.0 { 0.0 } else { y }),
    },
    PlantedFault {
        name: "max-pool-ignores-ceil-mode",
        operator: "MaxPool",
        does: "leaves the last, overhanging positions of ceil_mode unwritten",
        source: None,
        kernel: |n| match n.op {
            Op::MaxPool(op) => without_overhang(n, &op.pool),
            _ => None,
        },
    },
    PlantedFault {
        name: "max-pool-exchanges-same-upper-and-lower",
        operator: "MaxPool",
        does: "puts the odd cell of SAME_UPPER at the beginning",
        source: Some("root-project/root#21793"),
        kernel: |n| {
            max_pool(n, |window| {
                if window.auto_pad == AutoPad::SameUpper {
                    window.auto_pad = AutoPad::SameLower;
                }
            })
        },
    },
    PlantedFault {
        name: "max-pool-numbers-row-by-row",
        operator: "MaxPool",
        does: "ignores storage_order in its second output",
        source: None,
        kernel: |n| match n.op {
            Op::MaxPool(op) => n.instead(MaxPool { column_major: false, ..op.clone() }),
            _ => None,
        },
    },
    PlantedFault {
        name: "average-pool-counts-padding",
        operator: "AveragePool",
        does: "counts padding where count_include_pad is 0",
        source: None,
        kernel: |n| average_pool(n, |op| op.count_include_pad = true),
    },
    PlantedFault {
        name: "average-pool-does-not-count-padding",
        operator: "AveragePool",
        does: "does not count padding where count_include_pad is 1",
        source: None,
        kernel: |n| average_pool(n, |op| op.count_include_pad = false),
    },
    PlantedFault {
        name: "average-pool-ignores-strides",
        operator: "AveragePool",
        does: "moves on by 1 whatever the stride",
        source: None,
        kernel: |n| average_pool(n, |op| op.pool.window.strides.fill(1)),
    },
    PlantedFault {
        name: "average-pool-ignores-ceil-mode",
        operator: "AveragePool",
        does: "leaves the last, overhanging positions of ceil_mode unwritten",
        source: None,
        kernel: |n| match n.op {
            Op::AveragePool(op) => without_overhang(n, &op.pool),
            _ => None,
        },
    },
    PlantedFault {
        name: "global-average-pool-divides-by-one-axis",
        operator: "GlobalAveragePool",
        does: "divides by the size of the first spatial axis alone",
        source: None,
        kernel: |n| {
            let shape = n.input(0)?.shape();
            let others: usize = shape.get(3..)?.iter().product();
            n.edited(|_, mean| mean * others as f64)
        },
    },
    PlantedFault {
        name: "global-max-pool-starts-at-zero",
        operator: "GlobalMaxPool",
        does: "starts at 0, which is no neutral element among negative numbers",
        source: None,
        kernel: |n| n.edited(|_, y| if y < 0.0 { 0.0 } else { y }),
    },
    PlantedFault {
        name: "global-lp-pool-knows-two-norms",
        operator: "GlobalLpPool",
        does: "takes the norm of squares for every higher one",
        source: None,
        kernel: |n| match *n.op {
            Op::GlobalLpPool(op) if op.p > 2 => n.instead(GlobalLpPool { p: 2 }),
            _ => None,
        },
    },
];

fn conv(n: &Node<'_>, change: impl Fn(&mut Window)) -> Outputs {
    let Op::Conv(op) = n.op else { return None };
    let mut op: Conv = op.clone();
    change(&mut op.window);
    n.instead(op)
}

fn max_pool(n: &Node<'_>, change: impl Fn(&mut Window)) -> Outputs {
    let Op::MaxPool(op) = n.op else { return None };
    let mut op: MaxPool = op.clone();
    change(&mut op.pool.window);
    n.instead(op)
}

fn average_pool(n: &Node<'_>, change: impl Fn(&mut AveragePool)) -> Outputs {
    let Op::AveragePool(op) = n.op else { return None };
    let mut op: AveragePool = op.clone();
    change(&mut op);
    n.instead(op)
}

fn exchange_pads(window: &mut Window) {
    let half = window.pads.len() / 2;
    window.pads.rotate_left(half);
}

/// The right outputs, but zeros at the positions where the window overhangs the padded input.
fn without_overhang(n: &Node<'_>, Pooling { window, kernel_shape }: &Pooling) -> Outputs {
    if !window.ceil_mode || window.auto_pad != AutoPad::NotSet {
        return None;
    }
    let input = n.input(0)?.shape().get(2..)?;
    let listed = |list: &[i64], i: usize, default: i64| list.get(i).copied().unwrap_or(default);
    let mut outputs: Vec<Tensor> = n.right()?;
    for (i, &size) in input.iter().enumerate() {
        let pads = listed(&window.pads, i, 0) + listed(&window.pads, input.len() + i, 0);
        let span = (kernel_shape[i] - 1) * listed(&window.dilations, i, 1) + 1;
        let whole = ((size as i64 + pads - span) / listed(&window.strides, i, 1) + 1) as usize;
        for y in &mut outputs {
            let positions = y.shape()[2 + i];
            *y = resized(y, 2 + i, positions, |p| (p < whole).then_some(p))?;
        }
    }
    Some(outputs)
}
