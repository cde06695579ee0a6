//! Reductions and functions of elements by other steps than ours that are usual, though no function body of ONNX's has them.

use ir::{DType, Tensor};
use ops::Op;
use ops::elementwise::{Binary, BinaryFn, UnaryFn};
use ops::movement::Expand;
use ops::nn::{GlobalPool, GlobalPoolFn};
use ops::reduction::{Reduce, ReduceFn};

use super::chain::{add, below, cast, div, float, map, mul, number, of, one, reduce, reversed, sub};
use super::{ALL, Control, DECLARED, LOOSE};
use crate::node::{Node, Outputs, only, resolve};

pub(super) const CONTROLS: &[Control] = &[
    Control::of(
        "reduce-mean-of-shares",
        "ReduceMean",
        "divides each term by their number, then adds",
        DECLARED,
        mean_of_shares,
    ),
    Control::of(
        "reduce-mean-divides-a-sum",
        "ReduceMean",
        "divides ReduceSum by the number of terms",
        ALL,
        mean_of_sum,
    ),
    Control::of(
        "reduce-l2-scaled",
        "ReduceL2",
        "divides by the largest magnitude first, in f64",
        ALL,
        l2_scaled,
    ),
    Control::of(
        "reduce-log-sum-exp-shifted",
        "ReduceLogSumExp",
        "subtracts the largest element first",
        ALL,
        log_sum_exp_shifted,
    ),
    Control::of(
        "softmax-by-formula",
        "Softmax",
        "takes exponentials of small elements as they are",
        ALL,
        softmax_by_formula,
    ),
    Control::of(
        "log-softmax-about-the-sum",
        "LogSoftmax",
        "is x − (max + ln Σ)",
        DECLARED,
        log_softmax_about_sum,
    ),
    Control::of("sigmoid-by-tanh", "Sigmoid", "is (tanh(x/2) + 1)/2", DECLARED, sigmoid_by_tanh),
    Control::of("tanh-by-sigmoid", "Tanh", "is 2·Sigmoid(2x) − 1", DECLARED, tanh_by_sigmoid),
    Control::of(
        "div-by-reciprocal",
        "Div",
        "multiplies floats by Reciprocal, where that is a normal number",
        LOOSE,
        div_by_reciprocal,
    ),
    Control::of("sub-negates-the-difference", "Sub", "is −(b − a)", LOOSE, sub_negates),
    Control::of("neg-subtracts-from-zero", "Neg", "is 0 − x", LOOSE, neg_subtracts),
    Control::of("abs-negates-below-zero", "Abs", "is −x below 0, else x, be it −0", LOOSE, abs_by_choice),
    Control::of(
        "sum-of-the-last-first",
        "Sum",
        "adds the operands from the last to the first",
        ALL,
        sum_reversed,
    ),
    Control::of(
        "mean-divides-the-last-first",
        "Mean",
        "divides the sum of the operands, the last first",
        ALL,
        mean_reversed,
    ),
    Control::of("pow-of-two-squares", "Pow", "is x·x where every exponent is 2", ALL, squares),
    Control::of(
        "global-average-pool-reduces",
        "GlobalAveragePool",
        "is the mean of the spatial axes",
        ALL,
        global_average,
    ),
    Control::of(
        "top-k-unsorted-from-the-end",
        "TopK",
        "gives what need not be sorted in reverse",
        ALL,
        top_k_reversed,
    ),
];

/// How many elements of the operand there are for each of the result.
fn terms(n: &Node<'_>, x: &Tensor) -> Option<f64> {
    let results = n.outputs.first()?.count() as usize;
    x.len().checked_div(results).filter(|&terms| terms > 0).map(|terms| terms as f64)
}

/// The reduction by another function, of another operand.
fn instead(n: &Node<'_>, function: ReduceFn, x: &Tensor) -> Option<Tensor> {
    let Op::Reduce(op) = n.op else { return None };
    let op = Op::from(Reduce { function, ..op.clone() });
    only(&op, &[Some(x)], n.outputs.first()?)
}

fn mean_of_shares(n: &Node<'_>) -> Outputs {
    let x = float(n, 0)?;
    let shares = div(x, &number(terms(n, x)?, x))?;
    one(instead(n, ReduceFn::Sum, &shares))
}

fn mean_of_sum(n: &Node<'_>) -> Outputs {
    let x = float(n, 0)?;
    let sum = instead(n, ReduceFn::Sum, x)?;
    one(div(&sum, &number(terms(n, x)?, x)))
}

fn l2_scaled(n: &Node<'_>) -> Outputs {
    let x = float(n, 0).filter(|x| x.dtype() != DType::F64)?;
    let largest = x.to_f64s().into_iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    if !largest.is_finite() || largest == 0.0 || x.to_f64s().into_iter().any(f64::is_nan) {
        return None;
    }
    let wide = cast(x, DType::F64)?;
    let scaled = div(&wide, &number(largest, &wide))?;
    let Op::Reduce(op) = n.op else { return None };
    let root = of(op.clone(), &[&scaled])?;
    one(cast(&mul(&root, &number(largest, &wide))?, x.dtype()))
}

