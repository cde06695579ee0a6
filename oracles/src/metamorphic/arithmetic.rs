//! Relations from arithmetic: other operators, or other operands, for the same numbers.

use ir::rewrite::Rewrite;
use ir::{NodeId, NodeKind, Stream, Value};
use ops::elementwise::binary::{Binary, BinaryFn};
use ops::elementwise::unary::{Unary, UnaryFn};
use ops::linear::MatMul;
use ops::movement::{Expand, Transpose};
use ops::{Graph, Op};
use rand::seq::IndexedRandom;

use super::relation::Subject;

/// Add, Mul and the logical and bitwise operators with their operands exchanged.
pub(super) fn commute(subject: &Subject, stream: Stream) -> Option<Subject> {
    instead(subject, stream, |copy, id, op| match op {
        Op::Binary(Binary(function)) if function.commutes() => {
            let [a, b] = two(copy, id)?;
            (a != b).then(|| copy.push(op.clone(), &[b, a])).flatten()
        }
        _ => None,
    })
}

/// a − b as a + (−b). In IEEE 754 subtraction is defined so, and integers wrap around.
pub(super) fn subtract(subject: &Subject, stream: Stream) -> Option<Subject> {
    instead(subject, stream, |copy, id, op| match op {
        Op::Binary(Binary(BinaryFn::Sub)) => {
            let [a, b] = two(copy, id)?;
            let negative = copy.push(Unary(UnaryFn::Neg), &[b])?;
            copy.push(Binary(BinaryFn::Add), &[a, negative])
        }
        _ => None,
    })
}

/// An operand that is broadcast, broadcast by an Expand of its own.
pub(super) fn expand(subject: &Subject, stream: Stream) -> Option<Subject> {
    instead(subject, stream, |copy, id, op| {
        let Op::Binary(_) = op else { return None };
        let shape = copy.old().node(id).outputs.first()?.shape.clone();
        let operands = two(copy, id)?;
        let is_narrow = |v: Value| copy.graph.ty(v).shape != shape;
        let narrow = operands.iter().position(|&v| is_narrow(v))?;
        let mut wide = operands;
        wide[narrow] = copy.push(Expand { shape }, &[operands[narrow]])?;
        copy.push(op.clone(), &wide)
    })
}

/// A·B as (Bᵀ·Aᵀ)ᵀ, for matrices and stacks of them.
pub(super) fn transposed_product(subject: &Subject, stream: Stream) -> Option<Subject> {
    instead(subject, stream, |copy, id, op| match op {
        Op::MatMul(_) => {
            let [a, b] = two(copy, id)?;
            let (a, b) = (transposed(copy, a)?, transposed(copy, b)?);
            let product = copy.push(MatMul, &[b, a])?;
            transposed(copy, product)
        }
        _ => None,
    })
}

/// The last two axes exchanged.
fn transposed(copy: &mut Rewrite<'_, Op>, value: Value) -> Option<Value> {
    let rank = copy.graph.ty(value).rank();
    let mut perm: Vec<i64> = (0..rank as i64).collect();
    perm.swap(rank.checked_sub(2)?, rank - 1);
    copy.push(Transpose { perm: Some(perm) }, &[value])
}

/// Both operands of a node of the original, in the copy.
pub(super) fn two(copy: &Rewrite<'_, Op>, id: NodeId) -> Option<[Value; 2]> {
    match copy.operands(&copy.old().node(id).inputs)?.as_slice() {
        [Some(a), Some(b)] => Some([*a, *b]),
        _ => None,
    }
}

/// The model with one operator replaced, drawn from those for which `other` has a replacement: the value that stands
/// for its output.
pub(super) fn instead(
    subject: &Subject,
    stream: Stream,
    other: impl Fn(&mut Rewrite<'_, Op>, NodeId, &Op) -> Option<Value>,
) -> Option<Subject> {
    let graph = &subject.model.graph;
    let places: Vec<NodeId> =
        graph.iter().map(|(id, _)| id).filter(|&id| try_at(graph, id, &other).is_some()).collect();
    let place = *places.choose(&mut stream.rng())?;
    Some(subject.with(try_at(graph, place, &other)?))
}

fn try_at(
    graph: &Graph,
    place: NodeId,
    other: impl Fn(&mut Rewrite<'_, Op>, NodeId, &Op) -> Option<Value>,
) -> Option<Graph> {
    let NodeKind::Operator(op) = &graph.node(place).kind else { return None };
    let mut copy = Rewrite::of(graph);
    for (id, _) in graph.iter() {
        if id == place {
            let value = other(&mut copy, id, op)?;
            copy.replace(Value::new(id, 0), value);
        } else {
            copy.keep(id)?;
        }
    }
    copy.finish()
}
