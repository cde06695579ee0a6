//! Folding a later factor or addend into the terms of a sum.
//!
//! Optimisers move constants across operators: a scale goes into a convolution's weights, an addend into its
//! accumulator. Unfused, the sum Σ xᵢwᵢ is rounded and then scaled, so what the scale adds is relative to the sum. Folded,
//! each of the weights is rounded again, and what that adds is relative to Σ |xᵢwᵢ|, which cancellation may leave far
//! above the sum. So a sum remembers that magnitude ([`Terms`]), and later steps add what folding them would.
//!
//! A product alone is such a sum too: an FMA adds to it before it is rounded, and factors may be multiplied in another
//! order. So is a sum of a number and a constant: (x + a)·b is made x·b + a·b.
//!
//! A factor that all terms of a later sum of products have, because one operand was multiplied by it before, may be moved the other
//! way, behind that sum. So a product remembers that it is one, too ([`Scaled`]).
//!
//! For one factor that is two roundings of each term (the factor's own and the weight's); for an addend one more
//! partial sum. Where the sum itself was exact the folded terms may make all of its additions round.

use super::ball::{Ball, Scaled, Terms};
use super::{Bound, TWICE_ROUNDED, sums};

/// The roundings that a folded factor costs each term: its own and that of the term.
const BY_FACTOR: u32 = 2;

/// What the terms of the other sign come to at most, of so many whose magnitudes come to `size`.
pub(super) fn opposed(sum: f64, size: f64, terms: u32) -> f64 {
    // The sums of all terms and of their magnitudes are rounded as often, which may hide what they differ by.
    let hidden = f64::from(terms) * f64::EPSILON * size;
    (size - sum.abs()) / 2.0 + hidden
}

