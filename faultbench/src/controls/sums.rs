//! Sums, sums of products, means and variances, in the orders and by the algorithms in use.

use ops::Arith;

use super::arithmetic::Own;
use super::way::Moments;

/// The order of a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// From the first term to the last.
    Given,
    /// From the last term to the first.
    Reversed,
    /// Each half on its own.
    Pairwise,
    /// This many partial sums at once, which take the terms in turn.
    Lanes(usize),
    /// Blocks of this many terms, and then the blocks' sums.
    Blocks(usize),
    /// From the smallest magnitude to the largest.
    Ascending,
    /// From the largest magnitude to the smallest.
    Descending,
    /// From the first to the last, with what each addition loses added to the next term (Kahan).
    Compensated,
}

/// What becomes of products before they are added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Products {
    Rounded,
    /// Added as they are; the sum alone is rounded.
    Fused,
}

/// How many sums of a normalisation are under way at least.
const PARTS: usize = 8;

impl Own {
    /// The sum of terms.
    pub(super) fn total(&self, terms: &[f64], order: Order) -> f64 {
        let by_magnitude = |descending: bool| {
            let mut sorted = terms.to_vec();
            sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
            if descending {
                sorted.reverse();
            }
            self.total(&sorted, Order::Given)
        };
        match order {
            Order::Reversed => self.forward(terms.iter().rev().copied()),
            Order::Pairwise if terms.len() > 2 => {
                let (a, b) = terms.split_at(terms.len() / 2);
                self.add(self.total(a, order), self.total(b, order))
            }
            Order::Given | Order::Pairwise => self.forward(terms.iter().copied()),
            Order::Lanes(lanes) => {
                let lane = |k: usize| self.forward(terms.iter().skip(k).step_by(lanes).copied());
                self.forward((0..lanes.min(terms.len())).map(lane))
            }
            Order::Blocks(size) => {
                self.forward(terms.chunks(size).map(|block| self.forward(block.iter().copied())))
            }
            Order::Ascending => by_magnitude(false),
            Order::Descending => by_magnitude(true),
            Order::Compensated => self.compensated(terms),
        }
    }

    fn forward(&self, terms: impl Iterator<Item = f64>) -> f64 {
        terms.reduce(|sum, x| self.add(sum, x)).unwrap_or(0.0)
    }

    fn compensated(&self, terms: &[f64]) -> f64 {
        let (mut sum, mut lost) = (0.0, 0.0);
        for &x in terms {
            let term = self.sub(x, lost);
            let next = self.add(sum, term);
            lost = self.sub(self.sub(next, sum), term);
            sum = next;
        }
        // Compensation makes NaN of an infinity.
        if sum.is_finite() { sum } else { self.total(terms, Order::Given) }
    }

    /// The sum of products.
    pub(super) fn products(&self, terms: &[(f64, f64)], order: Order) -> f64 {
        let fused = |terms: &mut dyn Iterator<Item = (f64, f64)>| {
            let start = terms.next().map_or(0.0, |(x, y)| self.mul(x, y));
            terms.fold(start, |sum, (x, y)| self.rounded(x.mul_add(y, self.operand(sum))))
        };
        match (self.way.products, order) {
            (Products::Fused, Order::Reversed) => fused(&mut terms.iter().rev().copied()),
            (Products::Fused, Order::Lanes(lanes)) => {
                let lane = |k: usize| fused(&mut terms.iter().skip(k).step_by(lanes).copied());
                self.forward((0..lanes.min(terms.len())).map(lane))
            }
            (Products::Fused, Order::Blocks(size)) => {
                self.forward(terms.chunks(size).map(|block| fused(&mut block.iter().copied())))
            }
            (Products::Fused, _) => fused(&mut terms.iter().copied()),
            (Products::Rounded, order) => {
                let products: Vec<f64> = terms.iter().map(|&(x, y)| self.mul(x, y)).collect();
                self.total(&products, order)
            }
        }
    }

