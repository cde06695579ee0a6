//! Windows at the rim: padding that is not even, positions that overhang, and what divides a mean there.

use ir::Tensor;
use ops::Op;
use ops::nn::window::{AutoPad, Axis, Window};
use ops::nn::{AveragePool, Conv, LpPool, Pooling};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, each, resized};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "max-pool-starts-off-the-lattice",
        operator: "MaxPool",
        does: "starts at the first element where it would start in the padding, though dilations step over that",
        source: Some("microsoft/onnxruntime#29637"),
        kernel: |n| match n.op {
            Op::MaxPool(op) if op.outputs == 1 && op.pool.window.dilations.iter().any(|&d| d > 1) => {
                let clamped = |along: Along| Along {
                    start: along.start.max(0),
                    cells: along.cells_from_zero(),
                    ..along
                };
                pooled(n, &op.pool, clamped, |seen, _| seen.iter().copied().fold(f64::NEG_INFINITY, f64::max))
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "average-pool-counts-the-overhang",
        operator: "AveragePool",
        does: "divides by the whole kernel where count_include_pad is 1 and the window overhangs the padding",
        source: Some("sonos/tract#2851"),
        kernel: |n| match n.op {
            Op::AveragePool(AveragePool { pool, count_include_pad: true }) if pool.window.ceil_mode => {
                pooled(n, pool, |along| Along { counted: along.cells, ..along }, mean)
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "average-pool-ends-with-another-axis",
        operator: "AveragePool",
        does: "takes the beginning of the second axis for the end of the first where it counts padding",
        source: Some("microsoft/onnxruntime#27375"),
        kernel: |n| match n.op {
            Op::AveragePool(AveragePool { pool, count_include_pad: true })
                if pool.kernel_shape.len() == 2 =>
            {
                let begin = *pool.window.pads.get(1)?;
                let clipped = |along: Along| match along.number {
                    0 => Along { counted: along.cells_before(along.size + begin), ..along },
                    _ => along,
                };
                pooled(n, pool, clipped, mean)
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "average-pool-same-pads-half-the-kernel",
        operator: "AveragePool",
        does: "pads half of the kernel at the beginning for SAME_UPPER and SAME_LOWER, whatever the stride",
        source: Some("root-project/root#21793"),
        kernel: |n| match n.op {
            Op::AveragePool(op) => {
                let mut op = op.clone();
                op.pool.window = half_padded(n, &op.pool.window, &op.pool.kernel_shape)?;
                n.instead(op)
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "conv-same-pads-half-the-kernel",
        operator: "Conv",
        does: "pads half of the kernel at the beginning for SAME_UPPER and SAME_LOWER, whatever the stride",
        source: Some("root-project/root#21793"),
        kernel: |n| match n.op {
            Op::Conv(op) => {
                let kernel: Vec<i64> = n.input(1)?.ty().shape.split_off(2);
                let window = half_padded(n, &op.window, &kernel)?;
                n.instead(Conv { window, ..op.clone() })
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "conv-of-dilated-groups-is-the-bias",
        operator: "Conv",
        does: "adds nothing to the bias where there are both groups and dilations",
        source: Some("Tencent/ncnn#315"),
        kernel: |n| match n.op {
            Op::Conv(op) if op.group > 1 && op.window.dilations.iter().any(|&d| d > 1) => {
                n.with(1, &each(n.input(1)?, |_| 0.0))
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "conv-adds-the-bias-to-the-first-image",
        operator: "Conv",
        does: "adds B to the first image of a batch only",
        source: None,
        kernel: |n| {
            n.input(2)?;
            let without = n.on(&n.inputs[..2])?.pop()?;
            let image: usize = without.shape()[1..].iter().product();
            n.patched(&without, |i| i >= image)
        },
    },
    PlantedFault {
        name: "conv-exchanges-strides",
        operator: "Conv",
        does: "takes the strides of two axes for each other, and stays within what it has",
        source: None,
        kernel: |n| {
            let (Op::Conv(op), x) = (n.op, n.input(0)?) else { return None };
            let &[first, .., last] = op.window.strides.as_slice() else { return None };
            let axis = x.shape().len() - 1;
            if first == last || op.window.auto_pad != AutoPad::NotSet {
                return None;
            }
            let moved = |x: &Tensor, axis: usize, from: i64, to: i64| {
                along(x, axis, |i, size| Some((i as i64 * to / from).min(size as i64 - 1) as usize))
            };
            n.with(0, &moved(&moved(x, 2, first, last)?, axis, last, first)?)
        },
    },
    PlantedFault {
        name: "lp-pool-sums-signed",
        operator: "LpPool",
        does: "sums the elements as they are where p is 1",
        source: Some("apache/tvm#7245"),
        kernel: |n| match n.op {
            Op::LpPool(LpPool { p: 1, .. }) => {
                let x = n.input(0)?;
                let above = n.with(0, &each(x, |v| v.max(0.0)))?.pop()?.to_f64s();
                let below = n.with(0, &each(x, |v| (-v).max(0.0)))?.pop()?.to_f64s();
                n.edited(|i, _| above[i] - below[i])
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "lp-pool-forgets-the-root",
        operator: "LpPool",
        does: "gives the sum of powers",
        source: None,
        kernel: |n| match n.op {
            Op::LpPool(op) => n.edited(|_, y| y.powf(op.p as f64)),
            _ => None,
        },
    },
    PlantedFault {
        name: "global-max-pool-of-the-first-row",
        operator: "GlobalMaxPool",
        does: "looks at the first element of the first spatial axis only",
        source: None,
        kernel: |n| n.with(0, &resized(n.input(0)?, 2, 1, Some)?),
    },
    PlantedFault {
        name: "global-lp-pool-divides",
        operator: "GlobalLpPool",
        does: "takes the mean of powers, not their sum",
        source: None,
        kernel: |n| match n.op {
            Op::GlobalLpPool(op) => {
                let count: usize = n.input(0)?.shape().get(2..)?.iter().product();
                n.edited(|_, y| y / (count as f64).powf(1.0 / op.p as f64))
            }
            _ => None,
        },
    },
];

/// What a window sees along one axis.
#[derive(Clone, Copy)]
struct Along {
    /// Which spatial axis it is.
    number: usize,
    /// How many elements there are.
    size: i64,
    /// Where the first cell lies, which may be in the padding.
    start: i64,
    /// The distance between cells.
    dilation: i64,
    /// How many cells there are.
    cells: i64,
    /// How many of them a mean divides by.
    counted: i64,
}

impl Along {
    /// How many cells lie before a place.
    fn cells_before(self, end: i64) -> i64 {
        (0..self.cells).filter(|cell| self.start + cell * self.dilation < end).count() as i64
    }

    /// How many cells there are if the first lies on the first element, where this starts before it.
    fn cells_from_zero(self) -> i64 {
        let end = self.start + (self.cells - 1) * self.dilation;
        if self.start < 0 { end / self.dilation + 1 } else { self.cells }
    }

    /// The elements that lie under cells.
    fn elements(self) -> impl Iterator<Item = usize> {
        let places = (0..self.cells).map(move |cell| self.start + cell * self.dilation);
        places.filter(move |place| (0..self.size).contains(place)).map(|place| place as usize)
    }
}

/// A pool of floats, each position of which sees another thing along its axes than it should. `value` gets the elements and the
/// number to divide by.
fn pooled(
    n: &Node<'_>,
    Pooling { window, kernel_shape }: &Pooling,
    see: impl Fn(Along) -> Along,
    value: impl Fn(&[f64], i64) -> f64,
) -> Outputs {
    let (x, y) = (n.input(0).filter(|x| x.dtype().is_float())?, n.outputs.first()?);
    let (values, sizes, positions) = (x.to_f64s(), x.ty().shape.split_off(2), y.extents().split_off(2));
    let axes: Vec<Axis> = window.axes(&sizes, kernel_shape);
    let along = |number: usize, position: usize| {
        let (axis, size) = (axes[number], sizes[number]);
        let start = position as i64 * axis.stride - axis.begin;
        let whole =
            Along { number, size, start, dilation: axis.dilation, cells: kernel_shape[number], counted: 0 };
        see(Along { counted: whole.cells_before(size + axis.end), ..whole })
    };
    let (inner, all): (i64, usize) = (sizes.iter().product(), positions.iter().product());
    Some(vec![Tensor::from_f64_fn(y, |i| {
        let (mut place, mut offsets, mut counted) = (i % all, vec![i / all * inner as usize], 1);
        let mut stride = 1;
        for number in (0..positions.len()).rev() {
            let seen = along(number, place % positions[number]);
            place /= positions[number];
            offsets = offsets.iter().flat_map(|o| seen.elements().map(move |e| o + e * stride)).collect();
            counted *= seen.counted;
            stride *= sizes[number] as usize;
        }
        let seen: Vec<f64> = offsets.iter().map(|&o| values[o]).collect();
        value(&seen, counted)
    })])
}

fn mean(seen: &[f64], counted: i64) -> f64 {
    seen.iter().sum::<f64>() / counted as f64
}

/// A window that pads half of the kernel before each axis, and as much after it as the output needs.
fn half_padded(n: &Node<'_>, window: &Window, kernel: &[i64]) -> Option<Window> {
    if ![AutoPad::SameUpper, AutoPad::SameLower].contains(&window.auto_pad) {
        return None;
    }
    let (sizes, positions) = (n.input(0)?.ty().shape.split_off(2), n.outputs.first()?.shape.get(2..)?);
    let begins: Vec<i64> = kernel.iter().map(|size| size / 2).collect();
    let axes = window.axes(&sizes, kernel);
    let after = axes.iter().enumerate().map(|(i, axis)| {
        let reached = (positions[i] - 1) * axis.stride + (kernel[i] - 1) * axis.dilation + 1;
        reached - sizes[i] - begins[i]
    });
    let ends: Vec<i64> = after.collect();
    let is_padding = ends.iter().all(|&end| end >= 0);
    is_padding.then(|| Window { auto_pad: AutoPad::NotSet, pads: [begins, ends].concat(), ..window.clone() })
}
