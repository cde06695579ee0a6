//! Long sums and products.

use ops::Arith;

use super::walk::{Loop, Walk};
use super::{OF_ROUNDING, Spread, bare, together};
use crate::bound::{Ball, TRANSFORMED_ROUNDINGS};

impl Spread<'_> {
    pub(crate) fn sum(&self, terms: impl Iterator<Item = Ball>) -> Ball {
        let (mut walk, mut looped) = (Walk::default(), Loop::new(self.accumulator));
        let sum = self.bound.sum(terms.map(|x| {
            walk.push(x.value, x.error);
            looped.push(x.value);
            bare(x)
        }));
        self.summed(sum, &walk, looped.bias(sum.value))
    }

    pub(crate) fn running_sums(&self, terms: &[Ball]) -> Vec<Ball> {
        let (mut walk, mut looped) = (Walk::default(), Loop::new(self.accumulator));
        let exact: Vec<Ball> = terms.iter().map(|&x| bare(x)).collect();
        let sums = self.bound.running_sums(&exact);
        let each = terms.iter().zip(&sums[1..]).map(|(x, &sum)| {
            walk.push(x.value, x.error);
            looped.push(x.value);
            self.summed(sum, &walk, looped.bias(sum.value))
        });
        std::iter::once(self.sum(std::iter::empty())).chain(each).collect()
    }

    pub(crate) fn dot(&self, terms: impl Iterator<Item = (Ball, Ball)>) -> Ball {
        let (mut walk, mut looped) = (Walk::default(), Loop::new(self.accumulator));
        let sum = self.bound.dot(terms.map(|(x, y)| {
            walk.push(x.value * y.value, x.value.abs() * y.error + y.value.abs() * x.error);
            looped.push(x.value * y.value);
            (bare(x), bare(y))
        }));
        self.summed(sum, &walk, looped.bias(sum.value))
    }

    /// The ball of a sum with what its terms carry, how far it wanders and a `bias`, rounded to the working dtype if
    /// the accumulator is wider; `sum` is what bounds have for exact terms.
    pub(super) fn summed(&self, sum: Ball, walk: &Walk, bias: f64) -> Ball {
        let carried = walk.carried();
        if !sum.is_known() || !sum.value.is_finite() {
            return sum;
        }
        if (sum.is_exact() || sum.is_zero()) && carried == 0.0 {
            return walk.remembered(sum);
        }
        let wandered = walk.wandered(self.accumulator, sum.value, self.bound.least());
        let is_wider = self.accumulator.precision() > self.format.precision();
        let last = if is_wider && !sum.is_exact() { self.rounding(sum.value) } else { 0.0 };
        self.bound.widened(sum.value, together([carried, wandered, bias, last]), 0.0)
    }

    /// Widens the elements that an image gives with a filter by what a transformation adds, which goes through as many roundings
    /// as bounds have it.
    pub(crate) fn convolved(&self, sums: &mut [Ball], image: &[Ball], filter: &[Ball]) {
        let mut moved: Vec<Ball> = sums.iter().map(|&x| bare(x)).collect();
        self.bound.convolved(&mut moved, image, filter);
        let roundings = (TRANSFORMED_ROUNDINGS as usize + filter.len()) as f64;
        for (sum, moved) in sums.iter_mut().zip(moved) {
            *sum = if moved.is_known() && sum.is_known() {
                let own = OF_ROUNDING * moved.error / roundings.sqrt();
                Ball { error: together([sum.error, own]), ..*sum }
            } else {
                moved
            };
        }
    }

    /// A product in whatever order. Its factors may have errors in common, so these add up.
    pub(crate) fn product(&self, terms: impl Iterator<Item = Ball>) -> Ball {
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
