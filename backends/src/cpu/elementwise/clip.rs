//! Clip: the lower bound first, then the upper one; NaN stays.

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, dispatch_work};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    dispatch_work!(c.dtype(0)?, T => {
        let (low, high) = (bound::<T>(c, 1)?, bound::<T>(c, 2)?);
        c.map_numbers::<T>(|x| {
            let x = low.map_or(x, |low| x.larger(low));
            high.map_or(x, |high| x.smaller(high))
        })
    })
}

fn bound<T: Numeric>(c: &Call<'_>, i: usize) -> Result<Option<T::Work>, CpuError> {
    if c.opt(i).is_none() {
        return Ok(None);
    }
    Ok(c.elements::<T>(i)?.first().map(|&b| b.load()))
}
