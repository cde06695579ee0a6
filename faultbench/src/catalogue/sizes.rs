//! Mistakes that depend on how many there are: what remains after whole vectors of 8, 16 and 32, and what lies beyond 64, 128 and
//! 1,024 elements, where a loop is blocked, a counter ends or a dispatch is split.

use ir::Tensor;
use ir::round::round_to;
use ops::Op;
use ops::reduction::Cumulative;

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, lanes, picked, resized, resolve};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "sub-drops-the-tail-of-8",
        operator: "Sub",
        does: "leaves what remains after whole vectors of 8 unwritten",
        source: None,
        kernel: |n| n.without_tail(8),
    },
    PlantedFault {
        name: "abs-drops-the-tail-of-16",
        operator: "Abs",
        does: "leaves what remains after whole vectors of 16 unwritten",
        source: None,
        kernel: |n| n.without_tail(16),
    },
    PlantedFault {
        name: "or-drops-the-tail-of-32",
        operator: "Or",
        does: "packs truth values into words of 32 bits and drops the last word unless it is full",
        source: None,
        kernel: |n| n.without_tail(32),
    },
    PlantedFault {
        name: "neg-leaves-the-tail-of-8",
        operator: "Neg",
        does: "copies what remains after whole vectors of 8",
        source: None,
        kernel: |n| copied_tail(n, 8),
    },
    PlantedFault {
        name: "relu-leaves-the-tail-of-16",
        operator: "Relu",
        does: "copies what remains after whole vectors of 16",
        source: None,
        kernel: |n| copied_tail(n, 16),
    },
    PlantedFault {
        name: "floor-leaves-the-tail-of-32",
        operator: "Floor",
        does: "copies what remains after whole vectors of 32",
        source: None,
        kernel: |n| copied_tail(n, 32),
    },
    PlantedFault {
        name: "exp-computes-a-tail-of-zeros",
        operator: "Exp",
        does: "loads zeros in place of what remains after whole vectors of 8",
        source: None,
        kernel: |n| {
            let all = n.more_than(8)?;
            n.edited(|i, y| if i < all / 8 * 8 { y } else { 1.0 })
        },
    },
    PlantedFault {
        name: "mul-repeats-the-vector-before-the-tail",
        operator: "Mul",
        does: "writes the results of the last whole vector of 16 once more in place of the remainder",
        source: None,
        kernel: |n| {
            let all = n.more_than(16)?;
            n.moved(|i| Some(if i < all / 16 * 16 { i } else { i - 16 }))
        },
    },
    PlantedFault {
        name: "where-drops-the-tail-of-8",
        operator: "Where",
        does: "takes Y for what remains after whole vectors of 8",
        source: None,
        kernel: |n| {
            let all = n.more_than(8)?;
            n.patched(&n.spread(2)?, |i| i >= all / 8 * 8)
        },
    },
    PlantedFault {
        name: "cast-converts-pairs",
        operator: "Cast",
        does: "leaves the last of an odd number of elements beyond 32 unwritten",
        source: None,
        kernel: |n| {
            let all = n.more_than(32)?;
            n.moved(|i| (i < all / 2 * 2).then_some(i))
        },
    },
    PlantedFault {
        name: "mean-leaves-the-last-columns",
        operator: "Mean",
        does: "goes along rows four elements at a time and leaves the last columns unwritten",
        source: Some("stew675/llama-cpp-rdna-boosts#19"),
        kernel: |n| {
            let columns = *n.outputs.first()?.extents().last().filter(|&&columns| columns > 0)?;
            n.moved(|i| (i % columns < columns / 4 * 4).then_some(i))
        },
    },
    PlantedFault {
        name: "div-reads-the-first-block-again",
        operator: "Div",
        does: "takes the divisors of the first 64 elements for all that follow",
        source: None,
        kernel: |n| {
            n.more_than(64)?;
            let y = n.spread(1)?;
            n.with(1, &picked(&y, &y.ty(), |i| Some(i % 64))?)
        },
    },
    PlantedFault {
        name: "reciprocal-stops-at-64",
        operator: "Reciprocal",
        does: "runs one workgroup of 64",
        source: None,
        kernel: |n| stopped(n, 64),
    },
    PlantedFault {
        name: "sign-stops-at-128",
        operator: "Sign",
        does: "runs one workgroup of 128",
        source: None,
        kernel: |n| stopped(n, 128),
    },
    PlantedFault {
        name: "add-stops-at-1024",
        operator: "Add",
        does: "runs one workgroup of 1,024",
        source: None,
        kernel: |n| stopped(n, 1024),
    },
    PlantedFault {
        name: "clip-exchanges-halves-of-blocks",
        operator: "Clip",
        does: "exchanges the halves of whole blocks of 128",
        source: None,
        kernel: |n| {
            let all = n.more_than(127)?;
            n.moved(|i| Some(if i < all / 128 * 128 { i ^ 64 } else { i }))
        },
    },
    PlantedFault {
        name: "concat-loses-its-place-beyond-256",
        operator: "Concat",
        does: "counts elements in a byte, and so begins anew after 256",
        source: None,
        kernel: |n| {
            n.more_than(256)?;
            n.moved(|i| Some(i % 256))
        },
    },
    PlantedFault {
        name: "transpose-leaves-partial-tiles",
        operator: "Transpose",
        does: "moves tiles of 8 and leaves the last, partial one unwritten",
        source: None,
        kernel: |n| n.without_tail(8),
    },
    PlantedFault {
        name: "gather-counts-in-a-byte",
        operator: "Gather",
        does: "counts elements in a byte, and so begins anew after 256",
        source: None,
        kernel: |n| {
            n.more_than(256)?;
            n.moved(|i| Some(i % 256))
        },
    },
    PlantedFault {
        name: "conv-drops-channels-beyond-fours",
        operator: "Conv",
        does: "computes four output channels at a time and leaves those that remain unwritten",
        source: None,
        kernel: |n| {
            let y = n.right()?.pop()?;
            Some(vec![along(&y, 1, |i, size| (i < size / 4 * 4).then_some(i))?])
        },
    },
    PlantedFault {
        name: "conv-rounds-its-row-up-to-32",
        operator: "Conv",
        does: "sums a row of the kernel up to the next multiple of 32, over what was never written",
        source: Some("ggml-org/ggml#274"),
        kernel: |n| {
            let row: usize = n.input(1)?.shape().get(1..)?.iter().product();
            if row > 32 && !row.is_multiple_of(32) { n.edited(|_, _| f64::NAN) } else { None }
        },
    },
    PlantedFault {
        name: "reduce-max-of-one-block",
        operator: "ReduceMax",
        does: "looks at the first 64 elements of all there are",
        source: None,
        kernel: |n| {
            reduced_blocks(
                n,
                |all| &all[..all.len().min(64)],
                |part| part.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            )
        },
    },
    PlantedFault {
        name: "reduce-sum-of-whole-vectors",
        operator: "ReduceSum",
        does: "sums whole vectors of 16 where everything is summed, and leaves out what remains",
        source: None,
        kernel: |n| reduced_blocks(n, |all| &all[..all.len() / 16 * 16], |part| part.iter().sum()),
    },
    PlantedFault {
        name: "reduce-mean-of-the-last-block",
        operator: "ReduceMean",
        does: "takes the mean of the last of several blocks of 128 for that of all",
        source: None,
        kernel: |n| {
            reduced_blocks(
                n,
                |all| &all[(all.len() - 1) / 128 * 128..],
                |part| part.iter().sum::<f64>() / part.len() as f64,
            )
        },
    },
    PlantedFault {
        name: "global-average-pool-of-one-workgroup",
        operator: "GlobalAveragePool",
        does: "sums the first 64 elements of an image and divides by the number of all",
        source: None,
        kernel: |n| {
            let x = n.input(0)?;
            let inner: usize = x.shape().get(2..)?.iter().product();
            let kept = picked(x, &x.ty(), |i| (i % inner < 64).then_some(i))?;
            if inner > 64 { n.with(0, &kept) } else { None }
        },
    },
    PlantedFault {
        name: "arg-max-within-a-block",
        operator: "ArgMax",
        does: "gives the place within the block of 16 in which it is",
        source: None,
        kernel: |n| {
            let right = n.right()?.pop()?;
            let places = right.to_i128s();
            Some(vec![Tensor::from_i128_fn(&right.ty(), |i| places[i] % 16)])
        },
    },
    PlantedFault {
        name: "softmax-of-each-block",
        operator: "Softmax",
        does: "normalises blocks of 16 on their own",
        source: None,
        kernel: |n| match n.op {
            Op::Softmax(op) => blockwise(n, op.axis, 16, |block| {
                let top = block.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = block.iter().map(|x| (x - top).exp()).sum();
                block.iter().map(|x| (x - top).exp() / sum).collect()
            }),
            _ => None,
        },
    },
    PlantedFault {
        name: "cum-sum-carries-nothing-over",
        operator: "CumSum",
        does: "begins anew after 8 elements",
        source: None,
        kernel: |n| match *n.op {
            Op::Cumulative(Cumulative { axis, exclusive: false, reverse: false, .. }) => {
                let dtype = n.dtype().filter(|d| d.is_float())?;
                blockwise(n, axis, 8, |block| {
                    block
                        .iter()
                        .scan(0.0, |sum, x| {
                            *sum = round_to(dtype, *sum + x);
                            Some(*sum)
                        })
                        .collect()
                })
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "top-k-of-one-block",
        operator: "TopK",
        does: "looks at the first eight elements of an axis, where that is enough for k",
        source: None,
        kernel: |n| {
            let (Op::TopK(op), x) = (n.op, n.input(0)?) else { return None };
            let axis = resolve(op.axis, x.shape().len())?;
            if op.k > 8 || x.shape()[axis] <= 8 {
                return None;
            }
            n.with(0, &resized(x, axis, 8, Some)?)
        },
    },
];

/// The right outputs of a loop over so many elements at a time, which copies the operand where it ends early.
fn copied_tail(n: &Node<'_>, lanes: usize) -> Outputs {
    let all = n.more_than(lanes)?;
    n.patched(n.input(0)?, |i| i >= all / lanes * lanes)
}

/// The right outputs of a kernel that is started for so many elements.
fn stopped(n: &Node<'_>, count: usize) -> Outputs {
    n.more_than(count)?;
    n.moved(|i| (i < count).then_some(i))
}

/// A reduction of floats to a single element, of a part of all elements only.
fn reduced_blocks(n: &Node<'_>, part: impl Fn(&[f64]) -> &[f64], reduce: impl Fn(&[f64]) -> f64) -> Outputs {
    let (x, y) = (n.input(0).filter(|x| x.dtype().is_float())?, n.outputs.first()?);
    if y.extents().iter().product::<usize>() != 1 || x.is_empty() {
        return None;
    }
    let values = x.to_f64s();
    let reduced = reduce(part(&values));
    Some(vec![Tensor::from_f64_fn(y, |_| reduced)])
}

/// A function of each block of so many elements along an axis of a tensor of floats.
fn blockwise(n: &Node<'_>, axis: i64, size: usize, f: impl Fn(&[f64]) -> Vec<f64>) -> Outputs {
    let x = n.input(0).filter(|x| x.dtype().is_float())?;
    let axis = resolve(axis, x.shape().len())?;
    Some(vec![lanes(x, axis, |lane| lane.chunks(size).flat_map(&f).collect())?])
}
