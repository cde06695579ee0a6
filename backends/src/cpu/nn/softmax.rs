//! Softmax: eˣ times the reciprocal of the sum of eˣ.

use ops::nn::Softmax;

use crate::cpu::call::Call;
use crate::cpu::element::{Real, dispatch_float};
use crate::cpu::error::Outputs;
use crate::cpu::lanes::{Lanes, largest, sum_of};
use crate::cpu::strided::axis_index;

pub(crate) fn run(op: Softmax, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let lanes = Lanes::new(shape, &[axis_index(op.axis, shape.len())?]);
    dispatch_float!(c.dtype(0)?, T => c.only(lanes.map(&c.elements::<T>(0)?, softmax)))
}

/// About the largest number, so that nothing overflows.
fn softmax<R: Real>(lane: &mut [R]) {
    let Some(top) = largest(lane) else { return };
    lane.iter_mut().for_each(|x| *x = x.sub(top).exp());
    let scale = R::ONE.div(sum_of(lane, |x| x));
    lane.iter_mut().for_each(|x| *x = x.mul(scale));
}
