//! The steps of [`Bound`], all but the long ones.

use ir::DType;
use ir::format::is_power_of_two;
use ndarray::ArrayView2;
use ops::arith::{Arith, Class, Comparison, Fun, Step};
use ops::plain;

use super::ball::{Ball, Made, State, Terms, Whole};
use super::{Bound, sums};

/// The quotient without its fraction; `None` where it may be one of several that f64 does not tell apart.
fn whole_quotient(x: f64, y: f64) -> Option<f64> {
    let q = (x / y).trunc();
    // The division may have rounded up to a whole number that is not reached: then the remainder has the
    // other sign.
    let rest = (-q).mul_add(y, x);
    let is_reached = rest == 0.0 || rest.is_sign_negative() == x.is_sign_negative();
    (q.abs() < f64::EPSILON.recip()).then(|| if is_reached { q } else { q - q.signum() })
}

impl Bound<'_> {
    /// A step on two numbers as [`Bound::operand`] sees them: `f` its value, `exact` whether that has no rounding
    /// error in f64 for exact operands, `carried` what the operands' errors become.
    fn binary(
        &self,
        x: Ball,
        y: Ball,
        f: impl Fn(f64, f64) -> f64,
        ulps: f64,
        exact: impl Fn(f64) -> bool,
        carried: impl Fn(f64) -> f64,
    ) -> Ball {
        let value = f(x.value, y.value);
        if x.is_undefined() || y.is_undefined() {
            return Ball::undefined(value);
        }
        if x.is_nan() || y.is_nan() {
            return self.nonfinite(f64::NAN);
        }
        if !x.is_known() || !y.is_known() {
            return self.open_step((x, y), value, f, ulps);
        }
        if x.value.is_infinite() || y.value.is_infinite() {
            // One of the two is exact; what the other may be decides whether the result is one.
            let corners =
                [f(x.low(), y.low()), f(x.high(), y.high()), f(x.low(), y.high()), f(x.high(), y.low())];
            let same = |c: &f64| c.to_bits() == value.to_bits() || (c.is_nan() && value.is_nan());
            return if corners.iter().all(same) { self.determined(value) } else { Ball::unknown(value) };
        }
        if x.is_exact() && y.is_exact() && exact(value) && self.holds(value) {
            return Ball::exact(value);
        }
        if value.is_infinite() && x.is_exact() && y.is_exact() {
            return self.overflown(value, 0.0);
        }
        self.rounded(value, carried(value), ulps)
    }

    /// Whether a divisor is a power of two whose reciprocal no device flushes.
    pub(super) fn is_scale(&self, divisor: f64) -> bool {
        let least = self.format.min_normal();
        is_power_of_two(divisor) && (least..=least.recip()).contains(&divisor.abs())
    }

    /// The remainder as WGSL defines it.
    fn remainder_by_formula(&self, x: Ball, y: Ball) -> Ball {
        let quotient = self.step(Step::Trunc, self.div(x, y));
        self.sub(x, self.mul(y, quotient))
    }
}

