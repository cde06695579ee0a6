//! CumSum: a running sum along the axis, 16-bit floats in `f32`.

use ops::reduction::CumSum;

use crate::cpu::call::Call;
use crate::cpu::element::{Number, dispatch_number};
use crate::cpu::error::Outputs;
use crate::cpu::lanes::Lanes;
use crate::cpu::strided::axis_index;

pub(crate) fn run(op: CumSum, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let lanes = Lanes::new(shape, &[axis_index(op.axis, shape.len())?]);
    dispatch_number!(c.dtype(0)?, T => c.only(lanes.map(&c.elements::<T>(0)?, |lane| accumulate(op, lane))))
}

fn accumulate<W: Number>(op: CumSum, lane: &mut [W]) {
    let mut sum = W::ZERO;
    let mut step = |x: &mut W| {
        let before = sum;
        sum = sum.add(*x);
        *x = if op.exclusive { before } else { sum };
    };
    if op.reverse { lane.iter_mut().rev().for_each(step) } else { lane.iter_mut().for_each(&mut step) }
}
