//! Mod.

use ops::elementwise::Mod;

use crate::cpu::call::Call;
use crate::cpu::element::{Number, dispatch_number};
use crate::cpu::error::Outputs;

pub(crate) fn run(op: Mod, c: &Call<'_>) -> Outputs {
    dispatch_number!(c.dtype(0)?, T => if op.fmod {
        c.zip_numbers::<T>(Number::rem)
    } else {
        c.zip_numbers::<T>(floored)
    })
}

/// The remainder with the divisor's sign.
fn floored<W: Number>(x: W, y: W) -> W {
    let r = x.rem(y);
    if r != W::ZERO && (r < W::ZERO) != (y < W::ZERO) { r.add(y) } else { r }
}
