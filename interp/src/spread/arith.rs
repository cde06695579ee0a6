//! The steps of [`Spread`], all but the long ones.
//!
//! Each is the step of bounds on the values alone, with what the errors of the operands become beside it. Where an interval
//! decides (a step function, a comparison, a maximum), it is the step of bounds altogether.

use ir::DType;
use ndarray::ArrayView2;
use ops::arith::{Arith, Class, Comparison, Fun, Step};

use super::{Spread, bare};
use crate::bound::{Ball, Image, Whole, image, power_range};

impl Arith for Spread<'_> {
    type R = Ball;
    type Z = Whole;

    fn within(&self, dtype: DType) -> Self {
        Self::new(self.tier, dtype)
    }
    fn round(&self, x: Ball) -> Ball {
        self.rounded(self.bound.narrowed(bare(x)), x.error)
    }
    fn real(&self, v: f64) -> Ball {
        self.rounded(self.bound.real(v), 0.0)
    }
    fn int(&self, v: i128) -> Whole {
        self.bound.int(v)
    }

    fn add(&self, x: Ball, y: Ball) -> Ball {
        // Terms of one sign may have a relative error in common: that of a factor.
        let common = x.error.copysign(x.value) + y.error.copysign(y.value);
        let carried = x.error.hypot(y.error).max(common.abs());
        self.rounded(self.bound.add(bare(x), bare(y)), carried)
    }
    fn sub(&self, x: Ball, y: Ball) -> Ball {
        self.add(x, Ball { value: -y.value, ..y })
    }
    fn mul(&self, x: Ball, y: Ball) -> Ball {
        // Not by squares: factors are often one number, or have one in common.
        let carried = x.value.abs() * y.error + y.value.abs() * x.error + x.error * y.error;
        self.rounded(self.bound.mul(bare(x), bare(y)), carried)
    }
    fn div(&self, x: Ball, y: Ball) -> Ball {
        if y.has_zero() || !x.is_known() || !y.is_known() {
            return self.bound.div(x, y);
        }
        let quotient = self.bound.div(bare(x), bare(y));
        self.rounded(quotient, x.error.hypot(quotient.value * y.error) / (y.value.abs() - y.error))
    }
    fn neg(&self, x: Ball) -> Ball {
        self.bound.neg(x)
    }
    fn abs(&self, x: Ball) -> Ball {
        self.bound.abs(x)
    }
    fn min(&self, x: Ball, y: Ball) -> Ball {
        self.bound.min(x, y)
    }
    fn max(&self, x: Ball, y: Ball) -> Ball {
        self.bound.max(x, y)
    }
    fn either(&self, x: Ball, other: impl FnOnce() -> Ball) -> Ball {
        self.bound.either(x, other)
    }
    fn or_folded(&self, x: Ball, folded: impl FnOnce() -> Ball) -> Ball {
        self.bound.or_folded(x, folded)
    }
    fn call(&self, f: Fun, x: Ball) -> Ball {
        let step = self.bound.call(f, bare(x));
        if x.is_exact() || x.is_zero() || !x.is_known() {
            return self.approximated(step, 0.0);
        }
        match image(f, x) {
            Image::Within(_, carried) => self.approximated(step, carried),
            Image::Nowhere | Image::Unbounded => Ball::unknown(step.value),
        }
    }
    fn step(&self, f: Step, x: Ball) -> Ball {
        self.bound.step(f, x)
    }
    fn pow(&self, x: Ball, y: Ball) -> Ball {
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
    fn fmod(&self, x: Ball, y: Ball) -> Ball {
        self.bound.fmod(x, y)
    }
    fn sum(&self, terms: impl Iterator<Item = Ball>) -> Ball {
        self.long_sum(terms)
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
    fn mean(&self, terms: impl Iterator<Item = Ball>, count: usize) -> Ball {
        self.lane_mean(terms, count)
    }
    fn variance(&self, lane: &[Ball], mean: Ball) -> Ball {
        self.lane_variance(lane, mean)
    }
    fn convolved(&self, sums: &mut [Ball], image: &[Ball], filter: &[Ball]) {
        self.transformed(sums, image, filter);
    }
    fn product(&self, terms: impl Iterator<Item = Ball>) -> Ball {
        self.long_product(terms)
    }

    fn compare(&self, c: Comparison, x: Ball, y: Ball) -> Whole {
        self.bound.compare(c, x, y)
    }
    fn is(&self, class: Class, x: Ball) -> Whole {
        self.bound.is(class, x)
    }
    fn select(&self, condition: Whole, x: Ball, y: Ball) -> Ball {
        self.bound.select(condition, x, y)
    }
    fn truncate(&self, x: Ball, to: DType) -> Whole {
        self.bound.truncate(x, to)
    }
    fn bits(&self, x: Ball, dtype: DType) -> Whole {
        self.bound.bits(x, dtype)
    }
    fn of_bits(&self, bits: Whole, number: impl Fn(i128) -> f64) -> Ball {
        self.bound.of_bits(bits, number)
    }
    fn convert(&self, z: Whole) -> Ball {
        self.rounded(self.bound.convert(z), 0.0)
    }
    fn arg_max(&self, xs: &[Ball], last: bool) -> Whole {
        self.bound.arg_max(xs, last)
    }
    fn exact<const N: usize>(&self, zs: [Whole; N], f: impl Fn([i128; N]) -> Option<i128>) -> Whole {
        self.bound.exact(zs, f)
    }
    fn peek(&self, z: Whole) -> Option<i128> {
        self.bound.peek(z)
    }
    fn unknown_real(&self) -> Ball {
        self.bound.unknown_real()
    }
    fn unknown_int(&self) -> Whole {
        self.bound.unknown_int()
    }
    fn undefined_real(&self) -> Ball {
        self.bound.undefined_real()
    }
    fn undefined_int(&self) -> Whole {
        self.bound.undefined_int()
    }
    fn unspecified(&self, one: Ball) -> Ball {
        self.bound.unspecified(one)
    }
    fn unspecified_int(&self, one: Whole) -> Whole {
        self.bound.unspecified_int(one)
    }
}
