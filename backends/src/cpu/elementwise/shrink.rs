//! Shrink.

use ops::elementwise::Shrink;

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, dispatch_work};
use crate::cpu::error::Outputs;

pub(crate) fn run(op: Shrink, c: &Call<'_>) -> Outputs {
    dispatch_work!(c.dtype(0)?, T => {
        let bias = Number::from_attribute(op.bias);
        // Negated before it is converted, since an unsigned number has no negative.
        let [high, low] = [op.lambd, -op.lambd].map(<<T as Numeric>::Work as Number>::clamp_attribute);
        c.map_numbers::<T>(|x| {
            if x < low {
                x.add(bias)
            } else if x > high {
                x.sub(bias)
            } else {
                Number::ZERO
            }
        })
    })
}
