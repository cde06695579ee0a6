//! The steps of [`Spread`], all but the long ones.
//!
//! Each is the step of bounds on the values alone, with what the errors of the operands become beside it. Where an interval
//! decides (a step function, a comparison, a maximum), it is the step of bounds altogether.

use ir::DType;
use ops::arith::{Arith, Fun};

use super::{Spread, bare, together};
use crate::bound::{Ball, Image, State, Whole, image, power_range};

impl Spread<'_> {
    pub(crate) fn within(&self, dtype: DType) -> Self {
        Self::new(self.tier, dtype)
    }
    pub(crate) fn within_or(&self, dtype: DType, narrower: DType) -> Self {
        self.within(if self.tier.profile.narrows_positions { narrower } else { dtype })
    }
    pub(crate) fn round(&self, x: Ball) -> Ball {
        self.rounded(self.bound.narrowed(bare(x)), x.error)
    }
    pub(crate) fn real(&self, v: f64) -> Ball {
        self.rounded(self.bound.real(v), 0.0)
    }

    pub(crate) fn add(&self, x: Ball, y: Ball) -> Ball {
        // Terms of one sign may have a relative error in common: that of a factor.
        let common = x.error.copysign(x.value) + y.error.copysign(y.value);
        let carried = together([x.error, y.error]).max(common.abs());
        self.rounded(self.bound.add(bare(x), bare(y)), carried)
    }
    pub(crate) fn sub(&self, x: Ball, y: Ball) -> Ball {
        self.add(x, Ball { value: -y.value, ..y })
    }
    pub(crate) fn mul(&self, x: Ball, y: Ball) -> Ball {
        // Not by squares: factors are often one number, or have one in common.
        let carried = x.value.abs() * y.error + y.value.abs() * x.error + x.error * y.error;
        self.rounded(self.bound.mul(bare(x), bare(y)), carried)
    }
    pub(crate) fn div(&self, x: Ball, y: Ball) -> Ball {
        if y.has_zero() || !x.is_known() || !y.is_known() {
            return self.bound.div(x, y);
        }
        let quotient = self.bound.div(bare(x), bare(y));
        self.rounded(quotient, together([x.error, quotient.value * y.error]) / (y.value.abs() - y.error))
    }
    pub(crate) fn call(&self, f: Fun, x: Ball) -> Ball {
        let step = self.bound.call(f, bare(x));
        if x.is_exact() || x.is_zero() || !x.is_known() {
            return self.approximated(step, 0.0);
        }
        match image(f, x) {
            Image::Within(_, carried) => self.approximated(step, carried),
            Image::Nowhere | Image::Unbounded => Ball::unknown(step.value),
        }
    }
    pub(crate) fn pow(&self, x: Ball, y: Ball) -> Ball {
        let step = self.bound.pow(bare(x), bare(y));
        let is_exact = |x: Ball| x.is_exact() || x.is_zero() || !x.is_known();
        if is_exact(x) && is_exact(y) {
            return self.approximated(step, 0.0);
        }
        match power_range(x, y, step.value) {
            Some((low, high)) => self.approximated(step, (high - step.value).max(step.value - low)),
            None => Ball::unknown(step.value),
        }
    }
    pub(crate) fn convert(&self, z: Whole) -> Ball {
        let exact = Whole { state: State::Sure, ..z };
        match z.state {
            State::Within { .. } => self.rounded(self.bound.convert(exact), z.error()),
            State::Sure | State::Overflown | State::Unsure | State::Undefined => {
                self.rounded(self.bound.convert(z), 0.0)
            }
        }
    }
}
