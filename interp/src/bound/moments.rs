//! Mean and variance of a lane, by any of the usual algorithms.

use ir::format::FloatFormat;
use ops::Arith;

use super::Bound;
use super::ball::{Ball, Terms};
use super::sums::{Sum, low_bit};

impl Bound<'_> {
    /// How often a term of a lane's sum is rounded on its way. In k partial sums of up to ⌊n/k⌋ terms, which are then
    /// added to the up to k−1 terms that are left over, one goes through no more than ⌊n/k⌋ + 2k−2 additions.
    fn summing(&self, terms: u32) -> u32 {
        let parts = self.profile.partial_sums;
        terms.saturating_sub(1).min(terms / parts + 2 * parts - 2)
    }

    /// How often a term is rounded on its way into a mean: added up and divided once, or corrected by a second pass, whose terms are
    /// what the first one left. A running mean rounds a difference, a quotient and a sum for each term, but what it rounds at the k-th
    /// counts only k/n: n − 1 + 2·(1 + ½ + … + 1/(n−1)) roundings in all, with quotients rounded to nearest.
    fn averaging(&self, terms: u32) -> u32 {
        let at_once = self.summing(terms) + 5;
        if !self.profile.running_variance || terms < 2 {
            return at_once;
        }
        let others = f64::from(terms - 1);
        // Above the harmonic number (Euler's constant is 0.57721…).
        let harmonic = libm::log(others) + 0.5773 + 0.5 / others;
        at_once.max((others + 2.0 * harmonic).ceil() as u32)
    }

    /// The mean of `count` terms. It is not exact because their sum is.
    pub(super) fn long_mean(&self, terms: impl Iterator<Item = Ball>, count: usize) -> Ball {
        let mut sum = Sum::new();
        terms.for_each(|x| sum.take(self.operand(x), self));
        // All of them 0 (or alone) leaves nothing to round.
        let total = if sum.terms <= 1 || sum.size == 0.0 {
            self.finish(&sum, 0)
        } else {
            sum.grain = i32::MIN / 2;
            self.finish(&sum, self.averaging(sum.terms))
        };
        // A running mean subtracts an infinity from itself, or numbers of either sign that are as large as any.
        let is_open = total.value.is_infinite() || total.is_beyond();
        let total = if is_open && !sum.is_of_one_sign() { Ball::unknown(total.value) } else { total };
        self.div(total, Ball::exact(count as f64))
    }

    /// The variance of a lane about its mean, by any algorithm that the profile has.
    pub(super) fn lane_variance(&self, lane: &[Ball], mean: Ball) -> Ball {
        let centred = self.centred_variance(lane, mean);
        // Nobody squares halves in halves: their range does not even hold the squares.
        let is_half = self.format.precision() < FloatFormat::F32.precision();
        if self.profile.one_pass_variance && !is_half {
            self.either(centred, || self.one_pass_variance(lane, mean))
        } else {
            centred
        }
    }

    /// The mean of the squares less the square of the mean, which is off by what each of them is: relative to the
    /// squares, however little is left of them.
    fn one_pass_variance(&self, lane: &[Ball], mean: Ball) -> Ball {
        let squares = self.long_dot(lane.iter().map(|&x| (x, x)));
        self.sub(self.div(squares, Ball::exact(lane.len() as f64)), self.mul(mean, mean))
    }

    /// The variance as the mean of the squares of the differences from the mean.
    ///
    /// In two passes, an error of the mean moves every element alike, and the squares notice only its square: Σ(xᵢ−m−μ)² is
    /// Σ(xᵢ−m)² + n·μ², as Σ(xᵢ−m) is 0. The same sum makes a common part of the elements' own errors harmless, so
    /// that Σ2|dᵢ|eᵢ + eᵢ² covers these (dᵢ being xᵢ−m), and the rounding rᵢ of each difference adds
    /// 2rᵢ·(|dᵢ|+eᵢ+μ) + rᵢ². In a running variance (Welford) these errors do not cancel.
    fn centred_variance(&self, lane: &[Ball], mean: Ball) -> Ball {
        let mut sum = Sum::new();
        for &x in lane {
            let x = self.operand(x);
            let d = self.sub(x, mean);
            let (size, carried, shift) = (d.value.abs(), x.error, mean.error);
            let rounding = (d.error - carried - shift).max(0.0);
            let of_difference = rounding * (2.0 * (size + carried + shift) + rounding);
            let error = if self.profile.running_variance {
                d.error * (2.0 * size + d.error)
            } else {
                carried * (2.0 * size + carried) + shift * shift + of_difference
            };
            let square = d.value * d.value;
            sum.nan |= d.is_nan();
            sum.undefined |= d.is_undefined();
            // The square, or that of a large error, is beyond f64, or the error unknown.
            let error = if error.is_nan() || square.is_infinite() { f64::INFINITY } else { error };
            if square < self.format.min_normal() && d.value != 0.0 {
                sum.tiny += 1;
            }
            let grain = if d.is_exact() { 2 * low_bit(d.value) } else { i32::MIN / 2 };
            sum.push(square, d.value.mul_add(d.value, -square), error, grain);
        }
        let total = self.finish(&sum, self.summing(sum.terms) + 1);
        self.div(total, Ball::exact(lane.len() as f64))
    }

    /// The ball of x·slope + (offset − centre·slope), whose terms `dot` adds up. An implementation has one slope in
    /// both places: so what that may be off by weighs no more than x is from the centre, and only the roundings are
    /// relative to both products.
    pub(crate) fn affine_by(
        &self,
        dot: impl Fn(std::array::IntoIter<(Ball, Ball), 3>) -> Ball,
        x: Ball,
        centre: Ball,
        slope: Ball,
        offset: Ball,
    ) -> Ball {
        let with = |slope| {
            let against = Ball { value: -centre.value, ..centre };
            dot([(x, slope), (against, slope), (offset, Ball::exact(1.0))].into_iter())
        };
        let size = (x.reach() + centre.reach()) * slope.reach() + offset.reach();
        // False for NaN.
        let is_finite = size < self.format.max_finite();
        if slope.is_exact() || slope.value == 0.0 || !is_finite {
            return with(slope);
        }
        // As good as exact and not exact: the slope of another implementation has other digits, and its products are
        // rounded where those of this one may happen not to be.
        let steps = with(Ball { error: f64::MIN_POSITIVE, ..slope });
        let grown = slope.reach() / slope.value.abs();
        let apart = (x.value - centre.value).abs() + x.error + centre.error;
        let terms = steps.terms();
        self.widened(steps.value, steps.error * grown + apart * slope.error, 0.0)
            .with_terms(Terms { size: terms.size * grown, ..terms })
    }
}
