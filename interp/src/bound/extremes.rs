//! The larger and the smaller of numbers.
//!
//! Where the profile lets NaN lose, what it loses against is known: the result is NaN or one of the numbers. Of many, which are
//! compared in any order, it is any of them: what was larger so far is forgotten where it loses against a NaN that loses
//! in its turn.

use super::Bound;
use super::ball::Ball;

impl Bound<'_> {
    /// The extreme of two numbers by the function that tells it on plain ones.
    pub(super) fn extreme(&self, x: Ball, y: Ball, f: fn(f64, f64) -> f64) -> Ball {
        let (x, y) = (self.operand(x), self.operand(y));
        let value = f(x.value, y.value);
        if x.is_undefined() || y.is_undefined() {
            return Ball::undefined(value);
        }
        if x.may_be_nan() || y.may_be_nan() {
            return self.extreme_with_nan(x, y, f);
        }
        if !x.is_known() || !y.is_known() {
            return self.open_extreme(x, y, value, f);
        }
        if x.value == 0.0 && y.value == 0.0 && x.is_exact() && y.is_exact() {
            // No standard orders -0 and +0 here.
            let same = x.value.to_bits() == y.value.to_bits();
            return if same { x } else { Ball::either_zero() };
        }
        let (low, high) = self.or_either_denormal(x, y, f(x.low(), y.low()), f(x.high(), y.high()));
        // With denormals, the ends may be those of the one and the value that of the other.
        match [x, y].into_iter().find(|b| b.low() == low && b.high() == high && b.value == value) {
            // A zero may have another sign.
            Some(winner) => Ball { value, ..winner },
            None => Ball::within(value, (high - value).max(value - low)),
        }
    }

    /// Widens the ends of the extreme of two numbers, if both may be flushed to zero in the comparison: then
    /// they are equal, and either may be chosen and go on as it is.
    fn or_either_denormal(&self, x: Ball, y: Ball, low: f64, high: f64) -> (f64, f64) {
        if !(self.profile.flush_to_zero && x.has_zero() && y.has_zero()) {
            return (low, high);
        }
        let least = self.format.min_normal();
        (low.min(x.low().min(y.low()).max(-least)), high.max(x.high().max(y.high()).min(least)))
    }

    /// The extreme of two numbers, at least one of them without a bound. `f` is the extreme of plain numbers.
    fn open_extreme(&self, x: Ball, y: Ball, value: f64, f: fn(f64, f64) -> f64) -> Ball {
        let (Some(a), Some(b)) = (x.ends(), y.ends()) else { return Ball::unknown(value) };
        let ends = (f(a.0, b.0), f(a.1, b.1));
        let winner = [x, y].into_iter().find(|z| z.ends() == Some(ends) && z.value == value);
        winner.unwrap_or_else(|| self.between(value, ends, 0.0))
    }

    /// The extreme of two, of which one is or may be NaN.
    fn extreme_with_nan(&self, x: Ball, y: Ball, f: fn(f64, f64) -> f64) -> Ball {
        if !self.profile.nan_may_lose || x.is_nan() && y.is_nan() {
            return self.nonfinite(f64::NAN);
        }
        let (a, b) = (x.numbers(), y.numbers());
        if [(x, a), (y, b)].iter().any(|(ball, numbers)| numbers.is_none() && !ball.is_nan()) {
            return Ball::unknown(f64::NAN);
        }
        let both = a.zip(b).map(|(a, b)| (f(a.0, b.0), f(a.1, b.1)));
        let left = [both, a.filter(|_| y.may_be_nan()), b.filter(|_| x.may_be_nan())];
        self.nan_or(around(left.into_iter().flatten()))
    }

    /// The extreme of many numbers, compared in any order.
    pub(super) fn extreme_of(
        &self,
        first: Ball,
        others: impl Iterator<Item = Ball> + Clone,
        f: fn(f64, f64) -> f64,
    ) -> Ball {
        let extreme = others.clone().fold(first, |x, y| self.extreme(x, y, f));
        match extreme.numbers() {
            Some(_) if extreme.may_be_nan() => {
                let all = std::iter::once(first).chain(others);
                self.nan_or(around(all.filter_map(|x| self.operand(x).numbers())))
            }
            _ => extreme,
        }
    }

    /// What one of two has, each of them NaN or between numbers.
    pub(super) fn nan_or_either(&self, x: Ball, y: Ball) -> Ball {
        let is_open = |ball: &Ball| !ball.is_nan() && ball.numbers().is_none();
        let numbers = [x, y].into_iter().filter_map(Ball::numbers);
        match [x, y] {
            [x, y] if is_open(&x) || is_open(&y) => Ball::unknown(x.value),
            [x, y] if x.is_nan() && y.is_nan() => x,
            // A ball of NaN and numbers has the value NaN.
            [x, _] if !x.value.is_nan() => Ball::unknown(x.value),
            _ => self.nan_or(around(numbers)),
        }
    }

    /// NaN, or a number between two. Implementations start from the largest finite number in the place of an infinity, and a
    /// denormal may be zero.
    pub(super) fn nan_or(&self, (low, high): (f64, f64)) -> Ball {
        if self.profile.nonfinite_is_indeterminate {
            return Ball::unknown(f64::NAN);
        }
        let most = self.format.max_finite();
        let is_flushed =
            |x: f64| self.profile.flush_to_zero && x != 0.0 && x.abs() < self.format.min_normal();
        let low = if is_flushed(low) { low.min(0.0) } else { low.min(most) };
        let high = if is_flushed(high) { high.max(0.0) } else { high.max(-most) };
        Ball::nan_or((low, high))
    }
}

/// The least interval around all of some.
fn around(all: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((f64::INFINITY, f64::NEG_INFINITY))
}
