//! Elements of tensors, and how far they are from each other.

use interp::Acceptance;
use ir::format::FloatFormat;
use ir::{DType, Tensor};

use crate::numbers;

/// An element of a tensor.
#[derive(Clone, Copy, Debug)]
pub enum Element {
    /// A float.
    Real(f64),
    /// An integer or truth value.
    Whole(i128),
}

/// The elements of a tensor, in row-major order.
pub fn elements(tensor: &Tensor) -> Vec<Element> {
    if tensor.dtype().is_float() {
        tensor.to_f64s().into_iter().map(Element::Real).collect()
    } else {
        tensor.to_i128s().into_iter().map(Element::Whole).collect()
    }
}

impl Element {
    /// Whether both are the same; NaNs are, and zeros of both signs.
    pub fn equals(self, other: Self) -> bool {
        match (self, other) {
            (Self::Real(value), Self::Real(b)) => {
                Acceptance { value, error: 0.0, zero_sign: false }.accepts(b)
            }
            (Self::Whole(a), Self::Whole(b)) => a == b,
            (Self::Real(_), Self::Whole(_)) | (Self::Whole(_), Self::Real(_)) => false,
        }
    }

    /// As text, in as few digits as tell it from others of its dtype.
    pub fn text(self, dtype: DType) -> String {
        match self {
            Self::Real(v) => numbers::text(dtype, v),
            Self::Whole(v) => v.to_string(),
        }
    }
}

/// How far two elements are from each other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Distance {
    /// The distance in ULP of the expected number; for integers, the difference.
    Ulp(f64),
    /// One of them is a zero in place of a denormal number.
    Flushed,
    /// One of them is infinite or NaN, and not the other, or another.
    NonFinite,
}

impl Distance {
    /// How far two elements of a dtype are from each other, where another is expected.
    pub fn between(dtype: DType, expected: Element, one: Element, other: Element) -> Self {
        match (expected, one, other) {
            _ if one.equals(other) => Self::Ulp(0.0),
            (Element::Real(expected), Element::Real(a), Element::Real(b)) => match dtype.float() {
                Some(format) if a.is_finite() && b.is_finite() => of_numbers(format, expected, a, b),
                _ => Self::NonFinite,
            },
            (Element::Whole(_), Element::Whole(a), Element::Whole(b)) => Self::Ulp((a - b).abs() as f64),
            // Tensors of one type have elements of one kind.
            _ => Self::NonFinite,
        }
    }

    /// In ULP, where both are numbers.
    pub fn ulp(self) -> Option<f64> {
        match self {
            Self::Ulp(ulp) => Some(ulp),
            Self::Flushed => Some(0.0),
            Self::NonFinite => None,
        }
    }
}

fn of_numbers(format: FloatFormat, expected: f64, a: f64, b: f64) -> Distance {
    let is_denormal = |v: f64| v != 0.0 && v.abs() < format.min_normal();
    if (a == 0.0 && is_denormal(b)) || (b == 0.0 && is_denormal(a)) {
        return Distance::Flushed;
    }
    let near = if expected.is_finite() { expected } else { a };
    // Of doubles, it may be more than there are numbers for.
    Distance::Ulp(((a - b).abs() / format.ulp(near)).min(f64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(expected: f64, a: f64, b: f64) -> Distance {
        Distance::between(DType::F32, Element::Real(expected), Element::Real(a), Element::Real(b))
    }

    #[test]
    fn distances_are_in_ulp_of_what_is_expected() {
        let next = f64::from(2.0f32.next_up());
        assert_eq!(between(2.0, 2.0, next), Distance::Ulp(1.0));
        assert_eq!(between(4.0, 2.0, next), Distance::Ulp(0.5));
        assert_eq!(between(0.0, 0.0, -0.0), Distance::Ulp(0.0));
        let whole = |v| Element::Whole(v);
        assert_eq!(Distance::between(DType::I8, whole(1), whole(1), whole(-2)), Distance::Ulp(3.0));
    }

    #[test]
    fn what_is_no_number_has_no_distance_and_a_flushed_denormal_none_that_counts() {
        assert_eq!(between(1.0, 1.0, f64::NAN), Distance::NonFinite);
        assert_eq!(between(f64::INFINITY, f64::INFINITY, 3e38), Distance::NonFinite);
        assert_eq!(between(f64::NAN, f64::NAN, -f64::NAN), Distance::Ulp(0.0));
        assert_eq!(between(1e-40, 1e-40, 0.0), Distance::Flushed);
        assert_eq!(Distance::Flushed.ulp(), Some(0.0));
        let huge =
            Distance::between(DType::F64, Element::Real(0.0), Element::Real(0.0), Element::Real(1e308));
        assert_eq!(huge, Distance::Ulp(f64::MAX));
    }
}
