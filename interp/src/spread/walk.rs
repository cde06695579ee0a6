//! How far a long sum wanders.
//!
//! Each addition rounds the sum so far, s, to the accumulator's format: it is off by anything up to u·|s|, as likely in one
//! direction as in the other, so that the variance of all is u²/3·Σs². Of n terms xᵢ in a random order, with v = Σxᵢ and
//! Q = Σxᵢ², the sum of the first k is (k/n)·v on average and varies by (k/n)(1−k/n)·Q; so Σs² is n·(v²/3 + Q/6). A product
//! that is rounded before it is added adds its own xᵢ² to Q, and a factor that is folded into the terms (into weights, say) twice
//! that. An implementation that sums in blocks or by pairs wanders less far.
//!
//! That the roundings have no direction is not so where terms are all alike, or so small beside the sum that they get lost
//! in it (stagnation), as soon happens to sums of halves in halves. So the sum is also made as a loop makes it, every step rounded
//! to the accumulator's format, and what comes out is within the spread.

use ir::format::FloatFormat;
use ir::round::round_to_format;

use super::OF_ROUNDING;
use crate::bound::{Ball, Terms};

/// A sum under way, as its spread sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    pub(super) terms: u32,
    /// Σx²
    pub(super) squares: f64,
    /// What the terms' errors become where they are independent: Σe².
    pub(super) variance: f64,
    /// And where they are the same share of each term, as that of a factor is: Σ±e, each with the sign of its term.
    pub(super) common: f64,
    /// The sum as a loop makes it, without the terms' errors.
    looped: f64,
    format: FloatFormat,
}

impl Walk {
    /// No terms yet; the sum is made in this format.
    pub(super) fn new(format: FloatFormat) -> Self {
        Self { terms: 0, squares: 0.0, variance: 0.0, common: 0.0, looped: 0.0, format }
    }

    /// One more term, with its error.
    pub(super) fn push(&mut self, x: f64, error: f64) {
        self.terms += 1;
        self.squares += x * x;
        self.variance += error * error;
        self.common += error.copysign(x);
        self.looped = rounded(self.format, self.looped + x);
    }

    /// What the errors of the terms become.
    pub(super) fn carried(&self) -> f64 {
        self.variance.sqrt().max(self.common.abs())
    }

    /// How far the sum `value` is from what a loop makes of its terms.
    pub(super) fn bias(&self, value: f64) -> f64 {
        let bias = (self.looped - value).abs();
        // An accumulator that overflows is not what a good implementation has.
        if bias.is_finite() { bias } else { 0.0 }
    }

    /// How far the roundings make the sum `value` wander; `least` is the error of a term that is denormal.
    pub(super) fn wandered(&self, value: f64, least: f64) -> f64 {
        wandered(self.format, f64::from(self.terms), self.squares, value, least)
    }

    /// A sum whose additions are exact in any case, as one that a factor or an addend may be folded into: what the bounds' steps
    /// then take from [`Terms`] is what the roundings would have been.
    pub(super) fn remembered(&self, sum: Ball) -> Ball {
        remembered(f64::from(self.terms), self.squares, sum)
    }
}

/// A number as an accumulator of a format has it.
fn rounded(format: FloatFormat, x: f64) -> f64 {
    match format {
        FloatFormat::F64 => x,
        FloatFormat::F32 => f64::from(x as f32),
        narrow => round_to_format(narrow, x),
    }
}

/// How far roundings to a format make a sum of so many terms wander.
pub(super) fn wandered(format: FloatFormat, terms: f64, squares: f64, value: f64, least: f64) -> f64 {
    if terms <= 1.0 {
        return 0.0;
    }
    let unit = format.epsilon() / 2.0;
    let partial_sums = terms * (value * value / 3.0 + squares / 6.0);
    OF_ROUNDING * (unit * (partial_sums + 3.0 * squares).sqrt()).hypot(terms.sqrt() * least)
}

/// An exact sum with its terms, if it has been told any.
pub(super) fn remembered(terms: f64, squares: f64, sum: Ball) -> Ball {
    if !sum.terms.is_sum() {
        return sum;
    }
    let size = squares.sqrt().max(sum.value.abs());
    Ball { terms: Terms { size, roundings: terms.sqrt().ceil() as u32, grain: i16::MIN }, ..sum }
}
