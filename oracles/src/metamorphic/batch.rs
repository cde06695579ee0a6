//! The batch split: an operator on a batch, as the same operator on two parts of it.
//!
//! For each of these operators a slice of the result along the first axis depends on that slice of the first operand
//! alone. The shapes are others, so that a runtime may cut a product into other blocks, and then sums are rounded in
//! another order: only bounds hold.

use ir::{Node, Stream, Value};
use ops::movement::{Concat, Split};
use ops::{Graph, Op};
use rand::RngExt;

use super::arithmetic::instead;
use super::relation::Subject;

/// An operator on the two parts of a batch.
pub(super) fn batch_split(subject: &Subject, stream: Stream) -> Option<Subject> {
    let cut = stream.child("cut");
    instead(subject, stream, |copy, id, op| {
        let node = copy.old().node(id);
        if !is_parallel(op, copy.old(), node) {
            return None;
        }
        let operands = copy.operands(&node.inputs)?;
        let batch = *copy.old().ty(node.inputs.first().copied().flatten()?).shape.first()?;
        let kept = *node.outputs.first()?.shape.first()?;
        if batch < 2 || kept != batch || node.outputs.len() != 1 {
            return None;
        }
        let first = cut.rng().random_range(1..batch);
        let split = Split { axis: 0, split: vec![first, batch - first] };
        let parts = copy.graph.operator(split.into(), &operands[..1]).ok()?;
        let mut results = Vec::with_capacity(2);
        for part in 0..2 {
            let mut operands = operands.clone();
            operands[0] = Some(Value::new(parts, part));
            let result = copy.graph.operator(op.clone(), &operands).ok()?;
            results.push(Value::new(result, 0));
        }
        copy.push(Concat { axis: 0 }, &results)
    })
}

/// Whether slices along the first axis of the first operand do not meet.
fn is_parallel(op: &Op, graph: &Graph, node: &Node<Op>) -> bool {
    let rank = |operand: usize| {
        let value = node.inputs.get(operand).copied().flatten();
        value.map_or(0, |v| graph.ty(v).rank())
    };
    match op {
        Op::Unary(_)
        | Op::Predicate(_)
        | Op::Activation(_)
        | Op::Gelu(_)
        | Op::Conv(_)
        | Op::MaxPool(_)
        | Op::AveragePool(_)
        | Op::LpPool(_)
        | Op::GlobalPool(_)
        | Op::BatchNorm(_)
        | Op::InstanceNorm(_)
        | Op::GroupNorm(_)
        | Op::Lrn(_) => rank(0) >= 1,
        // A stack of matrices on the left meets one matrix on the right, or a vector.
        Op::MatMul(_) => rank(0) >= 2 && rank(1) <= 2,
        Op::Softmax(op) => rank(0) >= 2 && op.axis != 0 && op.axis != -(rank(0) as i64),
        _ => false,
    }
}
