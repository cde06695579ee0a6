//! BitShift.

use ops::elementwise::{BitShift, Direction};

use crate::cpu::call::Call;
use crate::cpu::element::{Int, dispatch_int};
use crate::cpu::error::Outputs;

pub(crate) fn run(op: BitShift, c: &Call<'_>) -> Outputs {
    dispatch_int!(c.dtype(0)?, T => match op.direction {
        Direction::Left => c.zip::<T, T, T>(Int::shift_left),
        Direction::Right => c.zip::<T, T, T>(Int::shift_right),
    })
}
