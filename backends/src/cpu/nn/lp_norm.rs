//! LpNormalization: each lane divided by its norm, except one of zeros.

use ops::nn::LpNorm;

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Real, dispatch_real};
use crate::cpu::error::Outputs;
use crate::cpu::lanes::{Lanes, sum_of};
use crate::cpu::strided::axis_index;

pub(crate) fn run(op: LpNorm, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let lanes = Lanes::new(shape, &[axis_index(op.axis, shape.len())?]);
    dispatch_real!(c.dtype(0)?, T => c.only(lanes.map(&c.elements::<T>(0)?, &|lane| normalize(op, lane))))
}

fn normalize<R: Real>(op: LpNorm, lane: &mut [R]) {
    let norm = if op.taxicab { sum_of(lane, Number::abs) } else { sum_of(lane, |x| x.mul(x)).sqrt() };
    for x in lane.iter_mut() {
        *x = if norm == R::ZERO { R::ZERO } else { x.div(norm) };
    }
}
