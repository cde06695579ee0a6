//! The number system: each step but the long ones.

use std::collections::BTreeMap;

use ir::DType;
use ir::format::is_power_of_two;
use ops::arith::{Arith, Class, Comparison, Fun, Step};
use ops::plain;

use super::grant::{Exact, Grant};
use super::{Malice, Number};

impl Malice<'_> {
    /// This system for numbers that are stored in a dtype.
    pub(super) fn within_dtype(&self, dtype: DType) -> Self {
        Self::new(self.by, dtype)
    }

    /// An operand as a step reads it: rounded to the working dtype, if that has not been done, and 0 where it is denormal.
    pub(super) fn operand(&self, x: Number) -> Number {
        let x = if self.by.coin() { self.rounded(x) } else { x };
        Number { held: self.loose(x.held), ..x }
    }

    /// Both operands of a step.
    pub(super) fn operands(&self, x: Number, y: Number) -> (Number, Number) {
        (self.operand(x), self.operand(y))
    }

    /// x + y, of operands that have been read.
    pub(super) fn plus(&self, x: Number, y: Number) -> Number {
        let (high, low) = plain::two_sum(x.held, y.held);
        self.off(Exact::new(high, low), self.one_rounding(), x.truth + y.truth)
    }

    /// x·y, likewise.
    pub(super) fn times(&self, x: Number, y: Number) -> Number {
        let high = x.held * y.held;
        let exact = Exact::new(high, x.held.mul_add(y.held, -high));
        self.off(exact, self.one_rounding(), x.truth * y.truth)
    }

    /// x·y + z with one rounding.
    pub(super) fn fused(&self, x: Number, y: Number, z: Number) -> Number {
        let exact = Exact::new(x.held.mul_add(y.held, z.held), 0.0);
        self.off(exact, self.one_rounding(), x.truth.mul_add(y.truth, z.truth))
    }

    /// x / y, likewise.
    pub(super) fn over(&self, x: Number, y: Number) -> Number {
        let truth = x.truth / y.truth;
        let (least, size) = (self.format.min_normal(), y.held.abs());
        let is_moderate = least <= size && size <= least.recip();
        if self.profile().moderate_divisors && !is_moderate {
            return Number { held: self.anything(), truth };
        }
        let high = x.held / y.held;
        if !x.held.is_finite() || !y.held.is_finite() {
            // What IEEE 754 determines is no approximation.
            return Number { held: self.loose(self.nonfinite_or(high)), truth };
        }
        let is_scale = self.profile().scales_exactly && is_moderate && is_power_of_two(y.held);
        // Nobody makes anything of nothing, whatever an ULP of 0 may be.
        let is_one_rounding = x.held == 0.0 || is_scale;
        let ulps =
            if is_one_rounding { self.profile().rounding } else { (self.profile().division)(self.dtype) };
        let exact = Exact::new(high, (-high).mul_add(y.held, x.held) / y.held);
        self.off(exact, Grant::ulps(ulps), truth)
    }

    /// One of two numbers by the function that tells it on plain ones. NaN may lose, and equal zeros have no order; a
    /// denormal may be 0 where it is compared, and go on as it is.
    fn extreme(&self, x: Number, y: Number, f: fn(f64, f64) -> f64) -> Number {
        let (seen_x, seen_y) = self.operands(x, y);
        let loses = self.profile().nan_may_lose && self.by.coin();
        let held = match (seen_x.held.is_nan(), seen_y.held.is_nan()) {
            (true, false) if loses => y.held,
            (false, true) if loses => x.held,
            (false, false) if seen_x.held == 0.0 && seen_y.held == 0.0 => self.by.one_of(&[x.held, y.held]),
            _ => self.nonfinite_or(f(seen_x.held, seen_y.held)),
        };
        Number { held: self.loose(held), truth: f(x.truth, y.truth) }
    }

    /// The remainder as WGSL defines it.
    fn remainder_by_formula(&self, x: Number, y: Number) -> Number {
        let quotient = self.step(Step::Trunc, self.div(x, y));
        self.sub(x, self.mul(y, quotient))
    }

    /// The integer as a tensor of a dtype holds it: its low bits, or what saturates where the profile leaves that open.
    pub(super) fn stored_integer(&self, z: i128, dtype: DType) -> i128 {
        match dtype.int_range() {
            Some((low, high)) if self.profile().integers_may_saturate && self.by.coin() => z.clamp(low, high),
            _ => dtype.wrap(z),
        }
    }
}