    /// The mean of a lane, as normalisations take it.
    pub(super) fn lane_mean(&self, lane: &[f64]) -> f64 {
        let by_sum = |terms: &[f64]| self.div(self.total(terms, Order::Lanes(PARTS)), terms.len() as f64);
        match self.way.moments {
            Moments::TwoPasses => by_sum(lane),
            Moments::Corrected => {
                let first = by_sum(lane);
                let rest: Vec<f64> = lane.iter().map(|&x| self.sub(x, first)).collect();
                self.add(first, by_sum(&rest))
            }
            Moments::Running => self.running(lane).0,
        }
    }

    /// The variance of a lane about its mean.
    pub(super) fn lane_variance(&self, lane: &[f64], mean: f64) -> f64 {
        let squares = match self.way.moments {
            Moments::TwoPasses | Moments::Corrected => {
                let centred: Vec<(f64, f64)> =
                    lane.iter().map(|&x| self.sub(x, mean)).map(|d| (d, d)).collect();
                self.products(&centred, Order::Lanes(PARTS))
            }
            Moments::Running => self.running(lane).1,
        };
        self.div(squares, lane.len() as f64)
    }

    /// The mean, and the sum of the squares of the differences from it, as they run along a lane.
    fn running(&self, lane: &[f64]) -> (f64, f64) {
        let (mut mean, mut squares) = (0.0, 0.0);
        for (k, &x) in (1u32..).zip(lane) {
            let before = self.sub(x, mean);
            mean = self.add(mean, self.div(before, k.into()));
            squares = self.add(squares, self.mul(before, self.sub(x, mean)));
        }
        (mean, squares)
    }
}

#[cfg(test)]
mod tests {
    use ir::DType;

    use super::*;
    use crate::controls::way::Way;

    fn single() -> Own {
        Own::new(Way::PLAIN, DType::F32)
    }

    const ORDERS: [Order; 8] = [
        Order::Given,
        Order::Reversed,
        Order::Pairwise,
        Order::Lanes(2),
        Order::Blocks(3),
        Order::Ascending,
        Order::Descending,
        Order::Compensated,
    ];

    #[test]
    fn every_order_adds_every_term_once() {
        let terms: Vec<f64> = (1..=11).map(f64::from).collect();
        for order in ORDERS {
            assert_eq!(single().total(&terms, order), 66.0, "{order:?}");
            let squares: Vec<(f64, f64)> = terms.iter().map(|&x| (x, x)).collect();
            assert_eq!(single().products(&squares, order), 506.0, "{order:?}");
        }
    }

    #[test]
    fn orders_part_where_steps_round() {
        // 2^24 + 1 is no f32.
        let terms = [16_777_216.0, 1.0, 1.0, 1.0];
        assert_eq!(single().total(&terms, Order::Given), 16_777_216.0);
        assert_eq!(single().total(&terms, Order::Reversed), 16_777_220.0);
        assert_eq!(single().total(&terms, Order::Pairwise), 16_777_218.0);
        assert_eq!(single().total(&terms, Order::Compensated), 16_777_220.0);
    }

    #[test]
    fn a_fused_product_is_not_rounded() {
        let fused = Own::new(Way { products: Products::Fused, ..Way::PLAIN }, DType::F32);
        let x = f64::from(1.0f32 + f32::EPSILON);
        // x² has a bit more than f32, which shows when the rest is taken away.
        let terms = [(-1.0, 1.0 + 2.0 * f64::from(f32::EPSILON)), (x, x)];
        assert_eq!(single().products(&terms, Order::Given), 0.0);
        assert_eq!(fused.products(&terms, Order::Given), f64::from(f32::EPSILON).powi(2));
    }

    #[test]
    fn running_moments_are_those_of_two_passes_but_for_rounding() {
        let lane = [4.0, 4.125, 3.9375, 4.25, 4.0625];
        let running = Own::new(Way { moments: Moments::Running, ..Way::PLAIN }, DType::F32);
        let (mean, variance) = (single().lane_mean(&lane), single().lane_variance(&lane, 4.075));
        assert!((running.lane_mean(&lane) - mean).abs() < 1e-6);
        assert!((running.lane_variance(&lane, 4.075) - variance).abs() < 1e-6);
        assert!((variance - 0.011_562_5).abs() < 1e-6);
    }
}