impl Arith for Bound<'_> {
    type R = Ball;
    type Z = Whole;

    fn within(&self, dtype: DType) -> Self {
        Self::new(self.profile, dtype)
    }
    fn within_or(&self, dtype: DType, narrower: DType) -> Self {
        self.within(if self.profile.narrows_positions { narrower } else { dtype })
    }
    fn round(&self, x: Ball) -> Ball {
        self.narrowed(x)
    }
    fn real(&self, v: f64) -> Ball {
        // An implementation holds the constant in the working dtype or in a wider one.
        if !v.is_finite() || self.holds(v) {
            Ball::exact(v)
        } else {
            self.rounded(v, 0.0, self.profile.rounding)
        }
    }
    fn int(&self, v: i128) -> Whole {
        Whole { made: Made::Steps, ..Whole::sure(v) }
    }

    fn add(&self, x: Ball, y: Ball) -> Ball {
        let (x, y) = (self.operand(x), self.operand(y));
        let exact = |v| plain::two_sum(x.value, y.value) == (v, 0.0);
        let total = self.binary(x, y, |x, y| x + y, self.profile.rounding, exact, |_| x.error + y.error);
        self.joined(x, y, total)
    }
    fn foldable(&self, sum: Ball, terms: [Ball; 2]) -> Ball {
        self.of_two(terms.map(|term| self.operand(term)), sum)
    }
    fn sub(&self, x: Ball, y: Ball) -> Ball {
        self.add(x, y.negated())
    }
    fn mul(&self, x: Ball, y: Ball) -> Ball {
        let (a, b) = (self.operand(x), self.operand(y));
        // A sum that cancels is not zero any more once a factor is folded into its terms.
        let is_zero = |x: &Ball| x.value == 0.0 && x.is_exact() && !x.terms().is_sum();
        let beside_zero = if is_zero(&a) { Some(&b) } else { Some(&a).filter(|_| is_zero(&b)) };
        if let Some(other) = beside_zero.filter(|other| other.is_known() && !other.is_exact()) {
            return if other.has_zero() { Ball::either_zero() } else { Ball::exact(a.value * b.value) };
        }
        let exact = |v: f64| a.value == 0.0 || b.value == 0.0 || sums::product_is_exact(a.value, b.value, v);
        let carried = |_| a.value.abs() * b.error + b.value.abs() * a.error + a.error * b.error;
        let product = self.binary(a, b, |x, y| x * y, self.profile.rounding, exact, carried);
        self.scaled(a, b, product)
    }
    fn div(&self, x: Ball, y: Ball) -> Ball {
        let (a, b) = (self.operand(x), self.operand(y));
        let value = a.value / b.value;
        let tainted = a.is_undefined() || b.is_undefined() || a.is_nan() || b.is_nan();
        if !tainted && b.has_zero() {
            // Division by an exact zero is determined where the zero's sign is.
            let determined = a.is_exact() && b.is_exact() && !self.profile.ignores_zero_sign;
            return if determined { self.nonfinite(value) } else { Ball::unknown(value) };
        }
        let limit = self.format.min_normal().recip();
        // By the reciprocal, which may be 0; or folded into the terms of a sum.
        if !tainted && (a.is_beyond() && b.reach() > limit || b.is_beyond() && a.terms().is_sum()) {
            return Ball::unknown(value);
        }
        if !tainted && self.profile.moderate_divisors {
            let (least, most) = (b.value.abs() - b.error, b.value.abs() + b.error);
            if least < self.format.min_normal() || most > limit {
                return Ball::unknown(value);
            }
        }
        let ulps = (self.profile.division)(self.dtype);
        let faithful = ulps <= self.profile.rounding || self.profile.scales_exactly && self.is_scale(b.value);
        // Nobody makes anything of nothing, whatever an ULP of 0 may be.
        let exact = |q: f64| a.value == 0.0 || faithful && sums::product_is_exact(b.value, q, a.value);
        let carried = |q: f64| (a.error + q.abs() * b.error) / (b.value.abs() - b.error);
        let quotient = self.binary(a, b, |x, y| x / y, ulps, exact, carried);
        self.divided(a, b, quotient)
    }
    fn neg(&self, x: Ball) -> Ball {
        self.operand(x).negated()
    }
    fn abs(&self, x: Ball) -> Ball {
        let x = self.operand(x);
        Ball { value: x.value.abs(), ..x }.with_terms(Terms::NONE)
    }
    fn min(&self, x: Ball, y: Ball) -> Ball {
        self.extreme(x, y, plain::min)
    }
    fn max(&self, x: Ball, y: Ball) -> Ball {
        self.extreme(x, y, plain::max)
    }
    fn min_of(&self, first: Ball, others: impl Iterator<Item = Ball> + Clone) -> Ball {
        self.extreme_of(first, others, plain::min)
    }
    fn max_of(&self, first: Ball, others: impl Iterator<Item = Ball> + Clone) -> Ball {
        self.extreme_of(first, others, plain::max)
    }
    fn either(&self, x: Ball, other: impl FnOnce() -> Ball) -> Ball {
        if x.ends().is_some() || x.may_be_nan() { self.reading(x, other()) } else { x }
    }
    fn or_folded(&self, x: Ball, folded: impl FnOnce() -> Ball) -> Ball {
        if self.profile.folds { self.either(x, folded) } else { x }
    }
    fn call(&self, f: Fun, x: Ball) -> Ball {
        self.function(f, x)
    }
    fn step(&self, f: Step, x: Ball) -> Ball {
        let x = self.operand(x);
        let value = f.value(x.value);
        if x.is_undefined() {
            return Ball::undefined(value);
        }
        if !x.is_known() {
            return self.open_rise(x, value, |v| f.value(v));
        }
        if f == Step::Sign && x.is_nan() && self.profile.nan_may_lose {
            return self.nan_or((-1.0, 1.0));
        }
        if x.is_exact() {
            return self.determined(value);
        }
        // Step functions rise, so the ends tell whether all of the interval is on one step.
        let (low, high) = if x.is_zero() { (-0.0, 0.0) } else { (x.low(), x.high()) };
        let is_of_one_sign = low > 0.0 || high < 0.0;
        let (low, high) = (f.value(low), f.value(high));
        // What is too large for a format without infinities is NaN, and so is what is larger.
        if is_of_one_sign && low.is_nan() && high.is_nan() {
            return Ball::exact(value);
        }
        match (low == high, low == 0.0 && low.to_bits() != high.to_bits()) {
            (true, false) => Ball::exact(value),
            (true, true) => Ball::either_zero(),
            (false, _) if low.is_finite() && high.is_finite() => {
                Ball::within(value, (high - value).max(value - low))
            }
            (false, _) => Ball::unknown(value),
        }
    }
    fn pow(&self, x: Ball, y: Ball) -> Ball {
        self.power(x, y)
    }
    fn fmod(&self, x: Ball, y: Ball) -> Ball {
        let value = libm::fmod(x.value, y.value);
        if x.is_undefined() || y.is_undefined() {
            return Ball::undefined(value);
        }
        if self.profile.remainder_by_formula {
            let by_formula = self.remainder_by_formula(x, y);
            return if by_formula.is_known() {
                Ball::within(value, by_formula.error + (by_formula.value - value).abs())
            } else {
                Ball { value, ..by_formula.without_limits() }
            };
        }
        let (x, y) = (self.operand(x), self.operand(y));
        if x.is_nan() || y.is_nan() || (x.is_exact() && y.is_exact()) {
            return self.determined(value);
        }
        if !x.is_known() || !y.is_known() || y.has_zero() {
            return Ball::unknown(value);
        }
        // All of the interval has one quotient; the remainder is then x - q·y.
        let corners = [(x.low(), y.low()), (x.low(), y.high()), (x.high(), y.low()), (x.high(), y.high())];
        let quotients = corners.map(|(x, y)| whole_quotient(x, y));
        match quotients[0] {
            Some(q) if quotients.iter().all(|other| *other == Some(q)) => {
                self.widened(value, x.error + q.abs() * y.error, 0.0)
            }
            _ => Ball::unknown(value),
        }
    }
    fn sum(&self, terms: impl Iterator<Item = Ball>) -> Ball {
        self.long_sum(terms)
    }
    fn running_sums(&self, terms: &[Ball]) -> Vec<Ball> {
        self.long_sums(terms)
    }
    fn dot(&self, terms: impl Iterator<Item = (Ball, Ball)>) -> Ball {
        self.long_dot(terms)
    }
    fn dots(
        &self,
        a: &ArrayView2<'_, Ball>,
        b: &ArrayView2<'_, Ball>,
        addend: impl Fn(usize, usize) -> Option<Ball>,
    ) -> Vec<Ball> {
        self.all_dots(a, b, addend)
    }
    fn affine(&self, x: Ball, centre: Ball, slope: Ball, offset: Ball) -> Ball {
        self.affine_by(|terms| self.long_dot(terms), x, centre, slope, offset)
    }
    fn mean(&self, terms: impl Iterator<Item = Ball>, count: usize) -> Ball {
        self.long_mean(terms, count)
    }
    fn convolved(&self, sums: &mut [Ball], image: &[Ball], filter: &[Ball]) {
        self.transformed(sums, image, filter);
    }
    fn variance(&self, lane: &[Ball], mean: Ball) -> Ball {
        self.lane_variance(lane, mean)
    }
    fn determinant(&self, matrix: &[Ball], rows: usize) -> Ball {
        self.any_determinant(matrix, rows)
    }
    fn product(&self, terms: impl Iterator<Item = Ball>) -> Ball {
        self.long_product(terms)
    }

    fn compare(&self, c: Comparison, x: Ball, y: Ball) -> Whole {
        let (x, y) = (self.operand(x), self.operand(y));
        let value = i128::from(c.holds(x.value, y.value));
        if x.is_undefined() || y.is_undefined() {
            return Whole::undefined(value);
        }
        let nan_decides = (x.is_nan() || y.is_nan()) && !self.profile.nonfinite_is_indeterminate;
        // The signs of zeros do not matter here.
        let is_sure = |x: Ball| x.is_exact() || x.is_zero();
        if nan_decides || (is_sure(x) && is_sure(y)) {
            return Whole::sure(value);
        }
        let (Some(x), Some(y)) = (x.ends(), y.ends()) else { return Whole::unsure(value) };
        // With all of x on one side of all of y, every pair compares alike.
        let apart = x.1 < y.0 || y.1 < x.0;
        let touching = match c {
            Comparison::Equal => false,
            Comparison::Less | Comparison::GreaterOrEqual => x.0 >= y.1,
            Comparison::LessOrEqual | Comparison::Greater => x.1 <= y.0,
        };
        if apart || touching { Whole::sure(value) } else { Whole::unsure(value) }
    }
    fn is(&self, class: Class, x: Ball) -> Whole {
        let value = i128::from(class.holds(x.value));
        match (x.is_undefined(), x.is_known()) {
            (true, _) => Whole::undefined(value),
            (false, true) => Whole::sure(value),
            (false, false) if class == Class::NaN && x.is_beyond() => Whole::sure(value),
            (false, false) => Whole::unsure(value),
        }
    }
    fn select(&self, condition: Whole, x: Ball, y: Ball) -> Ball {
        // LeakyRelu is max(x, 0) + alpha·min(x, 0) as well, and the like: what is chosen goes through arithmetic.
        let (x, y) = (self.operand(x), self.operand(y));
        let (taken, other) = if condition.value == 0 { (y, x) } else { (x, y) };
        match condition.state {
            State::Sure => taken,
            State::Undefined => Ball::undefined(taken.value),
            State::Within { .. } | State::Unsure | State::Overflown
                if taken.is_undefined() || other.is_undefined() =>
            {
                Ball::undefined(taken.value)
            }
            State::Within { .. } | State::Unsure | State::Overflown => {
                if taken.is_known() && other.is_known() {
                    Ball::within(taken.value, taken.or(other).error)
                } else {
                    Ball::unknown(taken.value)
                }
            }
        }
    }
    fn select_int(&self, condition: Whole, x: Whole, y: Whole) -> Whole {
        let (taken, other) = if condition.value == 0 { (y, x) } else { (x, y) };
        match (condition.state, taken.ends(), other.ends()) {
            (State::Sure, ..) => taken,
            (State::Undefined, ..) => Whole::undefined(taken.value),
            (_, Some((low, high)), Some((least, most))) => {
                Whole::between(low.min(least), taken.value, high.max(most))
            }
            _ if taken.state == State::Undefined || other.state == State::Undefined => {
                Whole::undefined(taken.value)
            }
            _ => Whole::unsure(taken.value),
        }
    }
    fn truncate(&self, x: Ball, to: DType) -> Whole {
        let value = match to.int_range() {
            Some((low, high)) => (x.value as i128).clamp(low, high),
            None => x.value as i128,
        };
        if x.is_undefined() {
            return Whole::undefined(value);
        }
        let x = self.operand(x);
        let fits = |v: f64| {
            to.int_range().is_none_or(|(low, high)| {
                !v.is_nan() && v.abs() < 1e38 && (low..=high).contains(&(v.trunc() as i128))
            })
        };
        let (low, high) = (x.low(), x.high());
        match (x.is_known(), fits(low), fits(high)) {
            (true, true, true) => Whole::between(low as i128, value, high as i128),
            (true, false, false) if low.is_nan() || low.signum() == high.signum() => Whole::undefined(value),
            _ => Whole::unsure(value),
        }
    }
    fn truncated_power(&self, base: Whole, exponent: Ball, to: DType) -> Whole {
        let by_floats = || self.truncate(self.pow(self.convert(base), exponent), to);
        self.exact_power(base, exponent, to).unwrap_or_else(by_floats)
    }
    fn bits(&self, x: Ball, dtype: DType) -> Whole {
        let value = plain::coded(dtype, x.value);
        if x.is_undefined() {
            return Whole::undefined(value);
        }
        let has_one_sign = x.value != 0.0 || !self.profile.ignores_zero_sign;
        if self.operand(x).is_exact() && !x.value.is_nan() && has_one_sign {
            self.int(value)
        } else {
            Whole::unsure(value)
        }
    }
    fn of_bits(&self, bits: Whole, number: impl Fn(i128) -> f64) -> Ball {
        let value = number(bits.value);
        match bits.state {
            State::Undefined => Ball::undefined(value),
            State::Within { .. } | State::Unsure | State::Overflown => Ball::unknown(value),
            State::Sure if value.is_finite() => Ball::exact(value),
            State::Sure => self.nonfinite(value),
        }
    }
    fn convert(&self, z: Whole) -> Ball {
        let value = plain::Plain::new(self.dtype).convert(z.value);
        match z.state {
            State::Undefined => Ball::undefined(value),
            State::Unsure | State::Overflown => Ball::unknown(value),
            State::Sure if value as i128 == z.value && self.holds(value) => Ball::exact(value),
            // What is rounded is the integer itself, of which f64 may lack the last digits.
            State::Sure | State::Within { .. } => {
                let near = z.value as f64;
                let lacking = z.value.abs_diff(near as i128) as f64;
                self.rounded(near, lacking + z.error(), self.profile.rounding)
            }
        }
    }
    fn arg_max(&self, xs: &[Ball], last: bool) -> Whole {
        let values: Vec<f64> = xs.iter().map(|x| x.value).collect();
        let best = plain::arg_max(&values, last);
        let value = best as i128;
        if xs.iter().any(|x| x.is_undefined()) {
            return Whole::undefined(value);
        }
        let Some(&top) = xs.get(best) else { return Whole::undefined(0) };
        if self.profile.nan_may_lose && top.is_nan() {
            return Whole::unsure(value);
        }
        let loses = |x: Ball| {
            let exact_tie = x.is_exact() && top.is_exact() && x.value == top.value;
            x.is_known() && (exact_tie || top.is_nan() || self.operand(x).high() < self.operand(top).low())
        };
        let sure = top.is_known() && xs.iter().enumerate().all(|(i, &x)| i == best || loses(x));
        if sure { Whole::sure(value) } else { Whole::unsure(value) }
    }

    fn exact<const N: usize>(&self, zs: [Whole; N], f: impl Fn([i128; N]) -> Option<i128>) -> Whole {
        let result = f(zs.map(|z| z.value));
        Whole::stepped(&zs, result, &|values| f(std::array::from_fn(|i| values[i])))
    }
    fn peek(&self, z: Whole) -> Option<i128> {
        (z.state == State::Sure).then_some(z.value)
    }
    fn unknown_real(&self) -> Ball {
        Ball::unknown(f64::NAN)
    }
    fn unknown_int(&self) -> Whole {
        Whole::unsure(0)
    }
    fn undefined_real(&self) -> Ball {
        Ball::undefined(f64::NAN)
    }
    fn undefined_int(&self) -> Whole {
        Whole::undefined(0)
    }
    fn unspecified(&self, one: Ball) -> Ball {
        if one.is_undefined() { one } else { Ball::unknown(one.value) }
    }
    fn unspecified_int(&self, one: Whole) -> Whole {
        if one.state == State::Undefined { one } else { Whole::unsure(one.value) }
    }
}
