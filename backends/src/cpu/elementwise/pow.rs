//! Pow.

use ir::DType;
use ir::tensor::Element;

use crate::cpu::call::Call;
use crate::cpu::element::{Int, Numeric, Real, dispatch_float, dispatch_int};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    let (base, exponent) = (c.dtype(0)?, c.dtype(1)?);
    if !base.is_float() && !exponent.is_float() {
        let y = dispatch_int!(exponent, U => widest::<U, _>(c, Int::to_i128), found => untaken(found))?;
        return dispatch_int!(base, T => c.zip_slices(&c.elements::<T>(0)?, &y, integer));
    }
    let y = if exponent.is_float() {
        dispatch_float!(exponent, U => widest::<U, _>(c, |y| Real::to_f64(y.load())))?
    } else {
        dispatch_int!(exponent, U => widest::<U, _>(c, Int::to_f64), found => untaken(found))?
    };
    if base.is_float() {
        dispatch_float!(base, T => {
            c.zip_slices(&c.elements::<T>(0)?, &y, |x, y| T::store(Real::pow(x.load(), Real::from_f64(y))))
        })
    } else {
        dispatch_int!(base, T => {
            c.zip_slices(&c.elements::<T>(0)?, &y, |x, y| <T as Int>::from_f64(Int::to_f64(x).powf(y)))
        })
    }
}

/// The exponents without loss, so that a kernel is compiled for each dtype of the base and not for each pair.
fn widest<U: Element, W>(c: &Call<'_>, f: impl Fn(U) -> W) -> Result<Vec<W>, CpuError> {
    Ok(c.elements::<U>(1)?.iter().map(|&y| f(y)).collect())
}

fn untaken<W>(found: DType) -> Result<W, CpuError> {
    Err(CpuError::DType { operand: 1, found })
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
