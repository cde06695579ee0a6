//! Native ways to calculate, which keep a profile: what bounds are held against.

use ir::DType;
use ir::round::round_to;
use rand::{Rng, RngExt};

/// One native way to calculate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Native {
    /// What each step rounds to; f64 stands for not rounding.
    pub(crate) each: DType,
    /// How sums are made.
    pub(crate) order: Order,
    /// Whether a product is added without being rounded.
    pub(crate) fused: bool,
    /// Rounds to a random neighbour, and flushes denormals.
    pub(crate) sloppy: bool,
}

/// The order of a sum.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Left,
    Right,
    Pairwise,
    /// So many sums under way, added up in the end.
    Lanes(usize),
}

impl Native {
    pub(crate) fn round(self, v: f64, rng: &mut impl Rng) -> f64 {
        let near = round_to(self.each, v);
        let Some(format) = self.each.float() else { return near };
        if !self.sloppy || !near.is_finite() {
            return near;
        }
        if near.abs() < format.min_normal() {
            return 0.0;
        }
        let ulp = format.ulp(v);
        let other = if near > v { near - ulp } else { near + ulp };
        if near != v && rng.random() { other } else { near }
    }

    pub(crate) fn sum(self, terms: &[f64], rng: &mut impl Rng) -> f64 {
        match (self.order, terms) {
            (_, []) => 0.0,
            (_, [x]) => *x,
            (Order::Left, [rest @ .., x]) | (Order::Right, [x, rest @ ..]) => {
                let sum = self.sum(rest, rng);
                self.round(sum + x, rng)
            }
            (Order::Lanes(lanes), _) => {
                let mut sums = vec![0.0; lanes];
                for (i, &x) in terms.iter().enumerate() {
                    sums[i % lanes] = self.round(sums[i % lanes] + x, rng);
                }
                Self { order: Order::Left, ..self }.sum(&sums, rng)
            }
            (Order::Pairwise, _) => {
                let (a, b) = terms.split_at(terms.len() / 2);
                let (a, b) = (self.sum(a, rng), self.sum(b, rng));
                self.round(a + b, rng)
            }
        }
    }

    pub(crate) fn dot(self, terms: &[(f64, f64)], rng: &mut impl Rng) -> f64 {
        if self.fused {
            // Exact products; one rounding per step, as a fused multiply-add has it.
            return terms.iter().fold(0.0, |s, (x, y)| self.round(x.mul_add(*y, s), rng));
        }
        let products: Vec<f64> = terms.iter().map(|(x, y)| self.round(x * y, rng)).collect();
        self.sum(&products, rng)
    }
}
