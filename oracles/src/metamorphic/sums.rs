//! Reassociation: the terms of a sum, or the factors of a product, combined in another order.
//!
//! In real numbers nothing changes. In floating point every order rounds differently, and an intermediate result may
//! overflow in one order alone, so each form is held to its own bounds.

use ir::rewrite::Rewrite;
use ir::{NodeId, NodeKind, Stream, Value};
use ops::Op;
use ops::elementwise::binary::{Binary, BinaryFn};
use ops::linear::MatMul;
use ops::movement::Split;
use ops::reduction::reduce::{Reduce, ReduceFn};

use super::arithmetic::{instead, two};
use super::relation::Subject;

/// A nested sum or product the other way round; a matrix product or a `ReduceSum` as the sum of two parts.
pub(super) fn reassociate(subject: &Subject, stream: Stream) -> Option<Subject> {
    instead(subject, stream, |copy, id, op| match op {
        Op::Binary(Binary(BinaryFn::Add | BinaryFn::Mul)) => nested(copy, id, op),
        Op::MatMul(_) => product(copy, id),
        Op::Reduce(reduce) if reduce.function == ReduceFn::Sum => sum(copy, id, reduce),
        _ => None,
    })
}

/// (a + b) + c as a + (b + c), or c + (a + b) as (c + a) + b.
fn nested(copy: &mut Rewrite<'_, Op>, id: NodeId, op: &Op) -> Option<Value> {
    let [x, y] = two(copy, id)?;
    if let Some([a, b]) = operands_of(copy, x, op) {
        let right = copy.push(op.clone(), &[b, y])?;
        return copy.push(op.clone(), &[a, right]);
    }
    let [a, b] = operands_of(copy, y, op)?;
    let left = copy.push(op.clone(), &[x, a])?;
    copy.push(op.clone(), &[left, b])
}

/// The operands of a value's node in the copy, if that is the operator given.
fn operands_of(copy: &Rewrite<'_, Op>, value: Value, op: &Op) -> Option<[Value; 2]> {
    let node = copy.graph.node(value.node);
    match (&node.kind, node.inputs.as_slice()) {
        (NodeKind::Operator(same), [Some(a), Some(b)]) if same == op => Some([*a, *b]),
        _ => None,
    }
}

/// A·B as A₁·B₁ + A₂·B₂, cut along the axis that is summed over.
fn product(copy: &mut Rewrite<'_, Op>, id: NodeId) -> Option<Value> {
    let [a, b] = two(copy, id)?;
    let (last, rows) = (copy.graph.ty(a).rank().checked_sub(1)?, copy.graph.ty(b).rank().saturating_sub(2));
    let [a1, a2] = halves(copy, a, last)?;
    let [b1, b2] = halves(copy, b, rows)?;
    let (first, second) = (copy.push(MatMul, &[a1, b1])?, copy.push(MatMul, &[a2, b2])?);
    copy.push(Binary(BinaryFn::Add), &[first, second])
}

/// A sum as the sum of the sums of two parts, cut along the first axis that is summed over.
fn sum(copy: &mut Rewrite<'_, Op>, id: NodeId, reduce: &Reduce) -> Option<Value> {
    let x = copy.operands(&copy.old().node(id).inputs)?.first().copied().flatten()?;
    let rank = copy.graph.ty(x).rank() as i64;
    let axis = match reduce.axes.as_deref() {
        Some([first, ..]) => {
            if *first < 0 {
                first + rank
            } else {
                *first
            }
        }
        Some([]) | None if !reduce.noop_with_empty_axes => 0,
        Some([]) | None => return None,
    };
    let [x1, x2] = halves(copy, x, usize::try_from(axis).ok()?)?;
    let (first, second) = (copy.push(reduce.clone(), &[x1])?, copy.push(reduce.clone(), &[x2])?);
    copy.push(Binary(BinaryFn::Add), &[first, second])
}

/// A value cut in two along an axis.
fn halves(copy: &mut Rewrite<'_, Op>, value: Value, axis: usize) -> Option<[Value; 2]> {
    let size = *copy.graph.ty(value).shape.get(axis)?;
    if size < 2 {
        return None;
    }
    let split = Split { axis: axis as i64, split: vec![size / 2, size - size / 2] };
    let parts = copy.graph.operator(split.into(), &[Some(value)]).ok()?;
    Some([Value::new(parts, 0), Value::new(parts, 1)])
}
