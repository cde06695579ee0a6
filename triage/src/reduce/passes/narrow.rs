//! Narrower dtypes: all inputs and constants of one dtype in another that holds the same numbers.

use ir::{DType, DTypes, Tensor};

use super::Candidates;
use crate::reduce::interest::Shown;
use crate::reduce::problem::Problem;
use crate::reduce::rewrite::Edit;
use crate::reduce::scalar::{scalars, tensor};

pub(super) fn candidates(shown: &Shown) -> Candidates<'_> {
    // Few operators take narrower ones.
    let pairs = DTypes::IR4.iter().flat_map(|from| DTypes::IR4.iter().map(move |to| (from, to)));
    let is_narrower = |&(from, to): &(DType, DType)| {
        to.bits() < from.bits() && to.is_float() == from.is_float() && to != DType::Bool
    };
    Box::new(pairs.filter(is_narrower).filter_map(|(from, to)| converted(&shown.problem, from, to)))
}

fn converted(problem: &Problem, from: DType, to: DType) -> Option<Problem> {
    let mut edit = Edit::default();
    for (id, wide) in problem.leaves().filter(|(_, t)| t.dtype() == from) {
        edit.tensors.insert(id, exactly(wide, to)?);
    }
    if edit.tensors.is_empty() { None } else { edit.apply(problem) }
}

/// The tensor in another dtype, if that holds all its numbers.
fn exactly(wide: &Tensor, to: DType) -> Option<Tensor> {
    let all = scalars(wide);
    let narrow = tensor(&wide.ty().with_dtype(to), &all);
    (scalars(&narrow).iter().map(|n| n.key()).eq(all.iter().map(|n| n.key()))).then_some(narrow)
}
