//! Simpler numbers in inputs and constants: zeros, ones, equal ones, whole ones, shorter ones; for all tensors
//! together, for each, for parts of each.

use std::rc::Rc;

use ir::{NodeId, Tensor};

use super::{Candidates, chunks};
use crate::reduce::interest::Shown;
use crate::reduce::problem::Problem;
use crate::reduce::rewrite::Edit;
use crate::reduce::scalar::{Scalar, scalars, tensor};

/// A simpler number for one in a tensor. It is given the tensor (for its dtype), the tensor's first number
/// and the number itself.
type Simpler = fn(&Tensor, Scalar, Scalar) -> Scalar;

/// The ways to make a number simpler, the simplest result first.
const WAYS: &[Simpler] = &[
    |t, _, _| Scalar::of(t.dtype(), 0),
    |t, _, _| Scalar::of(t.dtype(), 1),
    |_, first, _| first,
    |_, _, number| number.coarser(),
    |_, _, number| number.shorter(),
];

/// In a larger tensor, only parts of at least this share of it are tried.
const PARTS: usize = 64;

pub(super) fn candidates(shown: &Shown) -> Candidates<'_> {
    let problem = &shown.problem;
    let everywhere = WAYS.iter().filter_map(move |way| {
        let tensors = problem.leaves().map(|(id, t)| (id, changed(t, 0..t.len(), *way))).collect();
        Edit { tensors, ..Edit::default() }.apply(problem)
    });
    let somewhere = problem
        .leaves()
        .flat_map(move |(id, t)| simpler(t.clone()).filter_map(move |other| edited(problem, id, t, other)));
    Box::new(everywhere.chain(somewhere))
}

/// The tensor with simpler numbers: all of it, then parts.
pub(super) fn simpler(t: Tensor) -> impl Iterator<Item = Tensor> {
    let count = t.len();
    let parts = chunks(count).filter(move |part| part.len() * PARTS >= count);
    let parts = std::iter::once(0..count).chain(parts);
    let t = Rc::new(t);
    parts.flat_map(move |part| {
        let t = Rc::clone(&t);
        WAYS.iter().map(move |way| changed(&t, part.clone(), *way))
    })
}

fn changed(t: &Tensor, part: std::ops::Range<usize>, way: Simpler) -> Tensor {
    let mut all = scalars(t);
    if let Some(&first) = all.first() {
        for number in &mut all[part] {
            *number = way(t, first, *number);
        }
    }
    tensor(&t.ty(), &all)
}

fn edited(problem: &Problem, id: NodeId, old: &Tensor, new: Tensor) -> Option<Problem> {
    let edit = Edit { tensors: [(id, new)].into(), ..Edit::default() };
    if edit.tensors.get(&id) == Some(old) { None } else { edit.apply(problem) }
}
