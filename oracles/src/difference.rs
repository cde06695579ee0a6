//! Where two answers differ.

use interp::Mismatch;
use ir::Tensor;

/// What is no difference.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ignored<'a> {
    /// The elements that may be anything, in ascending order.
    pub(crate) elements: &'a [usize],
    /// Whether zeros of either sign are the same.
    pub(crate) zero_sign: bool,
}

/// The first element in which two tensors of one type differ, bit by bit; a NaN is any NaN. No bound is known of it.
pub(crate) fn first_difference(one: &Tensor, other: &Tensor, ignored: Ignored<'_>) -> Option<Mismatch> {
    if one == other {
        return None;
    }
    let counts = |i: usize| ignored.elements.binary_search(&i).is_err();
    let mismatch = |index, expected, actual| Mismatch { index, expected, bound: 0.0, actual, ulp: f64::NAN };
    if one.dtype().is_float() {
        let same = |x: f64, y: f64| {
            let zeros = ignored.zero_sign && x == 0.0 && y == 0.0;
            zeros || (x.is_nan() && y.is_nan()) || x.to_bits() == y.to_bits()
        };
        let mut pairs = one.to_f64s().into_iter().zip(other.to_f64s()).enumerate();
        pairs.find(|&(i, (x, y))| counts(i) && !same(x, y)).map(|(i, (x, y))| mismatch(i, x, y))
    } else {
        let mut pairs = one.to_i128s().into_iter().zip(other.to_i128s()).enumerate();
        pairs.find(|&(i, (x, y))| counts(i) && x != y).map(|(i, (x, y))| mismatch(i, x as f64, y as f64))
    }
}
