//! Operators by other steps than ours that are usual, though no function body of ONNX's has them.

use ir::{DType, Tensor, Type};
use ops::Op;
use ops::elementwise::{Binary, BinaryFn, UnaryFn, Variadic, VariadicFn};
use ops::linear::{Gemm, MatMul};
use ops::movement::{Expand, Transpose};
use ops::nn::{GlobalPool, GlobalPoolFn};
use ops::reduction::{Reduce, ReduceFn};

use super::chain::{add, cast, div, map, mul, number, of, reduce, sub};
use super::{ALL, Control, DECLARED, Kind, LOOSE};
use crate::node::{Node, Outputs, along, only, reshaped, resized, resolve};

/// A formula for an operator.
macro_rules! formula {
    ($name:literal, $operator:literal, $does:literal, $conforms:expr, $kernel:expr) => {
        formula!($name, $operator, $does, $conforms, $kernel, None)
    };
    ($name:literal, $operator:literal, $does:literal, $conforms:expr, $kernel:expr, $open:expr) => {
        Control {
            name: $name,
            does: $does,
            conforms: $conforms,
            kind: Kind::Kernel { operator: $operator, kernel: $kernel },
            open: $open,
        }
    };
}

pub(super) const CONTROLS: &[Control] = &[
    formula!("conv-channels-reversed", "Conv", "convolves the last channel first", ALL, conv_reversed),
    formula!(
        "conv-channel-by-channel",
        "Conv",
        "convolves each channel and adds up the results",
        ALL,
        conv_by_channel
    ),
    formula!(
        "matmul-split-in-two",
        "MatMul",
        "adds the products of two halves of the inner axis",
        ALL,
        matmul_split
    ),
    formula!(
        "matmul-of-transposes",
        "MatMul",
        "transposes the product of the transposes, in the other order",
        ALL,
        matmul_of_transposes
    ),
    formula!("matmul-reversed", "MatMul", "goes through the inner axis from its end", ALL, matmul_reversed),
    formula!(
        "gemm-scales-a-first",
        "Gemm",
        "multiplies A by alpha and C by beta before it adds products",
        ALL,
        |n| gemm(n, 0)
    ),
    formula!(
        "gemm-scales-b-first",
        "Gemm",
        "multiplies B by alpha and C by beta before it adds products",
        ALL,
        |n| gemm(n, 1)
    ),
    formula!(
        "gemm-in-steps",
        "Gemm",
        "multiplies the product by alpha, C by beta, and adds",
        ALL,
        gemm_in_steps
    ),
    formula!(
        "batch-normalization-folded",
        "BatchNormalization",
        "is x·s + (bias − mean·s) with s = scale/√(variance + ε)",
        ALL,
        batch_folded
    ),
    formula!(
        "batch-normalization-centred",
        "BatchNormalization",
        "subtracts the mean first, divides by the root, then scales",
        ALL,
        batch_centred
    ),
    formula!(
        "reduce-mean-of-shares",
        "ReduceMean",
        "divides each term by their number, then adds",
        DECLARED,
        mean_of_shares
    ),
    formula!(
        "reduce-mean-divides-a-sum",
        "ReduceMean",
        "divides ReduceSum by the number of terms",
        ALL,
        mean_of_sum
    ),
    formula!(
        "reduce-l2-scaled",
        "ReduceL2",
        "divides by the largest magnitude first, in f64",
        ALL,
        l2_scaled
    ),
    formula!(
        "reduce-log-sum-exp-shifted",
        "ReduceLogSumExp",
        "subtracts the largest element first",
        ALL,
        log_sum_exp_shifted
    ),
    formula!(
        "softmax-by-formula",
        "Softmax",
        "takes exponentials of small elements as they are",
        ALL,
        softmax_by_formula
    ),
    formula!(
        "log-softmax-about-the-sum",
        "LogSoftmax",
        "is x − (max + ln Σ)",
        DECLARED,
        log_softmax_about_sum
    ),
    formula!("sigmoid-by-tanh", "Sigmoid", "is (tanh(x/2) + 1)/2", DECLARED, sigmoid_by_tanh),
    formula!("tanh-by-sigmoid", "Tanh", "is 2·Sigmoid(2x) − 1", DECLARED, tanh_by_sigmoid),
    formula!(
        "div-by-reciprocal",
        "Div",
        "multiplies floats by Reciprocal, where that is a normal number",
        LOOSE,
        div_by_reciprocal
    ),
    formula!("sub-adds-the-negative", "Sub", "adds the negative of the second operand", ALL, sub_adds),
    formula!("neg-subtracts-from-zero", "Neg", "is 0 − x", LOOSE, neg_subtracts),
    formula!("abs-takes-the-larger", "Abs", "is the larger of x and −x", LOOSE, abs_by_maximum),
    formula!(
        "sum-of-the-last-first",
        "Sum",
        "adds the operands from the last to the first",
        ALL,
        sum_reversed
    ),
    formula!(
        "mean-divides-the-last-first",
        "Mean",
        "divides the sum of the operands, the last first",
        ALL,
        mean_reversed
    ),
    formula!("pow-of-two-squares", "Pow", "is x·x where every exponent is 2", ALL, squares),
    formula!(
        "global-average-pool-reduces",
        "GlobalAveragePool",
        "is the mean of the spatial axes",
        ALL,
        global_average
    ),
    formula!(
        "top-k-unsorted-from-the-end",
        "TopK",
        "gives what need not be sorted in reverse",
        ALL,
        top_k_reversed
    ),
    formula!(
        "cast-wraps-what-does-not-fit",
        "Cast",
        "gives the low bits of a float that no integer of the dtype is",
        ALL,
        cast_wraps
    ),
];

