//! GlobalAveragePool and GlobalMaxPool.

use ops::nn::{GlobalPool, GlobalPoolFn};

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, dispatch_real};
use crate::cpu::error::Outputs;
use crate::cpu::lanes::{Lanes, largest, sum_of};

pub(crate) fn run(op: GlobalPool, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let lanes = Lanes::new(shape, &(2..shape.len()).collect::<Vec<_>>());
    dispatch_real!(c.dtype(0)?, T => {
        let x = c.elements::<T>(0)?;
        c.only(lanes.reduce(&x, &|xs| T::store(match op.0 {
            GlobalPoolFn::Average => sum_of(xs, |x| x).div(Number::from_count(xs.len())),
            GlobalPoolFn::Max => largest(xs).unwrap_or(Number::ZERO),
        })))
    })
}
