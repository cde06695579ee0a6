//! IsInf.

use ops::elementwise::IsInf;

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, Real, dispatch_real};
use crate::cpu::error::Outputs;

pub(crate) fn run(op: IsInf, c: &Call<'_>) -> Outputs {
    dispatch_real!(c.dtype(0)?, T => {
        let infinity = <<T as Numeric>::Work as Real>::INFINITY;
        c.map::<T, bool>(|x| {
            let x = x.load();
            (op.detect_positive && x == infinity) || (op.detect_negative && x == infinity.neg())
        })
    }, _ => narrow(op, c))
}

/// For 8-bit floats. `f64` holds all of them.
fn narrow(op: IsInf, c: &Call<'_>) -> Outputs {
    let is_met = |x: f64| x.is_infinite() && if x > 0.0 { op.detect_positive } else { op.detect_negative };
    let all = c.tensor(0)?.to_f64s();
    Ok(vec![c.store(0, all.into_iter().map(is_met).collect())?])
}
