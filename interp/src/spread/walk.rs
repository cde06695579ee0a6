//! How far a long sum wanders.
//!
//! Each addition rounds the sum so far, s, to the accumulator's format: it is off by anything up to u·|s|, as likely in one
//! direction as in the other, so that the variance of all is u²/3·Σs². Of n terms xᵢ in a random order, with v = Σxᵢ and
//! Q = Σxᵢ², the sum of the first k is (k/n)·v on average and varies by (k/n)(1−k/n)·Q; so Σs² is n·(v²/3 + Q/6). A product
//! that is rounded before it is added adds its own xᵢ² to Q, and a factor that is folded into the terms (into weights, say) twice
//! that. An implementation that sums in blocks or by pairs wanders less far.
//!
//! That the roundings have no direction is not so where terms are all alike, or so small beside the sum that they get lost
//! in it (stagnation), as soon happens to sums of halves in halves. So a single sum is also made as a loop makes it
//! ([`Loop`]), and what comes out is within the spread.

use ir::format::FloatFormat;
use ir::round::round_to_format;

use super::{OF_ROUNDING, together};
use crate::bound::{Ball, Terms};

/// What the spread of a sum needs to know of its terms.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Walk {
    pub(super) terms: u32,
    /// Σx²
    pub(super) squares: f64,
    /// What the terms' errors become where they are independent: Σe².
    pub(super) variance: f64,
    /// And where they are the same share of each term, as that of a factor is: Σ±e, each with the sign of its term.
    pub(super) common: f64,
}

impl Walk {
    /// One more term, with its error.
    pub(super) fn push(&mut self, x: f64, error: f64) {
        self.terms += 1;
        self.squares += x * x;
        self.variance += error * error;
        self.common += error.copysign(x);
    }

    /// What the errors of the terms become.
    pub(super) fn carried(&self) -> f64 {
        self.variance.sqrt().max(self.common.abs())
    }

    /// How far roundings to a format make the sum `value` wander; `least` is the error of a term that is denormal.
    pub(super) fn wandered(&self, format: FloatFormat, value: f64, least: f64) -> f64 {
        if self.terms <= 1 {
            return 0.0;
        }
        let (terms, unit) = (f64::from(self.terms), format.epsilon() / 2.0);
        let partial_sums = terms * (value * value / 3.0 + self.squares / 6.0);
        OF_ROUNDING * together([unit * (partial_sums + 3.0 * self.squares).sqrt(), terms.sqrt() * least])
    }

    /// An exact sum, with [`Terms`] set so that a factor or addend folded in later is charged the random-walk
    /// rounding.
    pub(super) fn remembered(&self, sum: Ball) -> Ball {
        if !sum.terms().is_sum() {
            return sum;
        }
        let size = self.squares.sqrt().max(sum.value.abs());
        let roundings = f64::from(self.terms).sqrt().ceil() as u32;
        sum.with_terms(Terms { size, roundings, ..Terms::NONE })
    }
}

/// A sum as a loop over its terms makes it, each step rounded to a format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    format: FloatFormat,
    sum: f64,
}

impl Loop {
    /// No terms yet.
    pub(super) fn new(format: FloatFormat) -> Self {
        Self { format, sum: 0.0 }
    }

    /// One more term.
    pub(super) fn push(&mut self, x: f64) {
        let sum = self.sum + x;
        self.sum = match self.format {
            FloatFormat::F64 => sum,
            FloatFormat::F32 => f64::from(sum as f32),
            narrow => round_to_format(narrow, sum),
        };
    }

    /// How far that is from the sum. An accumulator that overflows is not what a good implementation has.
    pub(super) fn bias(&self, value: f64) -> f64 {
        let bias = (self.sum - value).abs();
        if bias.is_finite() { bias } else { 0.0 }
    }
}