/// A float operand.
fn float<'n>(n: &'n Node<'_>, operand: usize) -> Option<&'n Tensor> {
    n.input(operand).filter(|x| x.dtype().is_float())
}

fn one(y: Option<Tensor>) -> Outputs {
    Some(vec![y?])
}

/// The slices along an axis in reverse.
fn reversed(x: &Tensor, axis: usize) -> Option<Tensor> {
    along(x, axis, |i, size| Some(size - 1 - i))
}

/// The slices of an axis from one on.
fn part(x: &Tensor, axis: usize, from: usize, size: usize) -> Option<Tensor> {
    resized(x, axis, size, |i| Some(from + i))
}

fn conv_reversed(n: &Node<'_>) -> Outputs {
    let (Op::Conv(op), x, w) = (n.op, float(n, 0)?, n.input(1)?) else { return None };
    // Within each group.
    let per_group = w.shape()[1];
    if op.group != 1 && per_group == 1 {
        return None;
    }
    let x = along(x, 1, |i, _| Some(i / per_group * per_group + (per_group - 1 - i % per_group)))?;
    let w = reversed(w, 1)?;
    n.on(&[Some(&x), Some(&w), n.input(2)])
}

fn conv_by_channel(n: &Node<'_>) -> Outputs {
    let (Op::Conv(op), x, w) = (n.op, float(n, 0)?, n.input(1)?) else { return None };
    let channels = w.shape()[1];
    if op.group != 1 || channels < 2 {
        return None;
    }
    let of_channel = |c: usize| {
        let (x, w) = (part(x, 1, c, 1)?, part(w, 1, c, 1)?);
        n.on(&[Some(&x), Some(&w), n.input(2).filter(|_| c == 0)])?.pop()
    };
    one((1..channels).try_fold(of_channel(0)?, |sum, c| add(&sum, &of_channel(c)?)))
}

/// The axes of two operands of a MatMul that are summed over.
fn inner_axes(a: &Tensor, b: &Tensor) -> (usize, usize) {
    (a.shape().len() - 1, b.shape().len().saturating_sub(2))
}

fn matmul_split(n: &Node<'_>) -> Outputs {
    let (Op::MatMul(_), a, b) = (n.op, float(n, 0)?, float(n, 1)?) else { return None };
    let (of_a, of_b) = inner_axes(a, b);
    let size = a.shape()[of_a];
    let half = size / 2;
    if half == 0 {
        return None;
    }
    let product =
        |from: usize, size: usize| of(MatMul, &[&part(a, of_a, from, size)?, &part(b, of_b, from, size)?]);
    one(add(&product(0, half)?, &product(half, size - half)?))
}

fn matmul_reversed(n: &Node<'_>) -> Outputs {
    let (Op::MatMul(_), a, b) = (n.op, float(n, 0)?, float(n, 1)?) else { return None };
    let (of_a, of_b) = inner_axes(a, b);
    one(of(MatMul, &[&reversed(a, of_a)?, &reversed(b, of_b)?]))
}

fn matmul_of_transposes(n: &Node<'_>) -> Outputs {
    let (Op::MatMul(_), a, b) = (n.op, float(n, 0)?, float(n, 1)?) else { return None };
    let ([_, _], [_, _]) = (a.shape(), b.shape()) else { return None };
    let turned = |x: &Tensor| of(Transpose { perm: None }, &[x]);
    one(turned(&of(MatMul, &[&turned(b)?, &turned(a)?])?))
}

