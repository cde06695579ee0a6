//! Long sums and products, and what is made of them.

use ndarray::{Array2, ArrayView2};
use ops::Arith;
use ops::arith::each_dot;
use ops::matrix::product;

use super::walk::{self, Walk};
use super::{OF_ROUNDING, Spread, bare};
use crate::bound::{Ball, TRANSFORMED_ROUNDINGS};

/// The elements of a matrix as numbers.
fn numbers(balls: &ArrayView2<'_, Ball>, f: impl Fn(&Ball) -> f64) -> Array2<f64> {
    balls.map(f)
}

/// One side of a product of matrices: its elements, and what is made of their errors where there are any.
struct Side {
    values: Array2<f64>,
    errors: Option<Array2<f64>>,
}

impl Side {
    fn new(balls: &ArrayView2<'_, Ball>) -> Self {
        let is_exact = |x: &Ball| x.is_exact() || x.is_zero();
        let error = |x: &Ball| if is_exact(x) || !x.is_known() { 0.0 } else { x.error };
        let errors = (!balls.iter().all(is_exact)).then(|| numbers(balls, error));
        Self { values: numbers(balls, |x| x.value), errors }
    }
}

/// Σ of each row with each column, of what the errors of the products become.
struct Carried {
    variance: Vec<f64>,
    common: Vec<f64>,
}

impl Carried {
    /// `None` where all operands are exact. An error of x·y is |x|·ey + |y|·ex.
    fn of(left: &Side, right: &Side) -> Option<Self> {
        let times = |x: &Array2<f64>, y: &Array2<f64>| product(&x.view(), &y.view());
        let square = |x: &Array2<f64>| x * x;
        let signed = |side: &Side, errors: &Array2<f64>| {
            let mut signed = errors.clone();
            signed.zip_mut_with(&side.values, |error, value| *error = error.copysign(*value));
            signed
        };
        let mut parts: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        if let Some(errors) = &left.errors {
            parts.push((
                times(&square(errors), &square(&right.values)),
                times(&signed(left, errors), &right.values),
            ));
        }
        if let Some(errors) = &right.errors {
            parts.push((
                times(&square(&left.values), &square(errors)),
                times(&left.values, &signed(right, errors)),
            ));
        }
        let mut parts = parts.into_iter();
        let (mut variance, mut common) = parts.next()?;
        for (more, in_common) in parts {
            // (a + b)² where each has a part.
            variance.iter_mut().zip(more).for_each(|(a, b)| *a += b + 2.0 * (*a * b).sqrt());
            common.iter_mut().zip(in_common).for_each(|(a, b)| *a += b);
        }
        Some(Self { variance, common })
    }

    fn at(&self, i: usize) -> (f64, f64) {
        (self.variance[i], self.common[i])
    }
}

