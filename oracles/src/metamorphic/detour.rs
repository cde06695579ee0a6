//! Relations that send values on a detour: operators that give back what they were given.
//!
//! Every operator of the original sees operands of the same types and the same bits, so nothing is rounded in another
//! place. What changes is who stands next to whom, and that is what fusions look at.

use ir::rewrite::Rewrite;
use ir::{Stream, Value};
use ops::elementwise::unary::{Unary, UnaryFn};
use ops::movement::{Concat, Reshape, Split, Squeeze, Transpose, Unsqueeze};
use ops::{Graph, Op};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::relation::Subject;

/// The most values that take a detour.
const MOST: usize = 4;

/// Identity nodes after values.
pub(super) fn fence(subject: &Subject, stream: Stream) -> Option<Subject> {
    detour(subject, &["Identity"], stream, |copy, value, _| copy.push(Unary(UnaryFn::Identity), &[value]))
}

/// Split and Concat along an axis.
pub(super) fn barrier(subject: &Subject, stream: Stream) -> Option<Subject> {
    detour(subject, &["Split", "Concat"], stream, |copy, value, rng| {
        let ty = copy.graph.ty(value).clone();
        let axes: Vec<usize> = (0..ty.rank()).filter(|&a| ty.shape[a] >= 2).collect();
        let axis = *axes.get(rng.random_range(0..axes.len().max(1)))?;
        let first = rng.random_range(1..ty.shape[axis]);
        let split = Split { axis: axis as i64, split: vec![first, ty.shape[axis] - first] };
        let parts = copy.graph.operator(split.into(), &[Some(value)]).ok()?;
        copy.push(Concat { axis: axis as i64 }, &[Value::new(parts, 0), Value::new(parts, 1)])
    })
}

/// A Transpose and the one that undoes it.
pub(super) fn transpose_pair(subject: &Subject, stream: Stream) -> Option<Subject> {
    detour(subject, &["Transpose"], stream, |copy, value, rng| {
        let rank = copy.graph.ty(value).rank();
        if rank < 2 {
            return None;
        }
        let mut order: Vec<usize> = (0..rank).collect();
        while order.is_sorted() {
            order.shuffle(rng);
        }
        let mut back = vec![0; rank];
        order.iter().enumerate().for_each(|(to, &from)| back[from] = to as i64);
        let perm = Some(order.iter().map(|&axis| axis as i64).collect());
        let there = copy.push(Transpose { perm }, &[value])?;
        copy.push(Transpose { perm: Some(back) }, &[there])
    })
}

/// A Reshape to a vector, or with an axis cut in two, and the one that undoes it.
pub(super) fn reshape_pair(subject: &Subject, stream: Stream) -> Option<Subject> {
    detour(subject, &["Reshape"], stream, |copy, value, rng| {
        let ty = copy.graph.ty(value).clone();
        if ty.count() == 0 {
            // A 0 in `shape` stands for the operand's size there.
            return None;
        }
        let mut shape = vec![ty.count()];
        if rng.random_bool(0.5) {
            shape.insert(rng.random_range(0..=1), 1);
        }
        let there = copy.push(Reshape { shape, allowzero: false }, &[value])?;
        copy.push(Reshape { shape: ty.shape, allowzero: false }, &[there])
    })
}

/// An Unsqueeze and the Squeeze that undoes it.
pub(super) fn unsqueeze_pair(subject: &Subject, stream: Stream) -> Option<Subject> {
    detour(subject, &["Unsqueeze", "Squeeze"], stream, |copy, value, rng| {
        let axis = rng.random_range(0..=copy.graph.ty(value).rank()) as i64;
        let there = copy.push(Unsqueeze { axes: vec![axis] }, &[value])?;
        copy.push(Squeeze { axes: Some(vec![axis]) }, &[there])
    })
}

/// The model with some of its values on a detour; `None` if no value takes one.
///
/// `way` appends the operators of the detour and gives its end, which must be of the same type. Values of a dtype that
/// one of them does not take stay as they are.
fn detour(
    subject: &Subject,
    operators: &[&str],
    stream: Stream,
    way: impl Fn(&mut Rewrite<'_, Op>, Value, &mut dyn Rng) -> Option<Value>,
) -> Option<Subject> {
    let mut rng = stream.rng();
    let mut chosen = pick(&values(&subject.model.graph), &mut rng);
    chosen.sort_unstable();
    let mut copy = Rewrite::of(&subject.model.graph);
    let mut detours = 0;
    for (id, node) in subject.model.graph.iter() {
        copy.keep(id)?;
        for value in (0..node.outputs.len()).map(|port| Value::new(id, port)) {
            let dtype = subject.model.graph.ty(value).dtype;
            if chosen.binary_search(&value).is_err() || !subject.has_for(dtype, operators) {
                continue;
            }
            let start = copy.at(value)?;
            if let Some(end) = way(&mut copy, start, &mut rng) {
                copy.replace(value, end);
                detours += 1;
            }
        }
    }
    let graph = copy.finish()?;
    (detours > 0).then(|| subject.with(graph))
}

/// The values of a graph.
fn values(graph: &Graph) -> Vec<Value> {
    graph
        .iter()
        .flat_map(|(id, node)| (0..node.outputs.len()).map(move |port| Value::new(id, port)))
        .collect()
}

/// Some of the values, in any order.
fn pick(all: &[Value], rng: &mut impl Rng) -> Vec<Value> {
    if all.is_empty() {
        return Vec::new();
    }
    let count = rng.random_range(1..=MOST);
    (0..count).map(|_| all[rng.random_range(0..all.len())]).collect()
}
