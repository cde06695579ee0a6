//! Reductions, and what else runs along an axis.

use ir::round::round_to;
use ir::{DType, Operation, Tensor};
use ops::Op;
use ops::movement::Expand;
use ops::reduction::{Arg, ArgFn, Cumulative, Reduce, ReduceFn, TopK};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, as_signed, column_major, converted, each, lanes, only, resolve};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "reduce-sum-drops-the-last-element",
        operator: "ReduceSum",
        does: "leaves the last slice of the first axis out",
        source: None,
        kernel: |n| n.with(0, &along(n.input(0)?, axis(n)?, |i, size| (i + 1 < size).then_some(i))?),
    },
    PlantedFault {
        name: "reduce-sum-accumulates-in-f16",
        operator: "ReduceSum",
        does: "sums f32 in f16",
        source: None,
        kernel: |n| {
            n.dtype().filter(|&d| d == DType::F32)?;
            let (x, axis) = (n.input(0)?, axis(n)?);
            // The sum in place of the first element, and nothing in that of the others.
            let sum = |lane: &[f64]| {
                let total = lane.iter().fold(0.0, |sum, x| round_to(DType::F16, sum + x));
                (0..lane.len()).map(|i| if i == 0 { total } else { 0.0 }).collect()
            };
            n.with(0, &lanes(x, axis, sum)?)
        },
    },
    PlantedFault {
        name: "reduce-sum-of-i64-through-f64",
        operator: "ReduceSum",
        does: "sums 64-bit integers in f64",
        source: None,
        kernel: |n| n.through(DType::F64, &[DType::I64, DType::U64]),
    },
    PlantedFault {
        name: "reduce-sum-without-keepdims-is-transposed",
        operator: "ReduceSum",
        does: "stores the axes that are left in reverse where keepdims is 0",
        source: None,
        kernel: |n| {
            let Op::Reduce(Reduce { keepdims: false, .. }) = n.op else { return None };
            Some(vec![column_major(n.right()?.first()?)?])
        },
    },
    PlantedFault {
        name: "reduce-mean-divides-by-one-axis",
        operator: "ReduceMean",
        does: "divides by the size of the first axis that is reduced, not by all of them",
        source: None,
        kernel: |n| {
            let (x, y) = (n.input(0)?, n.outputs.first()?);
            let of_one = x.shape()[axis(n)?] as f64;
            let count = x.len() as f64 / y.extents().iter().product::<usize>() as f64;
            if count.is_finite() { n.edited(|_, mean| mean * count / of_one) } else { None }
        },
    },
    PlantedFault {
        name: "reduce-mean-of-integers-floors",
        operator: "ReduceMean",
        does: "rounds means of integers down instead of towards zero",
        source: None,
        kernel: |n| {
            let Op::Reduce(op) = n.op else { return None };
            n.dtype().filter(|d| d.is_int())?;
            let sums = n.instead(Reduce { function: ReduceFn::Sum, ..op.clone() })?.pop()?;
            let count = n.input(0)?.len().checked_div(sums.len())? as i128;
            let total = sums.to_i128s();
            Some(vec![Tensor::from_i128_fn(&sums.ty(), |i| total[i].div_euclid(count.max(1)))])
        },
    },
    PlantedFault {
        name: "reduce-max-starts-at-zero",
        operator: "ReduceMax",
        does: "starts at 0, which is no neutral element among negative numbers",
        source: None,
        kernel: |n| n.edited(|_, y| if y < 0.0 { 0.0 } else { y }),
    },
    PlantedFault {
        name: "reduce-min-of-unsigned-as-signed",
        operator: "ReduceMin",
        does: "compares unsigned integers as signed ones",
        source: None,
        kernel: as_signed,
    },
    PlantedFault {
        name: "reduce-prod-in-f16",
        operator: "ReduceProd",
        does: "multiplies f32 in f16",
        source: None,
        kernel: |n| n.through(DType::F16, &[DType::F32]),
    },
    PlantedFault {
        name: "reduce-l1-forgets-the-magnitude",
        operator: "ReduceL1",
        does: "sums the elements as they are",
        source: None,
        kernel: |n| match n.op {
            Op::Reduce(op) => n.instead(Reduce { function: ReduceFn::Sum, ..op.clone() }),
            _ => None,
        },
    },
    PlantedFault {
        name: "reduce-l2-forgets-the-root",
        operator: "ReduceL2",
        does: "returns the sum of squares",
        source: None,
        kernel: |n| match n.op {
            Op::Reduce(op) => n.instead(Reduce { function: ReduceFn::SumSquare, ..op.clone() }),
            _ => None,
        },
    },
    PlantedFault {
        name: "reduce-l2-of-integers-rounds",
        operator: "ReduceL2",
        does: "rounds roots of integers to nearest instead of towards zero",
        source: None,
        kernel: |n| {
            let (x, y) = (n.input(0).filter(|x| x.dtype().is_int())?, n.outputs.first()?);
            let roots = only(n.op, &[Some(&converted(x, DType::F64))], &y.with_dtype(DType::F64))?.to_f64s();
            Some(vec![Tensor::from_i128_fn(y, |i| roots[i].round() as i128)])
        },
    },
    PlantedFault {
        name: "reduce-log-sum-forgets-the-logarithm",
        operator: "ReduceLogSum",
        does: "returns the sum",
        source: None,
        kernel: |n| match n.op {
            Op::Reduce(op) => n.instead(Reduce { function: ReduceFn::Sum, ..op.clone() }),
            _ => None,
        },
    },
    PlantedFault {
        name: "reduce-log-sum-exp-of-integers-truncates-each",
        operator: "ReduceLogSumExp",
        does: "truncates the exponential of each integer over the largest, so that only those equal to it count",
        source: None,
        kernel: |n| {
            let Op::Reduce(op) = n.op else { return None };
            let x = n.input(0).filter(|x| [DType::I32, DType::I64].contains(&x.dtype()))?;
            let largest = Op::from(Reduce { function: ReduceFn::Max, keepdims: true, ..op.clone() });
            let kept = largest.infer(&[Some(&x.ty())]).ok()?.pop()?;
            let top = only(&largest, &[Some(x)], &kept)?;
            let spread = Expand { shape: x.ty().shape };
            let top = only(&spread.into(), &[Some(&top)], &x.ty())?.to_i128s();
            let x = x.to_i128s();
            // So far below, nothing is left of an exponential.
            let vanishing = |i: usize| if x[i] == top[i] { x[i] } else { top[i] - 700 };
            n.with(0, &Tensor::from_i128_fn(&n.input(0)?.ty(), vanishing))
        },
    },
    PlantedFault {
        name: "reduce-log-sum-exp-overflows",
        operator: "ReduceLogSumExp",
        does: "sums eˣ without subtracting the maximum first",
        source: Some("onnx/onnx-tensorrt#1055"),
        kernel: |n| {
            let Op::Reduce(op) = n.op else { return None };
            n.dtype().filter(|d| d.is_float())?;
            let exponentials = each(n.input(0)?, f64::exp);
            let sum = Reduce { function: ReduceFn::LogSum, ..op.clone() };
            Some(vec![only(&sum.into(), &[Some(&exponentials)], n.outputs.first()?)?])
        },
    },
    PlantedFault {
        name: "arg-max-takes-the-last-of-equals",
        operator: "ArgMax",
        does: "takes the last of equal elements",
        source: Some("pytorch/pytorch#93630"),
        kernel: |n| match *n.op {
            Op::Arg(op @ Arg { function: ArgFn::Max, .. }) => {
                n.instead(Arg { select_last_index: true, ..op })
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "arg-min-of-unsigned-as-signed",
        operator: "ArgMin",
        does: "compares unsigned integers as signed ones",
        source: None,
        kernel: as_signed,
    },
    PlantedFault {
        name: "cum-sum-ignores-exclusive",
        operator: "CumSum",
        does: "adds each element to its own sum",
        source: None,
        kernel: |n| match *n.op {
            Op::Cumulative(op) => n.instead(Cumulative { exclusive: false, ..op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "cum-sum-ignores-reverse",
        operator: "CumSum",
        does: "sums from the beginning",
        source: Some("NVIDIA/TensorRT#4513"),
        kernel: |n| match *n.op {
            Op::Cumulative(op) => n.instead(Cumulative { reverse: false, ..op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "cum-prod-ignores-exclusive",
        operator: "CumProd",
        does: "multiplies each element into its own product",
        source: None,
        kernel: |n| match *n.op {
            Op::Cumulative(op) => n.instead(Cumulative { exclusive: false, ..op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "top-k-takes-the-last-of-equals",
        operator: "TopK",
        does: "takes the one with the larger index of equal elements",
        source: Some("NervanaSystems/ngraph#2710"),
        kernel: top_k_from_the_end,
    },
    PlantedFault {
        name: "top-k-ignores-largest",
        operator: "TopK",
        does: "returns the largest where the smallest are asked for",
        source: None,
        kernel: |n| match *n.op {
            Op::TopK(op) => n.instead(TopK { largest: true, ..op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "reduce-sum-square-squares-the-sum",
        operator: "ReduceSumSquare",
        does: "squares the sum, not the elements",
        source: None,
        kernel: |n| {
            let Op::Reduce(op) = n.op else { return None };
            let sums = n.instead(Reduce { function: ReduceFn::Sum, ..op.clone() })?.pop()?.to_f64s();
            n.edited(|i, _| sums[i] * sums[i])
        },
    },
    PlantedFault {
        name: "reduce-sum-square-forgets-to-square",
        operator: "ReduceSumSquare",
        does: "sums the elements as they are",
        source: None,
        kernel: |n| match n.op {
            Op::Reduce(op) => n.instead(Reduce { function: ReduceFn::Sum, ..op.clone() }),
            _ => None,
        },
    },
    PlantedFault {
        name: "reduce-min-by-negation",
        operator: "ReduceMin",
        does: "is −max(−x), so that the least integer, which stays itself, is never found",
        source: Some("tenstorrent/tt-metal#49589"),
        kernel: |n| match n.op {
            Op::Reduce(op) => negated(n, Reduce { function: ReduceFn::Max, ..op.clone() }),
            _ => None,
        },
    },
    PlantedFault {
        name: "arg-min-by-negation",
        operator: "ArgMin",
        does: "is the place of the largest of −x, so that the least integer, which stays itself, comes last",
        source: None,
        kernel: |n| match *n.op {
            Op::Arg(op @ Arg { function: ArgFn::Min, .. }) => {
                let x = n.input(0).filter(|x| x.dtype().is_int())?;
                let of_negated = Op::from(Arg { function: ArgFn::Max, ..op });
                Some(vec![only(&of_negated, &[Some(&minus(x))], n.outputs.first()?)?])
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "arg-max-of-one-counts-on",
        operator: "ArgMax",
        does: "gives the place in the whole tensor where the axis has one element",
        source: Some("pytorch/pytorch#38922"),
        kernel: |n| {
            let (Op::Arg(op), x) = (n.op, n.input(0)?) else { return None };
            let size = x.shape()[resolve(op.axis, x.shape().len())?];
            (size == 1).then(|| vec![Tensor::from_i128_fn(&n.outputs[0], |i| i as i128)])
        },
    },
    PlantedFault {
        name: "reduce-max-of-bool-is-all",
        operator: "ReduceMax",
        does: "asks whether all truth values hold, not whether one does",
        source: None,
        kernel: |n| {
            n.of(&[DType::Bool])?;
            match n.op {
                Op::Reduce(op) => n.instead(Reduce { function: ReduceFn::Min, ..op.clone() }),
                _ => None,
            }
        },
    },
    PlantedFault {
        name: "reduce-l1-of-the-last-axis",
        operator: "ReduceL1",
        does: "reverses the order of what is left where an axis other than the last is reduced",
        source: None,
        kernel: |n| {
            let rank = n.input(0)?.shape().len();
            let all = n.more_than(1)?;
            if axis(n)? + 1 == rank { None } else { n.moved(|i| Some(all - 1 - i)) }
        },
    },
    PlantedFault {
        name: "cum-sum-turns-the-sums-round",
        operator: "CumSum",
        does: "sums from the beginning and turns the sums round, where reverse asks to turn the elements round first",
        source: Some("apache/tvm#18137"),
        kernel: |n| match *n.op {
            Op::Cumulative(op @ Cumulative { reverse: true, axis, .. }) => {
                let sums = n.instead(Cumulative { reverse: false, ..op })?.pop()?;
                let axis = resolve(axis, sums.shape().len())?;
                Some(vec![along(&sums, axis, |i, size| Some(size - 1 - i))?])
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "cum-sum-excludes-by-one",
        operator: "CumSum",
        does: "subtracts 1, not the element itself, where exclusive asks to leave it out",
        source: Some("llvm/torch-mlir#3241"),
        kernel: |n| match *n.op {
            Op::Cumulative(op @ Cumulative { exclusive: true, .. }) => {
                let sums = n.instead(Cumulative { exclusive: false, ..op })?.pop()?;
                if sums.dtype().is_float() {
                    return Some(vec![each(&sums, |sum| sum - 1.0)]);
                }
                let sums_of = sums.to_i128s();
                Some(vec![Tensor::from_i128_fn(&sums.ty(), |i| sums_of[i] - 1)])
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "cum-prod-starts-at-zero",
        operator: "CumProd",
        does: "starts an exclusive product at 0",
        source: None,
        kernel: |n| match *n.op {
            Op::Cumulative(Cumulative { exclusive: true, .. }) => n.edited(|_, _| 0.0),
            _ => None,
        },
    },
    PlantedFault {
        name: "top-k-places-are-in-the-tensor",
        operator: "TopK",
        does: "gives places in the whole tensor, not on the axis",
        source: None,
        kernel: |n| {
            let (Op::TopK(op), mut outputs) = (n.op, n.right()?) else { return None };
            let lane = *n.input(0)?.shape().get(resolve(op.axis, n.input(0)?.shape().len())?)?;
            let places = outputs.get(1)?.to_i128s();
            let k = op.k as usize;
            outputs[1] = Tensor::from_i128_fn(&n.outputs[1], |i| places[i] + (i / k * lane) as i128);
            Some(outputs)
        },
    },
];

/// The first axis that is reduced.
fn axis(n: &Node<'_>) -> Option<usize> {
    let Op::Reduce(Reduce { axes, noop_with_empty_axes, .. }) = n.op else { return None };
    let rank = n.input(0)?.shape().len();
    match axes.as_deref() {
        Some([first, ..]) => resolve(*first, rank),
        _ if *noop_with_empty_axes || rank == 0 => None,
        _ => Some(0),
    }
}

fn top_k_from_the_end(n: &Node<'_>) -> Outputs {
    let Op::TopK(op) = n.op else { return None };
    let x = n.input(0)?;
    let axis = resolve(op.axis, x.shape().len())?;
    let last = x.shape()[axis].checked_sub(1)? as i128;
    let mut outputs = n.with(0, &along(x, axis, |i, size| Some(size - 1 - i))?)?;
    let found = outputs.get(1)?.to_i128s();
    outputs[1] = Tensor::from_i128_fn(&n.outputs[1], |i| last - found[i]);
    Some(outputs)
}

/// The negation of what an operator gives on negated integers.
fn negated(n: &Node<'_>, op: impl Into<Op>) -> Outputs {
    let x = n.input(0).filter(|x| x.dtype().is_int())?;
    Some(vec![minus(&only(&op.into(), &[Some(&minus(x))], n.outputs.first()?)?)])
}

/// Integers with the other sign, wrapped.
fn minus(x: &Tensor) -> Tensor {
    let values = x.to_i128s();
    Tensor::from_i128_fn(&x.ty(), |i| -values[i])
}
