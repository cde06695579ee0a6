//! Mean and variance of a lane, by any of the usual algorithms that are good.

use ops::Arith;

use super::walk::{Loop, Walk};
use super::{OF_ROUNDING, Spread, bare, together};
use crate::bound::Ball;

impl Spread<'_> {
    /// The mean of a lane, by any algorithm: where a sum is exact, a running mean or one that a second pass corrects is not.
    pub(crate) fn mean(&self, terms: impl Iterator<Item = Ball>, count: usize) -> Ball {
        let (mut walk, mut looped) = (Walk::default(), Loop::new(self.accumulator));
        let each = terms.map(|x| {
            walk.push(x.value, x.error);
            looped.push(x.value);
            bare(x)
        });
        let mean = self.bound.mean(each, count);
        self.share(mean, &walk, &looped, walk.carried(), count)
    }

    /// The variance of a lane about its mean, in two passes, or by a running mean where the profile has that.
    ///
    /// As for bounds, an error μ of the mean moves all differences dᵢ alike, which their squares notice by n·μ² alone: Σdᵢ is 0.
    /// The errors of a running mean differ from one element to the next; each is as large as that of the mean.
    pub(crate) fn variance(&self, lane: &[Ball], mean: Ball) -> Ball {
        let (mut walk, mut looped) = (Walk::default(), Loop::new(self.accumulator));
        let shift = if mean.is_known() { mean.error } else { 0.0 };
        let is_running = self.tier.profile.running_variance;
        let running = if is_running { shift.max(self.rounding(mean.value)) } else { 0.0 };
        for &x in lane {
            let difference = self.bound.sub(bare(x), bare(mean));
            let (size, own) = (difference.value.abs(), OF_ROUNDING * difference.error);
            let error = together([x.error, own, running]);
            walk.push(size * size, 2.0 * size * error + error * error);
            looped.push(size * size);
        }
        let exact: Vec<Ball> = lane.iter().map(|&x| bare(x)).collect();
        let variance = self.bound.variance(&exact, bare(mean));
        let carried = walk.carried() + lane.len() as f64 * shift * shift;
        self.share(variance, &walk, &looped, carried, lane.len())
    }

    /// The ball of a sum divided by its `count` of terms, with what these carry; `step` is what bounds have for exact ones.
    fn share(&self, step: Ball, walk: &Walk, looped: &Loop, carried: f64, count: usize) -> Ball {
        let is_settled = !step.is_known() || !step.value.is_finite() || step.is_zero();
        if is_settled || (step.is_exact() && carried == 0.0) {
            return step;
        }
        let (count, total) = (count as f64, step.value * count as f64);
        let wandered = walk.wandered(self.accumulator, total, self.bound.least());
        let of_sum = together([carried, wandered, looped.bias(total)]) / count;
        self.bound.widened(step.value, together([of_sum, self.rounding(step.value)]), 0.0)
    }
}
