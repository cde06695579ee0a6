//! The batch split: an operator on a batch, as the same operator on two parts of it.
//!
//! Of an operator that keeps its [`Batch`] apart, a slice of the result along the first axis depends on that slice of the
//! first operand alone. The shapes are others, so that a runtime may cut a product into other blocks, and then sums are
//! rounded in another order: only bounds hold.

use ir::{Stream, Value};
use ops::movement::{Concat, Split};
use ops::{Batch, Operator};
use rand::RngExt;

use super::arithmetic::instead;
use super::relation::Subject;

/// An operator on the two parts of a batch.
pub(super) fn batch_split(subject: &Subject, stream: Stream) -> Option<Subject> {
    let cut = stream.child("cut");
    instead(subject, stream, |copy, id, op| {
        let node = copy.old().node(id);
        let types = copy.old().types(&node.inputs);
        if op.facts(&types).batch == Batch::Together {
            return None;
        }
        let operands = copy.operands(&node.inputs)?;
        let (from, to) = (copy.old().ty(node.inputs.first().copied().flatten()?), node.outputs.first()?);
        if !subject.has_for(from.dtype, &["Split"]) || !subject.has_for(to.dtype, &["Concat"]) {
            return None;
        }
        let (batch, kept) = (*from.shape.first()?, *to.shape.first()?);
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
