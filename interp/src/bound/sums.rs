//! Long sums and products, in whatever order.
//!
//! The computed sum of n terms is Σ xᵢ·Π(1+δ) with at most n−1 factors, |δ| ≤ u, whatever the order (Higham,
//! "Accuracy and Stability of Numerical Algorithms", section 4.2), so it is off by at most ((1+u)ⁿ⁻¹−1)·Σ|xᵢ|.

use ir::format::exponent_of;
use ops::plain::Total;

use super::ball::{Ball, Terms};
use super::{Bound, TWICE_ROUNDED};

/// Whether x·y = p without rounding. Products so small that the test itself could underflow count as rounded.
pub(super) fn product_is_exact(x: f64, y: f64, p: f64) -> bool {
    p.abs() > 1e-250 && x.mul_add(y, -p) == 0.0
}

/// The exponent of the lowest set bit; large for 0.
pub(super) fn low_bit(x: f64) -> i32 {
    let bits = x.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    match (exponent, fraction) {
        (0, 0) => i32::MAX / 4,
        (0, f) => f.trailing_zeros() as i32 - 1074,
        (e, f) => (f | 1 << 52).trailing_zeros() as i32 + e - 1075,
    }
}

/// The exponent of the lowest set bit, as [`Terms`] keep it.
pub(super) fn grain(x: f64) -> i16 {
    low_bit(x).clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

/// What a long sum needs to remember.
pub(super) struct Sum {
    pub(super) terms: u32,
    total: Total,
    /// Σ of the largest magnitudes the terms may have.
    pub(super) size: f64,
    /// Σ of the largest magnitudes of the finite ones, above 0 and below.
    pub(super) finite: [f64; 2],
    /// Σ of the infinite ones.
    pub(super) infinite: f64,
    /// Σ of the least magnitudes of the terms that overflowed, above 0 and below.
    pub(super) beyond: [f64; 2],
    /// The least magnitude that a term may have which is not zero, or a part of one that is itself a sum.
    least: f64,
    /// Σ of the terms' errors.
    pub(super) carried: f64,
    /// The additional error if a term is itself a sum and its own terms are added to the total one by one: a
    /// product by an FMA, say.
    joined: f64,
    /// The exponent of the lowest bit of any term, while all are exact.
    pub(super) grain: i32,
    /// How many products are in the denormal range, where errors are absolute.
    pub(super) tiny: u32,
    pub(super) nan: bool,
    pub(super) undefined: bool,
    negative_zero: bool,
}

impl Sum {
    pub(super) fn new() -> Self {
        Self {
            terms: 0,
            total: Total::default(),
            size: 0.0,
            finite: [0.0; 2],
            infinite: 0.0,
            beyond: [0.0; 2],
            least: f64::INFINITY,
            carried: 0.0,
            joined: 0.0,
            grain: i32::MAX / 2,
            tiny: 0,
            nan: false,
            undefined: false,
            negative_zero: false,
        }
    }

    /// Takes a term as an operand has it.
    pub(super) fn take(&mut self, x: Ball, bound: &Bound<'_>) {
        self.nan |= x.is_nan();
        self.undefined |= x.is_undefined();
        if let Some(least) = x.least() {
            return self.push_beyond(x.value, least);
        }
        self.push(x.value, 0.0, x.error, low_bit(x.value));
        if x.terms().is_sum() {
            self.least = 0.0;
            self.size += (x.terms().size - x.reach()).max(0.0);
            self.grain = self.grain.min(x.terms().grain.into());
            // The error of one that is not exact has its roundings already.
            self.joined +=
                if x.is_exact() { bound.growth(x.terms().roundings) * x.terms().size } else { 0.0 };
        }
    }

    pub(super) fn push(&mut self, term: f64, rest: f64, error: f64, grain: i32) {
        self.total.add(term, rest);
        self.terms += 1;
        self.size += term.abs() + error;
        if term.is_infinite() {
            self.infinite += term;
        } else {
            self.finite[0] += (term + error).max(0.0);
            self.finite[1] += (error - term).max(0.0);
        }
        if term != 0.0 || error != 0.0 {
            self.least = self.least.min((term.abs() - error).max(0.0));
        }
        self.carried += error;
        self.grain = self.grain.min(grain);
        self.negative_zero |= term == 0.0 && term.is_sign_negative();
    }

    /// Takes a term that overflowed.
    fn push_beyond(&mut self, term: f64, least: f64) {
        self.total.add(term, 0.0);
        self.terms += 1;
        self.size = f64::INFINITY;
        self.beyond[usize::from(term.is_sign_negative())] += least;
    }

    /// Whether every term is exact.
    fn is_exact(&self) -> bool {
        self.carried == 0.0 && self.beyond == [0.0; 2]
    }

    /// Whether something is known of every term.
    pub(super) fn is_bounded(&self) -> bool {
        self.carried.is_finite()
    }

    /// Whether all terms are known, none is infinite, and none is of the other sign than another.
    pub(super) fn is_of_one_sign(&self) -> bool {
        self.is_bounded() && self.infinite == 0.0 && self.beyond == [0.0; 2] && self.finite.contains(&0.0)
    }
}

impl Bound<'_> {
    pub(super) fn long_sum(&self, terms: impl Iterator<Item = Ball>) -> Ball {
        let mut sum = Sum::new();
        let last = terms.map(|x| self.operand(x)).inspect(|&x| sum.take(x, self)).last();
        self.so_far(&sum, last)
    }

    /// The sums of no terms, of the first, of the first two …
    pub(super) fn long_sums(&self, terms: &[Ball]) -> Vec<Ball> {
        let mut sum = Sum::new();
        let none = self.so_far(&sum, None);
        let each = terms.iter().map(|&x| {
            let x = self.operand(x);
            sum.take(x, self);
            self.so_far(&sum, Some(x))
        });
        std::iter::once(none).chain(each).collect()
    }

    /// The ball of a sum of which this is the last term.
    fn so_far(&self, sum: &Sum, last: Option<Ball>) -> Ball {
        match last {
            // Nothing is added, but the accumulator may have started from +0, which a denormal may not survive.
            Some(x) if sum.terms == 1 && x.value != 0.0 => x,
            _ => self.finish(sum, sum.terms.saturating_sub(1)),
        }
    }

    /// The ball of a sum whose terms went through at most `roundings` roundings each.
    pub(super) fn finish(&self, sum: &Sum, roundings: u32) -> Ball {
        let value = sum.total.compensated();
        if sum.undefined {
            return Ball::undefined(value);
        }
        if sum.nan {
            return self.nonfinite(f64::NAN);
        }
        if sum.is_exact() && sum.infinite.is_nan() {
            return self.nonfinite(f64::NAN);
        }
        if sum.size.is_nan() || sum.size > self.format.max_finite() {
            return self.overflowing_sum(sum, value, self.growth(roundings));
        }
        if sum.is_exact() && self.all_orders_exact(sum) {
            let is_unsigned = value == 0.0 && sum.size == 0.0 && sum.negative_zero;
            return if is_unsigned { Ball::either_zero() } else { Ball::exact(value) };
        }
        let growth = self.growth(roundings);
        let by_growth = growth * sum.size;
        // A partial sum that was rounded upwards may overflow where the sum does not.
        if sum.size + by_growth >= self.first_beyond {
            return self.overflowing_sum(sum, value, growth);
        }
        // The parts of a term go through the roundings of the term and of the sum.
        let joined = sum.joined * (1.0 + growth) * TWICE_ROUNDED;
        // A single addition is off by a fraction of its result, not of its operands.
        let local = if roundings == 1 && sum.terms == 2 {
            let ulp = self.format.ulp(value.abs() + sum.carried);
            by_growth.min(self.profile.rounding * ulp)
        } else {
            by_growth
        };
        // Of normal numbers of one sign no partial sum is denormal, in whatever order.
        let stays_normal = sum.is_of_one_sign() && sum.least >= self.format.min_normal();
        let flushed = if self.profile.flush_to_zero && !stays_normal { sum.terms } else { sum.tiny };
        self.widened(value, sum.carried, local * TWICE_ROUNDED + joined + f64::from(flushed) * self.least())
    }

    /// The error of a number that is too small for the format's normal numbers.
    pub(crate) fn least(&self) -> f64 {
        if self.profile.flush_to_zero { self.format.min_normal() } else { self.format.ulp(0.0) }
    }

    /// How far so many roundings may move a number, relative to it.
    pub(super) fn growth(&self, roundings: u32) -> f64 {
        let unit = self.profile.rounding * self.format.epsilon();
        libm::expm1(f64::from(roundings) * libm::log1p(unit))
    }

    /// Whether every partial sum in every order is a number of the working dtype: all are multiples of the grain,
    /// and none reaches 2^precision grains. (The size is itself summed in f64, where it may stall at 2^53 grains.)
    fn all_orders_exact(&self, sum: &Sum) -> bool {
        if sum.size == 0.0 { sum.tiny == 0 } else { self.is_grid(sum.size, sum.grain) }
    }

    /// Whether all multiples of 2^grain up to a size are numbers of the working dtype.
    #[inline]
    pub(super) fn is_grid(&self, size: f64, grain: i32) -> bool {
        let least = if self.profile.flush_to_zero {
            self.format.min_exponent()
        } else {
            self.format.min_exponent() - self.format.mantissa_bits
        };
        grain >= least
            && size.is_finite()
            && exponent_of(size) < grain.saturating_add(self.format.precision())
    }

    /// A product in whatever order. Partial products over- and underflow on their way: the bound assumes that an
    /// implementation may multiply all the large factors first, or all the small ones.
    pub(super) fn long_product(&self, terms: impl Iterator<Item = Ball>) -> Ball {
        let terms: Vec<Ball> = terms.map(|x| self.operand(x)).collect();
        let value: f64 = terms.iter().map(|x| x.value).product();
        if terms.iter().any(|x| x.is_undefined()) {
            return Ball::undefined(value);
        }
        if terms.iter().any(|x| x.is_nan()) {
            return self.nonfinite(f64::NAN);
        }
        match terms[..] {
            [] => return Ball::exact(1.0),
            [x] => return x,
            [x, y] => return ops::Arith::mul(self, x, y),
            _ => {}
        }
        let sizes = || terms.iter().map(|x| x.value.abs() + x.error);
        let large: f64 = sizes().filter(|&s| s > 1.0).product();
        let least_sizes = terms.iter().map(|x| (x.value.abs() - x.error).max(0.0));
        let small: f64 = least_sizes.filter(|&s| s < 1.0).product();
        if large.is_nan() || large > self.format.max_finite() {
            let all_exact = terms.iter().all(|x| x.is_exact());
            let infinite =
                terms.iter().any(|x| x.value.is_infinite()) && terms.iter().all(|x| x.value.abs() >= 1.0);
            return if all_exact && infinite { self.nonfinite(value) } else { Ball::unknown(value) };
        }
        let exact = terms.iter().all(|x| x.is_exact());
        if exact && (value == 0.0 && terms.iter().any(|x| x.value == 0.0) || self.short_product(&terms)) {
            return Ball::exact(value);
        }
        let most: f64 = sizes().product();
        let count = terms.len() as f64;
        let growth = self.growth(terms.len() as u32 - 1);
        let own = count * f64::EPSILON * most;
        let carried = (most - value.abs()).max(0.0);
        // Rounding may take a partial product into the denormal range too.
        let is_tiny = small * (1.0 - growth) < self.format.min_normal();
        let underflow = if is_tiny { count * self.least() * large.max(1.0) } else { 0.0 };
        let product = self.widened(value, carried, growth * most * TWICE_ROUNDED + own + underflow);
        let Some(&sum) = terms.iter().find(|x| x.terms().is_sum()) else { return product };
        let size = |x: &Ball| if x.terms().is_sum() { x.terms().size } else { x.value.abs() + x.error };
        let size = terms.iter().map(size).product();
        let more = 2 * (terms.len() as u32 - 1);
        let folded = Terms { size, roundings: sum.terms().roundings + more, ..Terms::NONE };
        self.folded(sum, product, folded, more, 0.0)
    }

    /// Whether all partial products are numbers of the working dtype, because the factors' significant bits
    /// together fit its precision.
    fn short_product(&self, terms: &[Ball]) -> bool {
        let mut digits = 1.0f64;
        let mut least = 0i32;
        for x in terms {
            let low = low_bit(x.value);
            digits *= x.value.abs() / 2f64.powi(low);
            least += low.min(0);
        }
        digits < 2f64.powi(self.format.precision()) && least >= self.format.min_exponent()
    }
}

