//! Mod.

use ops::elementwise::Mod;

use crate::cpu::call::Call;
use crate::cpu::element::{Number, dispatch_work};
use crate::cpu::error::Outputs;

pub(crate) fn run(op: Mod, c: &Call<'_>) -> Outputs {
    dispatch_work!(c.dtype(0)?, T => if op.fmod {
        c.zip_numbers::<T>(Number::rem)
    } else {
        c.zip_numbers::<T>(floored)
    })
}

/// The remainder with the divisor's sign, which a zero of floats has too.
fn floored<W: Number>(x: W, y: W) -> W {
    let r = x.rem(y);
    match (r == W::ZERO, (r < W::ZERO) != (y < W::ZERO)) {
        (true, _) if y < W::ZERO => W::ZERO.neg(),
        (true, _) => W::ZERO,
        (false, true) => r.add(y),
        (false, false) => r,
    }
}
