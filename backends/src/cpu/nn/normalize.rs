//! What the normalisations share: a lane brought to mean 0 and variance 1, parameters of other dtypes.

use ir::DType;

use crate::cpu::call::Call;
use crate::cpu::element::Real;
use crate::cpu::error::CpuError;
use crate::cpu::lanes::sum_of;

/// The mean and the variance of a lane, and the inverse of its standard deviation with ε added to the variance.
#[derive(Clone, Copy)]
pub(super) struct Moments<R> {
    pub(super) mean: R,
    pub(super) variance: R,
    pub(super) inverse: R,
    /// What the mean lacks of the exact one: among elements that differ little it counts.
    correction: R,
}

impl<R: Real> Moments<R> {
    /// In two passes, so that a large mean does not swallow the variance.
    pub(super) fn of(lane: &[R], epsilon: f32) -> Self {
        let count = R::from_count(lane.len());
        let mean = sum_of(lane, |x| x).div(count);
        let correction = sum_of(lane, |x| x.sub(mean)).div(count);
        let squares = sum_of(lane, |x| {
            let centred = x.sub(mean).sub(correction);
            centred.mul(centred)
        });
        let variance = squares.div(count);
        let inverse = R::ONE.div(variance.add(R::from_attribute(epsilon)).sqrt());
        Self { mean, variance, inverse, correction }
    }

    /// An element of the lane, standardised.
    pub(super) fn standardize(&self, x: R) -> R {
        x.sub(self.mean).sub(self.correction).mul(self.inverse)
    }
}

/// The elements of a parameter, whatever float it is.
pub(super) fn parameter<R: Real>(c: &Call<'_>, i: usize) -> Result<Vec<R>, CpuError> {
    let x = c.tensor(i)?;
    match x.dtype() {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            Ok(x.to_f64s().into_iter().map(R::from_f64).collect())
        }
        found => Err(CpuError::DType { operand: i, found }),
    }
}
