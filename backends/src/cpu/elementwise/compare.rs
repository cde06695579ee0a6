//! Comparisons: nothing holds of NaN.

use ir::DType;
use ir::tensor::Element;
use ops::arith::Comparison;

use crate::cpu::call::Call;
use crate::cpu::element::dispatch_work;
use crate::cpu::error::Outputs;

pub(crate) fn run(comparison: Comparison, c: &Call<'_>) -> Outputs {
    match c.dtype(0)? {
        DType::Bool => compare::<bool>(comparison, c),
        number => dispatch_work!(number, T => compare::<T>(comparison, c)),
    }
}

fn compare<T: Element + PartialOrd>(comparison: Comparison, c: &Call<'_>) -> Outputs {
    match comparison {
        Comparison::Equal => c.zip::<T, T, bool>(|x, y| x == y),
        Comparison::Less => c.zip::<T, T, bool>(|x, y| x < y),
        Comparison::LessOrEqual => c.zip::<T, T, bool>(|x, y| x <= y),
        Comparison::Greater => c.zip::<T, T, bool>(|x, y| x > y),
        Comparison::GreaterOrEqual => c.zip::<T, T, bool>(|x, y| x >= y),
    }
}
