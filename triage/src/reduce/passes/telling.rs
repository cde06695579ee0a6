//! Numbers that tell elements apart: 1, 2, 3 … in place of those that a reduction ends with.
//!
//! The smallest numbers are zeros and ones, and equal. They say least of what is wrong: which element went where, and
//! which were added. This is no step down in the order of sizes: it is taken once, where no pass makes the problem
//! smaller.

use ir::{DType, Tensor};

use super::given;
use crate::reduce::problem::Problem;
use crate::reduce::rewrite::Edit;
use crate::reduce::scalar::{Scalar, tensor};

/// The most elements that are told apart: of more, nobody reads each.
const MOST: usize = 16;

/// The problem with such numbers in all that is given; then with those in floats alone, as integers may be indices and sizes.
pub(in crate::reduce) fn candidates(problem: &Problem) -> impl Iterator<Item = Problem> + '_ {
    let few = problem.leaves().map(|(_, tensor)| tensor.len()).sum::<usize>() <= MOST;
    let kinds: [fn(DType) -> bool; 2] = [|dtype| dtype != DType::Bool, DType::is_float];
    kinds.into_iter().filter(move |_| few).filter_map(|is_counted| counted(problem, is_counted))
}

/// The problem with the numbers from 1 on in the tensors of some dtypes; `None` where it has these already.
fn counted(problem: &Problem, is_counted: fn(DType) -> bool) -> Option<Problem> {
    let mut last = 0;
    let mut other = |old: &Tensor| {
        let count = |_| {
            last += 1;
            Scalar::of(old.dtype(), last)
        };
        is_counted(old.dtype()).then(|| tensor(&old.ty(), &(0..old.len()).map(count).collect::<Vec<_>>()))
    };
    let changed = if problem.program.is_some() {
        given::with(problem, &mut other)
    } else {
        let tensors = problem.leaves().filter_map(|(id, old)| Some((id, other(old)?))).collect();
        Edit { tensors, ..Edit::default() }.apply(problem)
    };
    changed.filter(|changed| changed != problem)
}