fn gemm(n: &Node<'_>, scaled: usize) -> Outputs {
    let (Op::Gemm(op), a, b) = (n.op, float(n, 0)?, float(n, 1)?) else { return None };
    let alpha = number(op.alpha.into(), a);
    let (a, b) = if scaled == 0 { (mul(a, &alpha)?, b.clone()) } else { (a.clone(), mul(b, &alpha)?) };
    let scaled_addend = |c: &Tensor| mul(c, &number(op.beta.into(), c));
    let c = match n.input(2) {
        Some(c) => Some(scaled_addend(c)?),
        None => None,
    };
    let op = Op::from(Gemm { alpha: 1.0, beta: 1.0, ..*op });
    one(only(&op, &[Some(&a), Some(&b), c.as_ref()], n.outputs.first()?))
}

fn gemm_in_steps(n: &Node<'_>) -> Outputs {
    let (Op::Gemm(op), a, b) = (n.op, float(n, 0)?, float(n, 1)?) else { return None };
    let plain = Gemm { alpha: 1.0, beta: 1.0, ..*op };
    let product = mul(&of(plain, &[a, b])?, &number(op.alpha.into(), a))?;
    one(match n.input(2) {
        Some(c) => add(&product, &mul(c, &number(op.beta.into(), c))?),
        None => Some(product),
    })
}

/// Scale, bias, mean and √(variance + ε) of a batch normalisation, each in the operand's dtype and along its channels.
fn parameters(n: &Node<'_>) -> Option<[Tensor; 4]> {
    let (Op::BatchNorm(op), x) = (n.op, float(n, 0)?) else { return None };
    let mut shape = vec![1; x.shape().len()];
    if let Some(channels) = shape.get_mut(1) {
        *channels = x.ty().shape[1];
    }
    let parameter = |i: usize| {
        let given = n.input(i).filter(|p| p.dtype() == x.dtype())?;
        reshaped(given, &Type::new(x.dtype(), shape.clone()))
    };
    let root = map(UnaryFn::Sqrt, &add(&parameter(4)?, &number(op.epsilon.into(), x))?)?;
    Some([parameter(1)?, parameter(2)?, parameter(3)?, root])
}

fn batch_folded(n: &Node<'_>) -> Outputs {
    let [scale, bias, mean, root] = parameters(n)?;
    let slope = div(&scale, &root)?;
    let offset = sub(&bias, &mul(&mean, &slope)?)?;
    one(add(&mul(n.input(0)?, &slope)?, &offset))
}

fn batch_centred(n: &Node<'_>) -> Outputs {
    let [scale, bias, mean, root] = parameters(n)?;
    let standard = mul(&sub(n.input(0)?, &mean)?, &div(&number(1.0, &mean), &root)?)?;
    one(add(&mul(&standard, &scale)?, &bias))
}

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
    let shifted = sub(x, &of(Expand { shape: x.ty().shape.to_vec() }, &[&top])?)?;
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

fn sub_adds(n: &Node<'_>) -> Outputs {
    let x = float(n, 0)?;
    one(add(x, &map(UnaryFn::Neg, n.input(1)?)?))
}

fn neg_subtracts(n: &Node<'_>) -> Outputs {
    let x = float(n, 0)?;
    one(sub(&number(0.0, x), x))
}

fn abs_by_maximum(n: &Node<'_>) -> Outputs {
    let x = float(n, 0)?;
    one(of(Variadic(VariadicFn::Max), &[x, &map(UnaryFn::Neg, x)?]))
}

/// The sum of the operands, the last first.
fn sum_from_the_last(n: &Node<'_>) -> Option<Tensor> {
    float(n, 0)?;
    let mut operands = n.inputs.iter().rev().copied().map(|x| x.cloned());
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

fn cast_wraps(n: &Node<'_>) -> Outputs {
    let (x, ty) = (float(n, 0)?, n.outputs.first()?);
    let (low, high) = ty.dtype.int_range().filter(|_| ty.dtype != DType::Bool)?;
    let right = n.right()?.pop()?.to_i128s();
    let values = x.to_f64s();
    let whole = |v: f64| v.trunc() as i128;
    let fits = |v: f64| v.is_finite() && (low..=high).contains(&whole(v));
    let given = |i: usize| if fits(values[i]) { right[i] } else { whole(values[i]) };
    Some(vec![Tensor::from_i128_fn(ty, given)])
}
