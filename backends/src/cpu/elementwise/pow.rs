//! Pow.

use crate::cpu::call::Call;
use crate::cpu::element::{Int, Real, dispatch_int, dispatch_real};
use crate::cpu::error::Outputs;

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    // The exponents in one type, so that a kernel is compiled for each dtype of the base and not for each pair.
    let (base, exponent) = (c.dtype(0)?, c.tensor(1)?);
    if !base.is_float() && !exponent.dtype().is_float() {
        let y = exponent.to_i128s();
        return dispatch_int!(base, T => c.zip_slices(&c.elements::<T>(0)?, &y, integer));
    }
    if base.is_float() && !exponent.dtype().is_float() {
        let y = exponent.to_i128s();
        return dispatch_real!(base, T => c.zip_slices(&c.elements::<T>(0)?, &y, of_integer));
    }
    let y = exponent.to_f64s();
    dispatch_real!(
        base,
        T => c.zip_slices(&c.elements::<T>(0)?, &y, |x, y| Real::pow(x, Real::from_f64(y))),
        other => dispatch_int!(other, T => {
            c.zip_slices(&c.elements::<T>(0)?, &y, |x, y| <T as Int>::from_f64(Int::to_f64(x).powf(y)))
        })
    )
}

/// base^exponent. Whether the exponent is odd a float may not hold.
fn of_integer<T: Real>(base: T, exponent: i128) -> T {
    let power = Real::pow(base.abs(), T::from_f64(exponent as f64));
    if exponent % 2 != 0 && base.to_f64().is_sign_negative() { power.neg() } else { power }
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
    fn an_exponent_is_odd_although_no_float_of_the_base_holds_it() {
        assert_eq!([16_777_217, 16_777_216, -16_777_217].map(|e| of_integer(-1f32, e)), [-1.0, 1.0, -1.0]);
        assert_eq!([(-2.0, 3), (-2.0, -2), (2.0, 3)].map(|(b, e)| of_integer(b, e)), [-8f64, 0.25, 8.0]);
        assert!(of_integer(-0f32, 3).is_sign_negative() && of_integer(-0f32, 2).is_sign_positive());
    }

    #[test]
    fn integers_wrap_and_negative_exponents_truncate() {
        assert_eq!((integer(3i32, 21), integer(-2i64, 63)), (3i32.wrapping_pow(21), i64::MIN));
        let below = [(1, -3), (-1, -3), (-1, -2), (2, -1), (0, -1)].map(|(b, e)| integer(b, e));
        assert_eq!(below, [1i32, -1, 1, 0, 0]);
        assert_eq!(integer(255u8, -1), 0);
    }
}
