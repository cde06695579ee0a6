//! CumSum and CumProd: a running sum or product along the axis, 16-bit floats in `f32`.

use ops::reduction::{Cumulative, CumulativeFn};

use crate::cpu::call::Call;
use crate::cpu::element::{Number, dispatch_work};
use crate::cpu::error::Outputs;
use crate::cpu::lanes::Lanes;
use crate::cpu::strided::axis_index;

pub(crate) fn run(op: Cumulative, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let lanes = Lanes::new(shape, &[axis_index(op.axis, shape.len())?]);
    dispatch_work!(c.dtype(0)?, T => c.only(lanes.map(&c.elements::<T>(0)?, &|lane| accumulate(op, lane))))
}

fn accumulate<W: Number>(op: Cumulative, lane: &mut [W]) {
    let (mut so_far, combine): (W, fn(W, W) -> W) = match op.function {
        CumulativeFn::Sum => (W::ZERO, W::add),
        CumulativeFn::Prod => (W::ONE, W::mul),
    };
    let mut step = |x: &mut W| {
        let before = so_far;
        so_far = combine(so_far, *x);
        *x = if op.exclusive { before } else { so_far };
    };
    if op.reverse { lane.iter_mut().rev().for_each(step) } else { lane.iter_mut().for_each(&mut step) }
}
