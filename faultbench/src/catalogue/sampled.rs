//! Elements at computed places, and bits read as another dtype.

use ir::{DType, Tensor};
use ops::Op;
use ops::nn::GridSample;
use ops::nn::grid_sample::{Mode, Padding};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, converted_to};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "grid-sample-takes-rows-for-columns",
        operator: "GridSample",
        does: "reads a position in the order of the image's axes, though the last one comes first",
        source: None,
        kernel: |n| {
            let grid = n.input(1)?;
            n.with(1, &along(grid, grid.shape().len() - 1, |i, axes| Some(axes - 1 - i))?)
        },
    },
    PlantedFault {
        name: "grid-sample-forgets-the-border",
        operator: "GridSample",
        does: "takes 0 outside of the image where the element at the border is due",
        source: None,
        kernel: |n| as_if(n, |op| op.padding == Padding::Border, |op| op.padding = Padding::Zeros),
    },
    PlantedFault {
        name: "grid-sample-aligns-corners",
        operator: "GridSample",
        does: "takes -1 and 1 for the middles of the elements at the ends in any case",
        source: None,
        kernel: |n| as_if(n, |op| !op.align_corners, |op| op.align_corners = true),
    },
    PlantedFault {
        name: "grid-sample-cubic-is-linear",
        operator: "GridSample",
        does: "has no curves: lines between elements in their place",
        source: None,
        kernel: |n| as_if(n, |op| op.mode == Mode::Cubic, |op| op.mode = Mode::Linear),
    },
    PlantedFault {
        name: "bit-cast-converts",
        operator: "BitCast",
        does: "converts numbers between floats and integers in place of bits",
        source: None,
        kernel: |n| {
            let (x, y) = (n.input(0)?, n.outputs.first()?);
            (x.dtype().is_float() != y.dtype.is_float()).then(|| vec![converted_to(x, y)])
        },
    },
    PlantedFault {
        name: "bit-cast-of-bytes-saturates",
        operator: "BitCast",
        does: "gives 0 for negative bytes as unsigned ones",
        source: None,
        kernel: |n| {
            let y = n.outputs.first().filter(|y| y.dtype == DType::U8)?;
            let x = n.of(&[DType::I8])?.to_i128s();
            Some(vec![Tensor::from_i128_fn(y, |i| x[i].max(0))])
        },
    },
];

/// The right outputs with another attribute, where a use has what the fault is about.
fn as_if(n: &Node<'_>, has_it: impl Fn(&GridSample) -> bool, change: impl Fn(&mut GridSample)) -> Outputs {
    match n.op {
        Op::GridSample(op) if has_it(op) => {
            let mut op = *op;
            change(&mut op);
            n.instead(op)
        }
        _ => None,
    }
}
