//! Moving values to where a graph is defined.

use std::collections::BTreeSet;
use std::sync::Arc;

use ir::execute::Keep;
use ir::{NodeId, Stream, Tensor};
use ndarray::{ArrayD, IxDyn};
use ops::{Data, Model};
use rand::RngExt;

use crate::draw::Tamer;
use crate::found::Tensors;
use crate::tape::Tape;
use crate::trace::{Traced, Traces, Tracing};
use crate::undefined::{UndefinedAt, Wish};
use interp::walk::{Held, Visit, walk};

/// One way to repair values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repair {
    /// Pull what the elements at fault should be back to the elements that carry them.
    Pull,
    /// Draw the tensors anew.
    Draw(Tamer),
    /// Draw half of the elements anew: where elements do not depend on each other, the good ones gather.
    Mix(Tamer),
    /// One step along the gradient.
    Gradient,
}

impl Repair {
    /// The repairs in the order they are tried until one helps: the cheap and the mild first.
    pub(crate) const PLAN: [Self; 12] = [
        Self::Pull,
        Self::Gradient,
        Self::Mix(Tamer::Not),
        Self::Draw(Tamer::Small),
        Self::Pull,
        Self::Mix(Tamer::Positive),
        Self::Mix(Tamer::Negative),
        Self::Draw(Tamer::Positive),
        Self::Mix(Tamer::Small),
        Self::Draw(Tamer::Tiny),
        Self::Draw(Tamer::Negative),
        Self::Draw(Tamer::Not),
    ];
}

/// A tensor with each element taken from one of two of one type.
pub(crate) fn mix(a: &Tensor, b: &Tensor, at: Stream) -> Tensor {
    let (ty, rng) = (a.ty(), &mut at.rng());
    if ty.dtype.is_float() {
        let (a, b) = (a.to_f64s(), b.to_f64s());
        Tensor::from_f64_fn(&ty, |i| if rng.random() { a[i] } else { b[i] })
    } else {
        let (a, b) = (a.to_i128s(), b.to_i128s());
        Tensor::from_i128_fn(&ty, |i| if rng.random() { a[i] } else { b[i] })
    }
}

/// The leaves moved towards the wishes of what is undefined, by the step that would reach them if the graph were linear
/// (Polyak's step length for a least loss of 0). `None` where there is no gradient to follow.
pub(crate) fn descend(
    model: &Model,
    tensors: &Tensors,
    leaves: &BTreeSet<NodeId>,
    undefined: &UndefinedAt,
    limit: usize,
) -> Option<Tensors> {
    let tape = Tape::new(limit);
    let traced: Vec<(NodeId, ArrayD<Traced<f64>>)> = leaves
        .iter()
        .filter_map(|id| Some((*id, tensors.get(id)?)))
        .filter(|(_, t)| t.dtype().is_float())
        .map(|(id, t)| (id, leaf(&tape, t)))
        .collect();
    let mut seeds = Vec::new();
    let mut loss = 0.0;
    let system = Traces::from(&tape);
    let mut number = 0;
    let mut visit = |v: &Visit<'_, Tracing<'_>>| {
        number += 1;
        if number <= undefined.visit {
            return true;
        }
        for &(operand, wish) in &undefined.wishes {
            if let Some(Data::Real(a)) = v.operands.get(operand).copied().flatten() {
                loss += wanted(a, wish, &mut seeds);
            }
        }
        false
    };
    let given = |id: NodeId| match traced.iter().find(|(leaf, _)| *leaf == id) {
        Some((_, a)) => Some(Held::new(Data::Real(a.clone()))),
        None => tensors.get(&id).map(Held::of),
    };
    // The visitor ends the run at what is undefined; the values are of no more use.
    walk(&system, model, Keep::Outputs, &given, &mut visit);
    let gradient = tape.gradient(&seeds);
    let length: f64 = traced.iter().flat_map(|(_, a)| a).map(|&x| gradient.by(x) * gradient.by(x)).sum();
    if !(length > 0.0 && length.is_finite() && loss.is_finite()) {
        return None;
    }
    // The loss is half the square of the distance; on the way to 0 the linear step is twice Polyak's.
    let step = 2.0 * loss / length;
    let mut moved = tensors.clone();
    for (id, a) in &traced {
        let mut items = a.iter();
        let ty = tensors.get(id)?.ty();
        let next = |x: &Traced<f64>| x.value - step * gradient.by(*x);
        moved.insert(*id, Arc::new(Tensor::from_f64_fn(&ty, |_| items.next().map_or(0.0, next))));
    }
    Some(moved)
}

fn leaf(tape: &Tape, tensor: &Tensor) -> ArrayD<Traced<f64>> {
    let mut items = tensor.to_f64s().into_iter();
    ArrayD::from_shape_simple_fn(IxDyn(tensor.shape()), || tape.leaf(items.next().unwrap_or(0.0)))
}

/// Adds the derivatives of half the squared distance from the wish, and gives that distance.
fn wanted(a: &ArrayD<Traced<f64>>, wish: Wish, seeds: &mut Vec<(Traced<f64>, f64)>) -> f64 {
    let mut loss = 0.0;
    for &x in a.iter().filter(|x| x.value.is_finite() && !wish.holds(x.value)) {
        let away = x.value - wish.target(x.value);
        loss += away * away / 2.0;
        seeds.push((x, away));
    }
    loss
}