impl Arith for Malice<'_> {
    type R = Number;
    type Z = i128;

    fn within(&self, dtype: DType) -> Self {
        self.within_dtype(dtype)
    }
    fn within_or(&self, dtype: DType, narrower: DType) -> Self {
        let narrows = self.profile().narrows_positions && self.by.does(self.by.habits.reads_otherwise);
        self.within_dtype(if narrows { narrower } else { dtype })
    }
    fn real(&self, v: f64) -> Number {
        let exact = Number { held: v, truth: v };
        if self.by.coin() { self.rounded(exact) } else { exact }
    }
    fn int(&self, v: i128) -> i128 {
        v
    }
    fn add(&self, x: Number, y: Number) -> Number {
        let (x, y) = self.operands(x, y);
        self.plus(x, y)
    }
    fn sub(&self, x: Number, y: Number) -> Number {
        let (x, y) = self.operands(x, y);
        self.plus(x, Number { held: -y.held, truth: -y.truth })
    }
    fn mul(&self, x: Number, y: Number) -> Number {
        let (x, y) = self.operands(x, y);
        self.times(x, y)
    }
    fn div(&self, x: Number, y: Number) -> Number {
        let (x, y) = self.operands(x, y);
        self.over(x, y)
    }
    fn neg(&self, x: Number) -> Number {
        let x = self.operand(x);
        Number { held: self.loose(-x.held), truth: -x.truth }
    }
    fn abs(&self, x: Number) -> Number {
        let x = self.operand(x);
        Number { held: self.loose(x.held.abs()), truth: x.truth.abs() }
    }
    fn min(&self, x: Number, y: Number) -> Number {
        self.extreme(x, y, plain::min)
    }
    fn max(&self, x: Number, y: Number) -> Number {
        self.extreme(x, y, plain::max)
    }
    fn round(&self, x: Number) -> Number {
        self.operand(x)
    }
    fn either(&self, x: Number, other: impl FnOnce() -> Number) -> Number {
        if self.by.does(self.by.habits.reads_otherwise) { other() } else { x }
    }
    fn or_folded(&self, x: Number, folded: impl FnOnce() -> Number) -> Number {
        if self.profile().folds { self.either(x, folded) } else { x }
    }
    fn call(&self, f: Fun, x: Number) -> Number {
        self.function(f, self.operand(x))
    }
    fn step(&self, f: Step, x: Number) -> Number {
        let x = self.operand(x);
        let truth = f.value(x.truth);
        let held = if f == Step::Sign && x.held.is_nan() && self.profile().nan_may_lose {
            self.by.one_of(&[f64::NAN, 0.0, 1.0, -1.0])
        } else {
            self.nonfinite_or(f.value(x.held))
        };
        Number { held: self.loose(held), truth }
    }
    fn pow(&self, x: Number, y: Number) -> Number {
        let (x, y) = self.operands(x, y);
        self.power(x, y)
    }
    fn fmod(&self, x: Number, y: Number) -> Number {
        if self.profile().remainder_by_formula && self.by.does(self.by.habits.other_algorithm) {
            return self.remainder_by_formula(x, y);
        }
        let (x, y) = self.operands(x, y);
        let held = self.nonfinite_or(libm::fmod(x.held, y.held));
        Number { held: self.loose(held), truth: libm::fmod(x.truth, y.truth) }
    }
    fn sum(&self, terms: impl Iterator<Item = Number>) -> Number {
        self.any_sum(terms, 1)
    }
    fn dot(&self, terms: impl Iterator<Item = (Number, Number)>) -> Number {
        self.any_dot(terms, 1)
    }
    fn mean(&self, terms: impl Iterator<Item = Number>, count: usize) -> Number {
        self.any_mean(&terms.collect::<Vec<_>>(), count)
    }
    fn variance(&self, lane: &[Number], mean: Number) -> Number {
        self.any_variance(lane, mean)
    }
    fn determinant(&self, matrix: &[Number], rows: usize) -> Number {
        self.any_determinant(matrix, rows)
    }
    fn product(&self, terms: impl Iterator<Item = Number>) -> Number {
        self.any_product(terms)
    }

    fn compare(&self, c: Comparison, x: Number, y: Number) -> i128 {
        let (x, y) = self.operands(x, y);
        let is_open = self.profile().nonfinite_is_indeterminate && (x.held.is_nan() || y.held.is_nan());
        i128::from(if is_open { self.by.coin() } else { c.holds(x.held, y.held) })
    }
    fn is(&self, class: Class, x: Number) -> i128 {
        let is_open = self.profile().nonfinite_is_indeterminate && !x.held.is_finite();
        i128::from(if is_open { self.by.coin() } else { class.holds(x.held) })
    }
    fn select(&self, condition: i128, x: Number, y: Number) -> Number {
        self.operand(if condition == 0 { y } else { x })
    }
    fn truncate(&self, x: Number, to: DType) -> i128 {
        let x = self.operand(x).held.trunc();
        match to.int_range() {
            Some((low, high)) if !(low as f64 <= x && x <= high as f64) => self.by.one_of(&[low, high, 0]),
            Some((low, high)) => (x as i128).clamp(low, high),
            None => x as i128,
        }
    }
    fn truncated_power(&self, base: i128, exponent: Number, to: DType) -> i128 {
        let most = if self.profile().exact_powers { f64::from(u32::MAX) } else { 1.0 };
        let held = self.operand(exponent).held;
        let is_exact = held.fract() == 0.0 && (0.0..=most).contains(&held);
        let power = is_exact.then(|| base.checked_pow(held as u32)).flatten();
        let fits = |&z: &i128| to.int_range().is_some_and(|(low, high)| (low..=high).contains(&z));
        let by_floats = || self.truncate(self.pow(self.convert(base), exponent), to);
        power.filter(fits).unwrap_or_else(by_floats)
    }
    fn bits(&self, x: Number, dtype: DType) -> i128 {
        let held = self.operand(x).held;
        let has_other = held.is_nan() || held == 0.0 && self.profile().ignores_zero_sign;
        let codes = [held, -held].map(|held| plain::coded(dtype, held));
        if has_other { self.by.one_of(&codes) } else { codes[0] }
    }
    fn convert(&self, z: i128) -> Number {
        let high = z as f64;
        let exact = Exact::new(high, (z - high as i128) as f64);
        self.off(exact, self.one_rounding(), high)
    }
    fn arg_max(&self, xs: &[Number], last: bool) -> i128 {
        // What is equal is read alike: what flushes a number in one comparison does so in the next.
        let mut read = BTreeMap::new();
        let mut once = |x: Number| *read.entry(x.held.to_bits()).or_insert_with(|| self.operand(x).held);
        let held: Vec<f64> = xs.iter().map(|&x| once(x)).collect();
        let profile = self.profile();
        let is_open = profile.nan_may_lose || profile.nonfinite_is_indeterminate;
        if is_open && held.iter().any(|x| x.is_nan()) {
            return self.by.one_of(&(0..held.len() as i128).collect::<Vec<_>>());
        }
        plain::arg_max(&held, last) as i128
    }

    fn exact<const N: usize>(&self, zs: [i128; N], f: impl Fn([i128; N]) -> Option<i128>) -> i128 {
        f(zs).unwrap_or_else(|| self.undefined_int())
    }
    fn peek(&self, z: i128) -> Option<i128> {
        Some(z)
    }
    fn unknown_real(&self) -> Number {
        self.undefined_real()
    }
    fn unknown_int(&self) -> i128 {
        self.undefined_int()
    }
    fn undefined_real(&self) -> Number {
        Number { held: self.anything(), truth: f64::NAN }
    }
    fn undefined_int(&self) -> i128 {
        self.by.one_of(&[0, 1, -1, 77])
    }
    fn unspecified(&self, one: Number) -> Number {
        if self.by.coin() { one } else { self.undefined_real() }
    }
    fn unspecified_int(&self, one: i128) -> i128 {
        if self.by.coin() { one } else { self.undefined_int() }
    }
}