impl Spread<'_> {
    pub(super) fn long_sum(&self, terms: impl Iterator<Item = Ball>) -> Ball {
        let mut walk = Walk::new(self.accumulator);
        let sum = self.bound.sum(terms.map(|x| {
            walk.push(x.value, x.error);
            bare(x)
        }));
        self.summed(sum, &walk)
    }

    pub(super) fn long_dot(&self, terms: impl Iterator<Item = (Ball, Ball)>) -> Ball {
        let mut walk = Walk::new(self.accumulator);
        let sum = self.bound.dot(terms.map(|(x, y)| {
            walk.push(x.value * y.value, x.value.abs() * y.error + y.value.abs() * x.error);
            (bare(x), bare(y))
        }));
        self.summed(sum, &walk)
    }

    /// The ball of a sum; `sum` is what bounds have for exact terms.
    fn summed(&self, sum: Ball, walk: &Walk) -> Ball {
        let carried = walk.carried();
        if sum.is_exact() && carried == 0.0 {
            return walk.remembered(sum);
        }
        let roundings = walk.wandered(sum.value, self.bound.least()).hypot(walk.bias(sum.value));
        self.ended(sum, carried, roundings)
    }

    /// The ball of a sum that is rounded to the working dtype at its end, if its accumulator is wider.
    fn ended(&self, sum: Ball, carried: f64, roundings: f64) -> Ball {
        if !sum.is_known() || !sum.value.is_finite() {
            return sum;
        }
        let is_wider = self.accumulator.precision() > self.format.precision();
        let last = if is_wider && !sum.is_exact() { self.rounding(sum.value) } else { 0.0 };
        self.bound.widened(sum.value, carried.hypot(roundings).hypot(last), 0.0)
    }

    /// The balls of the product of two matrices. All that is not known of a row or of a column alone is a product of matrices,
    /// but for what a narrow accumulator makes of the terms in their order.
    pub(super) fn all_dots(
        &self,
        a: &ArrayView2<'_, Ball>,
        b: &ArrayView2<'_, Ball>,
        addend: impl Fn(usize, usize) -> Option<Ball>,
    ) -> Vec<Ball> {
        let is_half = self.accumulator.precision() < ir::format::FloatFormat::F32.precision();
        if is_half || self.bound.is_compensated() {
            return each_dot(self, a, b, addend);
        }
        let (bare_a, bare_b) = (a.map(|&x| bare(x)), b.map(|&x| bare(x)));
        let mut sums = self.bound.dots(&bare_a.view(), &bare_b.view(), |i, j| addend(i, j).map(bare));
        let (left, right) = (Side::new(a), Side::new(b));
        let squares = product(&left.values.mapv(|x| x * x).view(), &right.values.mapv(|x| x * x).view());
        let carried = Carried::of(&left, &right);
        let terms = a.ncols() as f64;
        let columns = b.ncols().max(1);
        for (at, sum) in sums.iter_mut().enumerate() {
            let first = addend(at / columns, at % columns);
            let (variance, common) = carried.as_ref().map_or((0.0, 0.0), |carried| carried.at(at));
            let of_first = first.filter(|x| x.is_known()).map_or(0.0, |x| x.error);
            let sign = first.map_or(1.0, |x| x.value);
            let carried =
                (variance + of_first * of_first).sqrt().max((common + of_first.copysign(sign)).abs());
            let squares = squares[at] + first.map_or(0.0, |x| x.value * x.value);
            let terms = terms + f64::from(u8::from(first.is_some()));
            *sum = if sum.is_exact() && carried == 0.0 {
                walk::remembered(terms, squares, *sum)
            } else {
                let roundings =
                    walk::wandered(self.accumulator, terms, squares, sum.value, self.bound.least());
                self.ended(*sum, carried, roundings)
            };
        }
        sums
    }

    /// The variance of a lane about its mean, in two passes, or by a running mean where the profile has that.
    ///
    /// As for bounds, an error μ of the mean moves all differences dᵢ alike, which their squares notice by n·μ² alone: Σdᵢ is 0.
    /// The errors of a running mean differ from one element to the next; each is as large as that of the mean.
    pub(super) fn lane_variance(&self, lane: &[Ball], mean: Ball) -> Ball {
        let mut walk = Walk::new(self.accumulator);
        let bare_mean = bare(mean);
        let shift = if mean.is_known() { mean.error } else { 0.0 };
        let running =
            if self.tier.profile.running_variance { shift.max(self.rounding(mean.value)) } else { 0.0 };
        for &x in lane {
            let difference = self.bound.sub(bare(x), bare_mean);
            let own = OF_ROUNDING * difference.error;
            let error = x.error.hypot(own).hypot(running);
            walk.push(
                difference.value * difference.value,
                2.0 * difference.value.abs() * error + error * error,
            );
        }
        let bare_lane: Vec<Ball> = lane.iter().map(|&x| bare(x)).collect();
        let count = lane.len() as f64;
        let variance = self.bound.variance(&bare_lane, bare_mean);
        if !variance.is_known() || !variance.value.is_finite() {
            return variance;
        }
        let total = variance.value * count;
        let carried = walk.carried() + count * shift * shift;
        let roundings = walk.wandered(total, self.bound.least()).hypot(walk.bias(total));
        let is_exact = variance.is_exact() && carried == 0.0;
        if is_exact {
            return variance;
        }
        let share = self.ended(Ball { value: total, ..variance }, carried, roundings);
        let own = self.rounding(variance.value);
        self.bound.widened(variance.value, (share.error / count).hypot(own), 0.0)
    }

    /// Widens the elements that an image gives with a filter by what a transformation adds, which goes through as many roundings
    /// as bounds have it.
    pub(super) fn transformed(&self, sums: &mut [Ball], image: &[Ball], filter: &[Ball]) {
        let mut moved: Vec<Ball> = sums.iter().map(|&x| bare(x)).collect();
        self.bound.convolved(&mut moved, image, filter);
        let roundings = (TRANSFORMED_ROUNDINGS as usize + filter.len()) as f64;
        for (sum, moved) in sums.iter_mut().zip(moved) {
            *sum = if moved.is_known() && sum.is_known() {
                let own = OF_ROUNDING * moved.error / roundings.sqrt();
                Ball { error: sum.error.hypot(own), ..*sum }
            } else {
                moved
            };
        }
    }

    /// A product in whatever order. Its factors may have errors in common, so these add up.
    pub(super) fn long_product(&self, terms: impl Iterator<Item = Ball>) -> Ball {
        let terms: Vec<Ball> = terms.collect();
        let product = self.bound.product(terms.iter().map(|&x| bare(x)));
        let carried = carried_by_factors(&terms, product.value);
        let roundings = terms.len().saturating_sub(1).max(1) as f64;
        self.widened(product, carried, OF_ROUNDING * product.error / roundings.sqrt())
    }
}

/// What the errors of factors become in their product.
fn carried_by_factors(factors: &[Ball], product: f64) -> f64 {
    let is_inexact = |x: &&Ball| x.is_known() && !x.is_exact() && !x.is_zero();
    let is_zero = |x: &Ball| x.value == 0.0;
    match factors.iter().filter(|x| is_zero(x)).count() {
        0 => product.abs() * factors.iter().filter(is_inexact).map(|x| x.error / x.value.abs()).sum::<f64>(),
        1 => {
            let others: f64 = factors.iter().filter(|x| !is_zero(x)).map(|x| x.value.abs()).product();
            factors.iter().filter(|x| is_zero(x)).filter(is_inexact).map(|x| x.error * others).sum()
        }
        _ => 0.0,
    }
}
