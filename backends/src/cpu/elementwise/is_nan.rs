//! IsNaN.

use crate::cpu::call::Call;
use crate::cpu::element::{Numeric, dispatch_real};
use crate::cpu::error::Outputs;

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    dispatch_real!(c.dtype(0)?, T => c.map::<T, bool>(|x| x.load().is_nan()), _ => narrow(c))
}

/// For 8-bit floats. `f64` holds all of them.
fn narrow(c: &Call<'_>) -> Outputs {
    let all = c.tensor(0)?.to_f64s();
    Ok(vec![c.store(0, all.into_iter().map(f64::is_nan).collect())?])
}
