//! Softmax, LogSoftmax and Hardmax.

use ops::nn::{Softmax, SoftmaxFn};

use crate::cpu::call::Call;
use crate::cpu::element::{Real, dispatch_real};
use crate::cpu::error::Outputs;
use crate::cpu::lanes::{Lanes, largest, sum_of};
use crate::cpu::strided::axis_index;

pub(crate) fn run(op: Softmax, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let lanes = Lanes::new(shape, &[axis_index(op.axis, shape.len())?]);
    dispatch_real!(c.dtype(0)?, T => c.only(lanes.map(&c.elements::<T>(0)?, &|lane| match op.function {
        SoftmaxFn::Softmax => softmax(lane),
        SoftmaxFn::LogSoftmax => log_softmax(lane),
        SoftmaxFn::Hardmax => hardmax(lane),
    })))
}

/// eˣ times the reciprocal of the sum of eˣ, about the largest number so that nothing overflows.
fn softmax<R: Real>(lane: &mut [R]) {
    let Some(top) = largest(lane) else { return };
    for x in lane.iter_mut() {
        *x = x.sub(top).exp();
    }
    let scale = R::ONE.div(sum_of(lane, |x| x));
    for x in lane.iter_mut() {
        *x = x.mul(scale);
    }
}

/// x - ln Σ eˣ, about the largest number.
fn log_softmax<R: Real>(lane: &mut [R]) {
    let Some(top) = largest(lane) else { return };
    let log = sum_of(lane, |x| x.sub(top).exp()).ln();
    for x in lane.iter_mut() {
        *x = x.sub(top).sub(log);
    }
}

/// 1 at the first of the largest numbers, or at the first NaN.
fn hardmax<R: Real>(lane: &mut [R]) {
    let Some(top) = largest(lane) else { return };
    let first = lane.iter().position(|&x| x == top || x.is_nan());
    lane.fill(R::ZERO);
    if let Some(first) = first {
        lane[first] = R::ONE;
    }
}
