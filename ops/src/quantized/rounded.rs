//! Quotients as integers, for the operators that quantise.

use ir::DType;

use crate::arith::{Arith, Step};

/// An integer next to a quotient, moved by a zero point, and saturated to a range. What saturates in any case is cut
/// off before it is rounded, so that it is decided; in f64, as the ends of a range may be beyond those of the
/// quotient's dtype.
pub(super) fn quantized<A: Arith>(a: &A, quotient: A::R, point: A::Z, (low, high): (i128, i128)) -> A::Z {
    let Some(moved) = a.peek(point) else { return a.unknown_int() };
    let (quotient, a) = (a.stored(quotient), &a.within(DType::F64));
    let [least, most] = [low - moved, high - moved].map(|end| a.real(end as f64));
    let rounded = a.step(Step::Round, a.max(a.min(quotient, most), least));
    a.exact([a.truncate(rounded, DType::I64), point], |[z, point]| Some(z + point))
}
