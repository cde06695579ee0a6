//! PRelu.

use crate::cpu::call::Call;
use crate::cpu::element::{Number, dispatch_work};
use crate::cpu::error::Outputs;

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    dispatch_work!(c.dtype(0)?, T => c.zip_numbers::<T>(prelu))
}

fn prelu<W: Number>(x: W, slope: W) -> W {
    if x < W::ZERO { x.mul(slope) } else { x }
}
