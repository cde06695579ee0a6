//! The elements of tensors, one type for all dtypes, and tensors with other elements or fewer of them.

use ir::format::{exp2i, exponent_of};
use ir::{DType, Tensor, Type};

/// One element.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Scalar {
    /// Of a float type.
    Real(f64),
    /// Of an integer type, or a truth value.
    Int(i128),
}

impl Scalar {
    /// A small integer as an element of a dtype.
    pub(super) fn of(dtype: DType, value: i32) -> Self {
        if dtype.is_float() { Self::Real(value.into()) } else { Self::Int(value.into()) }
    }

    /// Equal for equal numbers; a NaN equals itself.
    pub(super) fn key(self) -> (bool, u128) {
        match self {
            Self::Real(v) if v.fract() == 0.0 && v.abs() < WHOLE && !is_negative_zero(v) => {
                (false, (v as i128).cast_unsigned())
            }
            Self::Real(v) => (true, v.to_bits().into()),
            Self::Int(v) => (false, v.cast_unsigned()),
        }
    }

    /// How many bits it takes to write the number as ± odd · 2ⁿ: 0 for 0, 1 for 1, more for what is less simple.
    pub(super) fn bits(self) -> u32 {
        let length = |v: u128| u128::BITS - v.leading_zeros();
        let written = |odd: u128, exponent: i32, negative: bool| {
            let twos = odd.trailing_zeros();
            length(odd >> twos) + length((exponent + twos as i32).unsigned_abs().into()) + u32::from(negative)
        };
        match self {
            Self::Real(v) if !v.is_finite() => u64::BITS,
            Self::Real(v) if v == 0.0 => u32::from(v.is_sign_negative()),
            Self::Int(0) => 0,
            Self::Real(v) => {
                let exponent = (v.to_bits() >> 52 & 0x7ff) as i32;
                let fraction = u128::from(v.to_bits() & ((1 << 52) - 1));
                let odd = if exponent == 0 { fraction } else { fraction | 1 << 52 };
                written(odd, exponent.max(1) - 1075, v < 0.0)
            }
            Self::Int(v) => written(v.unsigned_abs(), 0, v < 0),
        }
    }

    /// The number with its fraction, or the lower half of its bits, cut off.
    pub(super) fn coarser(self) -> Self {
        match self {
            Self::Real(v) => Self::Real(v.trunc()),
            Self::Int(v) => Self::Int(v.signum() * v.abs().isqrt()),
        }
    }

    /// The number with some eight significant bits.
    pub(super) fn shorter(self) -> Self {
        match self {
            Self::Real(v) if v.is_finite() && v != 0.0 => {
                let unit = exp2i(exponent_of(v) - 7);
                Self::Real((v / unit).round() * unit)
            }
            other => other,
        }
    }
}

/// Floats below this are exact as integers.
const WHOLE: f64 = 1e18;

fn is_negative_zero(v: f64) -> bool {
    v == 0.0 && v.is_sign_negative()
}

/// The elements in row-major order.
pub(super) fn scalars(tensor: &Tensor) -> Vec<Scalar> {
    if tensor.dtype().is_float() {
        tensor.to_f64s().into_iter().map(Scalar::Real).collect()
    } else {
        tensor.to_i128s().into_iter().map(Scalar::Int).collect()
    }
}

/// The tensor of a type with these elements, which must be as many; numbers are converted to the dtype.
pub(super) fn tensor(ty: &Type, elements: &[Scalar]) -> Tensor {
    if ty.dtype.is_float() {
        Tensor::from_f64_fn(ty, |i| match elements[i] {
            Scalar::Real(v) => v,
            Scalar::Int(v) => v as f64,
        })
    } else {
        Tensor::from_i128_fn(ty, |i| match elements[i] {
            Scalar::Real(v) => v as i128,
            Scalar::Int(v) => v,
        })
    }
}

/// Which part of an axis is left when it is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// The first elements.
    First,
    /// The last ones.
    Last,
}

/// A part of a tensor; the shape is at most the tensor's on every axis.
pub(super) fn slice(from: &Tensor, shape: &[i64], part: Part) -> Tensor {
    let all = scalars(from);
    let (sizes, ty) = (from.shape(), Type::new(from.dtype(), shape));
    let wanted = ty.extents();
    let count: usize = wanted.iter().product();
    let mut taken = Vec::with_capacity(count);
    for i in 0..count {
        let (mut rest, mut at, mut stride) = (i, 0, 1);
        for (&size, &kept) in sizes.iter().zip(&wanted).rev() {
            let offset = if part == Part::Last { size - kept } else { 0 };
            at += (rest % kept + offset) * stride;
            rest /= kept;
            stride *= size;
        }
        taken.push(all[at]);
    }
    tensor(&ty, &taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_keep_the_asked_part() {
        let x = Tensor::from_i128_fn(&Type::new(DType::I8, [2, 3]), |i| i as i128);
        assert_eq!(slice(&x, &[1, 2], Part::First).to_i128s(), [0, 1]);
        assert_eq!(slice(&x, &[1, 2], Part::Last).to_i128s(), [4, 5]);
        assert_eq!(slice(&x, &[2, 1], Part::Last).to_i128s(), [2, 5]);
    }

    #[test]
    fn keys_tell_numbers_apart_and_nothing_else() {
        let real = |v| Scalar::Real(v).key();
        assert_eq!(real(1.0), Scalar::Int(1).key());
        assert_eq!(real(f64::NAN), real(f64::NAN));
        let all = [real(0.0), real(-0.0), real(0.5), real(-1.0), real(f64::INFINITY), real(f64::NAN)];
        assert!((0..all.len()).all(|i| !all[..i].contains(&all[i])), "{all:?}");
    }

    #[test]
    fn simple_numbers_have_few_bits() {
        let real = |v| Scalar::Real(v).bits();
        assert_eq!([real(0.0), real(1.0), real(-1.0), real(0.5), real(3.0), real(4.0)], [0, 1, 2, 2, 2, 3]);
        assert_eq!((Scalar::Int(-3).bits(), Scalar::Int(4).bits()), (real(-3.0), real(4.0)));
        assert!(Scalar::Real(0.123_456).shorter().bits() < real(0.123_456));
        assert!(real(f64::from_bits(1)) < real(0.123_456));
        assert_eq!(Scalar::Real(-2.7).coarser(), Scalar::Real(-2.0));
        assert_eq!(Scalar::Int(-17).coarser(), Scalar::Int(-4));
    }
}