#[cfg(test)]
mod tests {
    use ir::DType;
    use ir::format::FloatFormat;
    use ops::Arith;

    use super::*;
    use crate::profile::Profile;

    #[test]
    fn a_product_may_be_added_before_it_is_rounded() {
        let [x, y, z] = [1.126_635_9f32, 0.498_032_45, -0.56].map(f64::from);
        let fused = ir::round::round_to(DType::F32, x.mul_add(y, z));
        let sums = |profile| {
            let bound = Bound::new(profile, DType::F32);
            let product = bound.stored(bound.mul(bound.real(x), bound.real(y)), FloatFormat::F32, false);
            let terms = [product, bound.real(z)];
            let running = bound.running_sums(&terms)[2];
            [bound.sum(terms.into_iter()), bound.add(product, bound.real(z)), running]
        };
        for sum in sums(&Profile::DECLARED) {
            assert!((sum.low()..=sum.high()).contains(&fused) && sum.error < 2e-7, "{sum:?} {fused}");
        }
        // What is written as two operators is two roundings there.
        for sum in sums(&Profile::TIGHT) {
            assert!(!(sum.low()..=sum.high()).contains(&fused), "{sum:?} {fused}");
        }
    }

    #[test]
    fn running_sums_are_what_each_sum_alone_is() {
        let tiny = f64::from(f32::MIN_POSITIVE) / 4.0;
        let values =
            [0.0, -0.0, 1.5, tiny, -1.5, 1e30, 3e38, f64::INFINITY, 2.0, f64::NEG_INFINITY, f64::NAN, 1.0];
        for profile in Profile::ALL {
            for dtype in [DType::F16, DType::F32, DType::F64] {
                let bound = Bound::new(profile, dtype);
                let balls = values.map(|x| bound.real(ir::round::round_to(dtype, x)));
                let inexact = balls.map(|x| bound.mul(x, bound.real(ir::round::round_to(dtype, 1.1))));
                for terms in [balls, inexact] {
                    let alone = (0..=terms.len()).map(|n| bound.sum(terms[..n].iter().copied()));
                    let alone: Vec<String> = alone.map(|x| format!("{x:?}")).collect();
                    let running = bound.running_sums(&terms).into_iter().map(|x| format!("{x:?}"));
                    assert_eq!(running.collect::<Vec<_>>(), alone, "{} {dtype}", profile.name);
                }
            }
        }
    }
}
