//! The number system of bounds: value, error and decidability of every element.
//!
//! An operator read over [`Bound`] gives, for every element, an interval that holds the result of every
//! implementation that keeps the [`Profile`]: in whatever order it sums, fused or not, in the working dtype or a
//! wider one, rounding to the working dtype after each step or only at the end. `docs/numerics.md` derives the
//! formulas.

mod arith;
mod ball;
mod beyond;
mod determinant;
mod dots;
mod extremes;
mod fold;
mod functions;
mod moments;
mod products;
mod store;
mod sums;
mod transform;

use ir::DType;
use ir::format::FloatFormat;
use ir::round::round_to_format;

pub use ball::{Ball, Made, Open, State, Terms, Whole};
pub(crate) use dots::{Rows, by_panels};
pub(crate) use functions::{Image, image, power_range};
pub(crate) use transform::ROUNDINGS as TRANSFORMED_ROUNDINGS;

use crate::profile::Profile;

/// The format of nodes in which no float occurs; nothing is rounded there.
const NO_FLOAT: FloatFormat = FloatFormat::F64;

/// More than half an ULP of a narrow format by what a wider intermediate format adds to it: an implementation that
/// computes in a wider format rounds twice.
const TWICE_ROUNDED: f64 = 1.0 + 1.0 / 2048.0;

/// Covers the rounding of the error's own arithmetic.
const OWN_ROUNDING: f64 = 1.0 + 1.0 / (1u64 << 48) as f64;

/// The number system of bounds, for one node.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'p> {
    profile: &'p Profile,
    dtype: DType,
    format: FloatFormat,
    /// [`store::first_beyond`] of the format, which each step asks for.
    first_beyond: f64,
}

impl<'p> Bound<'p> {
    /// The system for a node that calculates in a dtype.
    pub fn new(profile: &'p Profile, dtype: DType) -> Self {
        let format = dtype.float().unwrap_or(NO_FLOAT);
        Self { profile, dtype, format, first_beyond: store::first_beyond(format) }
    }

    /// Whether the working dtype has the number and nothing may flush it.
    fn holds(&self, value: f64) -> bool {
        round_to_format(self.format, value) == value
            && !(self.profile.flush_to_zero && value != 0.0 && value.abs() < self.format.min_normal())
    }

    /// The ball of a result with the carried errors of its operands and a local one in ULP.
    fn rounded(&self, value: f64, carried: f64, ulps: f64) -> Ball {
        let ulp = self.format.ulp(value.abs() + carried);
        self.widened(value, carried, ulps * TWICE_ROUNDED * ulp)
    }

    /// The ball of a result with the carried errors of its operands and a local one. What overflows need not do so in a wider
    /// intermediate format.
    pub(crate) fn widened(&self, value: f64, carried: f64, local: f64) -> Ball {
        // The reference is itself off by up to one ULP of f64. Where a function is off by more,
        // `Bound::function` adds that.
        let own = value.abs() * f64::EPSILON + f64::from_bits(1);
        let error = self.flushed(value, (carried + local + own) * OWN_ROUNDING);
        // The comparison is false for NaN.
        if value.abs() + error < self.first_beyond {
            Ball::within(value, error)
        } else {
            self.overflown(value, error)
        }
    }

    /// An operand as a step sees it: a denormal may have become zero.
    fn operand(&self, x: Ball) -> Ball {
        Ball { error: self.flushed(x.value, x.error), ..x }
    }

    /// The error of a number that may have become zero where it is denormal: that moves it by less than the least normal
    /// number, and no farther than to 0. So a zero stays one, and what is positive does not become negative.
    fn flushed(&self, value: f64, error: f64) -> f64 {
        self.flushed_in(self.format, value, error)
    }

    /// [`flushed`](Self::flushed) of a number that is denormal in another format.
    fn flushed_in(&self, format: FloatFormat, value: f64, error: f64) -> f64 {
        let least = format.min_normal();
        if self.profile.flush_to_zero && value.abs() - error < least {
            (error + least).min(error.max(value.abs()))
        } else {
            error
        }
    }

    /// An infinity or NaN that IEEE 754 determines.
    fn nonfinite(&self, value: f64) -> Ball {
        if self.profile.nonfinite_is_indeterminate { Ball::unknown(value) } else { Ball::exact(value) }
    }

    /// A number that IEEE 754 determines, finite or not; where denormals are flushed, one that is denormal may have become zero.
    fn determined(&self, value: f64) -> Ball {
        if value.is_finite() { self.operand(Ball::exact(value)) } else { self.nonfinite(value) }
    }
}
