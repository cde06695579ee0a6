//! Comparison with a fixed tolerance, for cases that come with outputs but without bounds.

use ir::Tensor;

use crate::signature::{ErrorShape, Symptom};

/// A relative and an absolute tolerance: |actual − expected| ≤ absolute + relative·|expected|.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Relative to the expected value.
    pub relative: f64,
    /// In the value's own unit.
    pub absolute: f64,
}

impl Tolerance {
    /// What ONNX's backend tests use for every dtype.
    pub const ONNX: Self = Self { relative: 1e-3, absolute: 1e-7 };

    /// Compares two tensors. NaN equals NaN, infinities must be the same; integers and `bool` are exact.
    pub fn compare(self, expected: &Tensor, actual: &Tensor) -> Result<(), (Symptom, String)> {
        if expected.ty() != actual.ty() {
            return Err((Symptom::WrongType, format!("is {} instead of {}", actual.ty(), expected.ty())));
        }
        if !expected.dtype().is_float() {
            let pairs = expected.to_i128s().into_iter().zip(actual.to_i128s());
            return match pairs.enumerate().find(|(_, (e, a))| e != a) {
                Some((i, (e, a))) => {
                    Err((Symptom::Mismatch(ErrorShape::Gross), format!("element {i} is {a} instead of {e}")))
                }
                None => Ok(()),
            };
        }
        let pairs = expected.to_f64s().into_iter().zip(actual.to_f64s());
        match pairs.enumerate().find(|(_, (e, a))| !self.close(*e, *a)) {
            Some((i, (e, a))) => Err((
                Symptom::Mismatch(ErrorShape::Gross),
                format!(
                    "element {i} is {a:?} instead of {e:?} (rtol {:e}, atol {:e})",
                    self.relative, self.absolute
                ),
            )),
            None => Ok(()),
        }
    }

    fn close(self, expected: f64, actual: f64) -> bool {
        if expected.is_nan() || actual.is_nan() {
            return expected.is_nan() && actual.is_nan();
        }
        // The first test also covers equal infinities, whose difference is NaN.
        expected == actual
            || (expected.is_finite()
                && (actual - expected).abs() <= self.absolute + self.relative * expected.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{DType, Type};

    fn close(e: f64, a: f64) -> bool {
        let t = |v| Tensor::from_f64_fn(&Type::new(DType::F64, []), |_| v);
        Tolerance::ONNX.compare(&t(e), &t(a)).is_ok()
    }

    #[test]
    fn special_values_equal_only_themselves() {
        assert!(close(f64::NAN, f64::NAN) && close(f64::INFINITY, f64::INFINITY) && close(0.0, -0.0));
        assert!(!close(f64::NAN, 0.0) && !close(1.0, f64::NAN) && !close(f64::INFINITY, f64::NEG_INFINITY));
        assert!(!close(f64::INFINITY, 1e300) && !close(1e300, f64::INFINITY));
        assert!(close(1.0, 1.0009) && !close(1.0, 1.002));
    }

    #[test]
    fn the_two_tolerances_add_up_and_one_is_relative_to_what_is_expected() {
        assert!(close(1e-4, 1.0015e-4) && !close(1e-4, 1.0025e-4));
        assert!(!close(1.0, 1.001_001) && close(1.001_001, 1.0));
    }
}