impl Bound<'_> {
    /// The ball of x·y, with y folded into the terms of x or the other way round.
    pub(super) fn scaled(&self, x: Ball, y: Ball, product: Ball) -> Ball {
        if !x.terms().is_sum() && !y.terms().is_sum() {
            return self.alone(x, y, product);
        }
        let (sum, factor) = if x.terms().is_sum() { (x, y) } else { (y, x) };
        let size = sum.terms().size * (factor.value.abs() + factor.error);
        let grain = if factor.is_exact() {
            sum.terms().grain.saturating_add(sums::grain(factor.value))
        } else {
            i16::MIN
        };
        let scaled = self.scaling(product, size, grain);
        let terms = Terms { size, grain, roundings: sum.terms().roundings + BY_FACTOR, scaled };
        self.folded(sum, self.unless_terms_overflow(product, size), terms, BY_FACTOR, 0.0)
    }

    /// The product x·y as a sum of one term, which a later addition may take without the rounding between (an FMA).
    fn alone(&self, x: Ball, y: Ball, product: Ball) -> Ball {
        if !self.profile.folds || !product.is_known() || !product.value.is_finite() || product.value == 0.0 {
            return product;
        }
        let are_exact = x.is_exact() && y.is_exact();
        let grain =
            if are_exact { sums::grain(x.value).saturating_add(sums::grain(y.value)) } else { i16::MIN };
        let size = product.value.abs() + product.error;
        let terms = Terms { size, roundings: 1, grain, scaled: self.scaling(product, size, grain) };
        product.with_terms(terms)
    }

    /// The sum of x and y, or their difference, as one of two terms: where one is a constant, a later factor may be multiplied into both.
    pub(super) fn of_two(&self, [x, y]: [Ball; 2], total: Ball) -> Ball {
        let is_sum = x.terms().is_sum() || y.terms().is_sum();
        // Of two constants the sum is one as well, computed before.
        let may_fold = self.profile.folds && x.is_constant() != y.is_constant();
        if !may_fold || is_sum || !total.is_known() || !total.value.is_finite() {
            return total;
        }
        let are_exact = x.is_exact() && y.is_exact();
        let grain = if are_exact { sums::grain(x.value).min(sums::grain(y.value)) } else { i16::MIN };
        let size = x.reach() + y.reach();
        total.with_terms(Terms { size, roundings: 1, grain, scaled: Scaled::No })
    }

    /// What a product of this size and grain is for later sums.
    fn scaling(&self, product: Ball, size: f64, grain: i16) -> Scaled {
        let has = product.is_exact() && self.is_grid(size, grain.into());
        if has { Scaled::Exactly } else { Scaled::Rounded }
    }

    /// The ball of x/y, with 1/y folded into the terms of x.
    pub(super) fn divided(&self, x: Ball, y: Ball, quotient: Ball) -> Ball {
        if !x.terms().is_sum() {
            return quotient;
        }
        let size = x.terms().size / (y.value.abs() - y.error);
        // The reciprocal is one rounding more, but of a power of two.
        let (more, grain, scaled) = if y.is_exact() && self.is_scale(y.value) {
            let grain = x.terms().grain.saturating_sub(sums::grain(y.value));
            (BY_FACTOR, grain, self.scaling(quotient, size, grain))
        } else {
            (BY_FACTOR + 1, i16::MIN, Scaled::Rounded)
        };
        let terms = Terms { size, grain, roundings: x.terms().roundings + more, scaled };
        self.folded(x, self.unless_terms_overflow(quotient, size), terms, more, 0.0)
    }

    /// A finite number, unless terms whose magnitudes come to `size` are among it of which those of one sign alone overflow.
    fn unless_terms_overflow(&self, step: Ball, size: f64) -> Ball {
        let of_one_sign = f64::midpoint(size, step.value.abs());
        let is_finite = step.is_known() && step.value.is_finite();
        if is_finite && of_one_sign > self.format.max_finite() { Ball::unknown(step.value) } else { step }
    }

    /// The ball of x+y, with y as a first term of x or the other way round.
    pub(super) fn joined(&self, x: Ball, y: Ball, total: Ball) -> Ball {
        if !x.terms().is_sum() && !y.terms().is_sum() {
            return total;
        }
        let (sum, addend) = if x.terms().is_sum() { (x, y) } else { (y, x) };
        let more = addend.value.abs() + addend.error;
        let grain =
            if addend.is_exact() { sum.terms().grain.min(sums::grain(addend.value)) } else { i16::MIN };
        let (size, roundings) = (sum.terms().size + more, sum.terms().roundings + 1);
        let terms = Terms { size, grain, roundings, scaled: Scaled::No };
        self.folded(sum, total, terms, 1, more)
    }

    /// The ball of a step on a sum, which may be folded into its terms: `roundings` more for each of them, and all of the
    /// sum's for an addend of size `new`.
    pub(super) fn folded(&self, sum: Ball, step: Ball, terms: Terms, roundings: u32, new: f64) -> Ball {
        if step.is_beyond() {
            return self.unopposed(step, opposed(step.value, terms.size, terms.roundings));
        }
        if !step.is_known() || !step.value.is_finite() {
            return step;
        }
        if step.is_exact() && self.is_grid(terms.size, terms.grain.into()) {
            return step.with_terms(terms);
        }
        let extra = if sum.is_exact() {
            self.growth(terms.roundings) * terms.size
        } else {
            let before = self.growth(terms.roundings);
            self.growth(roundings) * (1.0 + before) * terms.size + before * new
        };
        if extra == 0.0 {
            return step.with_terms(terms);
        }
        let widened = self.widened(step.value, step.error, extra * TWICE_ROUNDED).with_terms(terms);
        let opposed = || opposed(step.value, terms.size, terms.roundings);
        if widened.is_beyond() { self.unopposed(widened, opposed()) } else { widened }
    }

    /// A sum that overflows: what is known of it where the terms of the other sign, which come to `opposed`, are too
    /// few to overflow as well.
    pub(super) fn unopposed(&self, sum: Ball, opposed: f64) -> Ball {
        if self.is_unopposed(opposed) { sum } else { sum.without_limits() }
    }
}
