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
