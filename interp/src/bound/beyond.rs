//! Numbers that overflow in some implementations, or in all.
//!
//! One that calculates in a wider format has a large number where another has an infinity. So of a result beyond the
//! largest finite number the sign is known, and a least magnitude ([`Open::Beyond`](super::ball::Open)). Steps on it
//! are steps on the interval from that to the infinity: a sum may lose some of it, a quotient by it is between 0 and
//! what the least gives, a root has a least magnitude again. Where an end is NaN (∞ − ∞, 0 · ∞), or both signs are
//! possible, nothing is known.

use ir::format::FloatFormat;
use ops::arith::Fun;

use super::ball::Ball;
use super::sums::Sum;
use super::{Bound, TWICE_ROUNDED, store};

impl Bound<'_> {
    /// The ball of a number that overflows, or may, in some implementations or in all.
    pub(super) fn overflown(&self, value: f64, error: f64) -> Ball {
        self.at_least(value, value.abs() - error)
    }

    /// The ball of a number of which the sign and a least magnitude are known, if the latter is one that nothing makes 0.
    fn at_least(&self, value: f64, least: f64) -> Ball {
        let is_determined = self.format.has_infinities() && !self.profile.nonfinite_is_indeterminate;
        // Where the reference itself overflows, the mathematical result is no infinity yet.
        let least = least.min(f64::MAX);
        // Both are false for NaN.
        let is_known = least >= self.format.min_normal() && value.abs() >= 0.0;
        if is_determined && is_known { Ball::beyond(value, least) } else { Ball::unknown(value) }
    }

    /// The ball of a number of which a least magnitude is known, as a format has it: an infinity, or the largest number where a
    /// conversion saturates.
    pub(super) fn beyond_in(&self, format: FloatFormat, value: f64, least: f64) -> Ball {
        let least = store::floor(format, least.min(format.max_finite()));
        Self { format, ..*self }.at_least(value, least)
    }

    /// The ball of a result between two numbers, which may be infinite. The result is rounded with `ulps`
    /// ULP.
    pub(super) fn between(&self, value: f64, (low, high): (f64, f64), ulps: f64) -> Ball {
        let least = if low > 0.0 { low } else { -high };
        if low.is_nan() || high.is_nan() {
            Ball::unknown(value)
        } else if low.is_finite() && high.is_finite() && value.is_finite() {
            self.rounded(value, (high - value).max(value - low).max(0.0), ulps)
        } else if low == high {
            self.nonfinite(low)
        } else if least > 0.0 && value.is_sign_positive() == (low > 0.0) {
            let local = ulps * TWICE_ROUNDED * self.format.ulp(least) + least * f64::EPSILON;
            self.at_least(value, least - local)
        } else {
            Ball::unknown(value)
        }
    }

    /// A step of a monotone function in each of two numbers, one of which at least has no bound.
    pub(super) fn open_step(
        &self,
        (x, y): (Ball, Ball),
        value: f64,
        f: impl Fn(f64, f64) -> f64,
        ulps: f64,
    ) -> Ball {
        let (Some(x), Some(y)) = (x.ends(), y.ends()) else { return Ball::unknown(value) };
        let corners = [f(x.0, y.0), f(x.0, y.1), f(x.1, y.0), f(x.1, y.1)];
        self.between(value, hull(&corners), ulps)
    }

    /// A rising step function of a number without a bound.
    pub(super) fn open_rise(&self, x: Ball, value: f64, f: impl Fn(f64) -> f64) -> Ball {
        let Some((low, high)) = x.ends() else { return Ball::unknown(value) };
        let (low, high) = (f(low), f(high));
        if low == high { self.determined(value) } else { self.between(value, (low, high), 0.0) }
    }

    /// A library function of a number without a bound. It is monotone up to an infinity, and what is granted for its
    /// error grows less than it: so it is between what it is at the ends.
    pub(super) fn open_function(&self, f: Fun, x: Ball, value: f64) -> Ball {
        let at = |x: f64| self.function(f, Ball::exact(x)).ends();
        let ends = x.ends().and_then(|(low, high)| Some((at(low)?, at(high)?)));
        match (f, ends) {
            (Fun::Sin | Fun::Cos | Fun::Tan, _) | (_, None) => Ball::unknown(value),
            (_, Some((a, b))) => self.between(value, hull(&[a.0, a.1, b.0, b.1]), 0.0),
        }
    }

    /// A ball about the number of one reading that holds another's too.
    pub(super) fn reading(&self, x: Ball, other: Ball) -> Ball {
        if x.may_be_nan() || other.may_be_nan() {
            return self.nan_or_either(x, other);
        }
        if !x.is_beyond() && !other.is_beyond() {
            return x.or(other);
        }
        let (Some(a), Some(b)) = (x.ends(), other.ends()) else { return Ball::unknown(x.value) };
        self.between(x.value, hull(&[a.0, a.1, b.0, b.1]), 0.0)
    }

    /// The ball of a sum that overflows in some order or in some format, of terms that are no NaN.
    pub(super) fn overflowing_sum(&self, sum: &Sum, value: f64, growth: f64) -> Ball {
        let side = usize::from(value.is_sign_negative());
        let other = 1 - side;
        if sum.beyond[other] > 0.0 || !self.is_unopposed(sum.finite[other]) {
            return Ball::unknown(value);
        }
        if sum.infinite != 0.0 {
            let is_all = sum.infinite == value && sum.is_bounded();
            return if is_all { self.nonfinite(value) } else { Ball::unknown(value) };
        }
        match sum.beyond[side] {
            0.0 => self.overflown(value, sum.carried + growth * sum.size),
            _ if !sum.is_bounded() => Ball::unknown(value),
            beyond => self.at_least(value, beyond - sum.finite[other] - growth * beyond),
        }
    }

    /// Whether the terms of a sum of one sign, whose magnitudes come to this, are too few to overflow as those of the other do.
    pub(super) fn is_unopposed(&self, magnitudes: f64) -> bool {
        // Far enough from the largest for any rounding; false for NaN.
        magnitudes <= self.format.max_finite() / 2.0
    }
}

/// The least and the greatest of some numbers; NaN if one of them is.
fn hull(numbers: &[f64]) -> (f64, f64) {
    let of = |start: f64, f: fn(f64, f64) -> f64| {
        numbers.iter().fold(start, |a, &b| if a.is_nan() || b.is_nan() { f64::NAN } else { f(a, b) })
    };
    (of(f64::INFINITY, f64::min), of(f64::NEG_INFINITY, f64::max))
}
