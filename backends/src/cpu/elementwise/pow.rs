//! Pow.

use crate::cpu::call::Call;
use crate::cpu::element::{Int, Numeric, Real, dispatch_float, dispatch_int};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    let (base, exponent) = (c.dtype(0)?, c.dtype(1)?);
    let untaken = |found| Err(CpuError::DType { operand: 1, found });
    match (base.is_float(), exponent.is_float()) {
        (true, true) => dispatch_float!(base, T => dispatch_float!(exponent, U => {
            c.zip::<T, U, T>(|x, y| T::store(Real::pow(x.load(), Real::from_f64(Real::to_f64(y.load())))))
        })),
        (true, false) => dispatch_float!(base, T => dispatch_int!(exponent, U => {
            c.zip::<T, U, T>(|x, y| T::store(Real::pow(x.load(), Real::from_f64(Int::to_f64(y)))))
        }, found => untaken(found))),
        (false, true) => dispatch_int!(base, T => dispatch_float!(exponent, U => {
            c.zip::<T, U, T>(|x, y| Int::from_f64(Int::to_f64(x).powf(Real::to_f64(y.load()))))
        })),
        (false, false) => dispatch_int!(base, T => dispatch_int!(exponent, U => {
            c.zip::<T, U, T>(|x, y| integer(x, y.to_i128()))
        }, found => untaken(found))),
    }
}

/// base^exponent, wrapped. A negative exponent gives what truncating the quotient gives, and 0 for the base 0.
fn integer<T: Int>(base: T, exponent: i128) -> T {
    let minus_one = T::ZERO.sub(T::ONE);
    if exponent < 0 && base != T::ONE && (base != minus_one || base > T::ZERO) {
        return T::ZERO;
    }
    let (mut result, mut square, mut bits) = (T::ONE, base, exponent.unsigned_abs());
    while bits > 0 {
        if bits % 2 == 1 {
            result = result.mul(square);
        }
        square = square.mul(square);
        bits /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_negative_exponents_truncate() {
        assert_eq!((integer(3i32, 21), integer(-2i64, 63)), (3i32.wrapping_pow(21), i64::MIN));
        let below = [(1, -3), (-1, -3), (-1, -2), (2, -1), (0, -1)].map(|(b, e)| integer(b, e));
        assert_eq!(below, [1i32, -1, 1, 0, 0]);
        assert_eq!(integer(255u8, -1), 0);
    }
}
