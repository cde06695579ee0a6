//! Operators after each other in place of a kernel: the right kernels, each of which rounds what it gives.

use ir::{DType, Operation, Tensor, Type};
use ops::Op;
use ops::arith::Comparison;
use ops::elementwise::{Binary, BinaryFn, Cast, Compare, Unary, UnaryFn, Where};
use ops::reduction::{Reduce, ReduceFn};

use crate::node::{Node, Outputs, along, only};

/// The only output of an operator on operands that are all there.
pub(super) fn of(op: impl Into<Op>, operands: &[&Tensor]) -> Option<Tensor> {
    let op = op.into();
    let operands: Vec<Option<&Tensor>> = operands.iter().copied().map(Some).collect();
    let types: Vec<Type> = operands.iter().flatten().map(|x| x.ty()).collect();
    let types: Vec<Option<&Type>> = types.iter().map(Some).collect();
    let [output] = &op.infer(&types).ok()?[..] else { return None };
    only(&op, &operands, output)
}

/// x + y
pub(super) fn add(x: &Tensor, y: &Tensor) -> Option<Tensor> {
    of(Binary(BinaryFn::Add), &[x, y])
}

/// x − y
pub(super) fn sub(x: &Tensor, y: &Tensor) -> Option<Tensor> {
    of(Binary(BinaryFn::Sub), &[x, y])
}

/// x · y
pub(super) fn mul(x: &Tensor, y: &Tensor) -> Option<Tensor> {
    of(Binary(BinaryFn::Mul), &[x, y])
}

/// x / y
pub(super) fn div(x: &Tensor, y: &Tensor) -> Option<Tensor> {
    of(Binary(BinaryFn::Div), &[x, y])
}

/// A function of each element.
pub(super) fn map(function: UnaryFn, x: &Tensor) -> Option<Tensor> {
    of(Unary(function), &[x])
}

/// One of two tensors, element by element: the first where x is less than a bound.
pub(super) fn below(bound: &Tensor, x: &Tensor, then: &Tensor, otherwise: &Tensor) -> Option<Tensor> {
    of(Where, &[&of(Compare(Comparison::Less), &[x, bound])?, then, otherwise])
}

/// The same numbers in another dtype.
pub(super) fn cast(x: &Tensor, to: DType) -> Option<Tensor> {
    of(Cast::to(to), &[x])
}

/// A reduction of some axes, which stay.
pub(super) fn reduce(function: ReduceFn, x: &Tensor, axes: &[i64]) -> Option<Tensor> {
    let axes = Some(axes.to_vec());
    of(Reduce { function, axes, keepdims: true, noop_with_empty_axes: true }, &[x])
}

/// One number in the dtype of a tensor.
pub(super) fn number(v: f64, like: &Tensor) -> Tensor {
    Tensor::from_f64_fn(&Type::new(like.dtype(), []), |_| v)
}

/// A tensor if every element is finite.
pub(super) fn finite(x: Tensor) -> Option<Tensor> {
    let all_finite = x.to_f64s().into_iter().all(f64::is_finite);
    all_finite.then_some(x)
}

/// A float operand.
pub(super) fn float<'n>(n: &'n Node<'_>, operand: usize) -> Option<&'n Tensor> {
    n.input(operand).filter(|x| x.dtype().is_float())
}

/// The slices along an axis in reverse.
pub(super) fn reversed(x: &Tensor, axis: usize) -> Option<Tensor> {
    along(x, axis, |i, size| Some(size - 1 - i))
}

/// An output, alone.
pub(super) fn one(y: Option<Tensor>) -> Outputs {
    Some(vec![y?])
}