fn log_sum_exp_shifted(n: &Node<'_>) -> Outputs {
    let (Op::Reduce(op), x) = (n.op, float(n, 0)?) else { return None };
    let keeping = Reduce { keepdims: true, function: ReduceFn::Max, ..op.clone() };
    let top = of(keeping, &[x])?;
    if top.to_f64s().into_iter().any(|v| !v.is_finite()) {
        return None;
    }
    let shifted = sub(x, &of(Expand { shape: x.ty().shape }, &[&top])?)?;
    let sum = instead(n, ReduceFn::Sum, &map(UnaryFn::Exp, &shifted)?)?;
    one(add(&map(UnaryFn::Log, &sum)?, &instead(n, ReduceFn::Max, x)?))
}

fn softmax_by_formula(n: &Node<'_>) -> Outputs {
    let (Op::Softmax(op), x) = (n.op, float(n, 0)?) else { return None };
    if x.to_f64s().into_iter().any(|v| v.is_nan() || v.abs() > 4.0) {
        return None;
    }
    let powers = map(UnaryFn::Exp, x)?;
    one(div(&powers, &reduce(ReduceFn::Sum, &powers, &[op.axis])?))
}

fn log_softmax_about_sum(n: &Node<'_>) -> Outputs {
    let (Op::Softmax(op), x) = (n.op, float(n, 0)?) else { return None };
    let top = reduce(ReduceFn::Max, x, &[op.axis])?;
    let powers = map(UnaryFn::Exp, &sub(x, &top)?)?;
    let log = map(UnaryFn::Log, &reduce(ReduceFn::Sum, &powers, &[op.axis])?)?;
    one(sub(x, &add(&top, &log)?))
}

fn sigmoid_by_tanh(n: &Node<'_>) -> Outputs {
    let x = float(n, 0)?;
    let half = number(0.5, x);
    let bent = map(UnaryFn::Tanh, &mul(x, &half)?)?;
    one(mul(&add(&bent, &number(1.0, x))?, &half))
}

fn tanh_by_sigmoid(n: &Node<'_>) -> Outputs {
    let x = float(n, 0)?;
    let two = number(2.0, x);
    let bent = map(UnaryFn::Sigmoid, &mul(x, &two)?)?;
    one(sub(&mul(&bent, &two)?, &number(1.0, x)))
}

fn div_by_reciprocal(n: &Node<'_>) -> Outputs {
    let (x, y) = (float(n, 0)?, n.input(1)?);
    let reciprocal = map(UnaryFn::Reciprocal, y)?;
    let quotient = mul(x, &reciprocal)?;
    let format = x.dtype().float()?;
    let is_normal = |v: f64| (format.min_normal()..=format.max_finite()).contains(&v.abs());
    let all_normal = reciprocal.to_f64s().into_iter().chain(quotient.to_f64s()).all(is_normal);
    all_normal.then(|| vec![quotient])
}

fn sub_negates(n: &Node<'_>) -> Outputs {
    let x = float(n, 0)?;
    one(map(UnaryFn::Neg, &sub(n.input(1)?, x)?))
}

fn neg_subtracts(n: &Node<'_>) -> Outputs {
    let x = float(n, 0)?;
    one(sub(&number(0.0, x), x))
}

fn abs_by_choice(n: &Node<'_>) -> Outputs {
    let x = float(n, 0)?;
    one(below(&number(0.0, x), x, &map(UnaryFn::Neg, x)?, x))
}

/// The sum of the operands, the last first.
fn sum_from_the_last(n: &Node<'_>) -> Option<Tensor> {
    float(n, 0)?;
    let mut operands = n.inputs.iter().rev().copied().map(Option::<&Tensor>::cloned);
    let last = operands.next()??;
    operands.try_fold(last, |sum, x| of(Binary(BinaryFn::Add), &[&sum, &x?]))
}

fn sum_reversed(n: &Node<'_>) -> Outputs {
    one(sum_from_the_last(n))
}

fn mean_reversed(n: &Node<'_>) -> Outputs {
    let sum = sum_from_the_last(n)?;
    one(div(&sum, &number(n.inputs.len() as f64, &sum)))
}

fn squares(n: &Node<'_>) -> Outputs {
    let (x, exponents) = (float(n, 0)?, n.input(1)?);
    let all_two = exponents.to_f64s().into_iter().all(|exponent| exponent == 2.0);
    if !all_two || x.ty().shape != n.outputs.first()?.shape {
        return None;
    }
    one(mul(x, x))
}

fn global_average(n: &Node<'_>) -> Outputs {
    let Op::GlobalPool(GlobalPool(GlobalPoolFn::Average)) = n.op else { return None };
    let x = float(n, 0)?;
    let spatial: Vec<i64> = (2..x.shape().len() as i64).collect();
    one(reduce(ReduceFn::Mean, x, &spatial))
}

fn top_k_reversed(n: &Node<'_>) -> Outputs {
    let Op::TopK(op) = n.op else { return None };
    if op.sorted {
        return None;
    }
    let axis = resolve(op.axis, n.input(0)?.shape().len())?;
    n.right()?.iter().map(|y| reversed(y, axis)).collect()
}
