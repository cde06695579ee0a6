//! IsNaN and IsInf.

use ops::elementwise::Predicate;

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, Real, dispatch_real};
use crate::cpu::error::Outputs;

pub(crate) fn run(op: Predicate, c: &Call<'_>) -> Outputs {
    dispatch_real!(c.dtype(0)?, T => match op {
        Predicate::IsNaN => c.map::<T, bool>(|x| x.load().is_nan()),
        Predicate::IsInf { detect_negative, detect_positive } => {
            let infinity = <<T as Numeric>::Work as Real>::INFINITY;
            c.map::<T, bool>(|x| {
                let x = x.load();
                (detect_positive && x == infinity) || (detect_negative && x == infinity.neg())
            })
        }
    }, _ => narrow(op, c))
}

/// For 8-bit floats. `f64` holds all of them.
fn narrow(op: Predicate, c: &Call<'_>) -> Outputs {
    let is_met = |x: f64| match op {
        Predicate::IsNaN => x.is_nan(),
        Predicate::IsInf { detect_negative, detect_positive } => {
            x.is_infinite() && if x > 0.0 { detect_positive } else { detect_negative }
        }
    };
    let all = c.tensor(0)?.to_f64s();
    Ok(vec![c.store(0, all.into_iter().map(is_met).collect())?])
}
