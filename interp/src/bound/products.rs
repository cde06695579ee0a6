//! Sums of products, in whatever order and fused or not.
//!
//! The bound of Σ xᵢ·yᵢ needs four sums, all of which are made as the value is: in the order of the terms, in plain `f64`.
//! They are the value, the magnitudes Σ(|xᵢ|+exᵢ)(|yᵢ|+eyᵢ), and what is carried, Σ exᵢ|yᵢ| and Σ(|xᵢ|+exᵢ)eyᵢ. What else it
//! needs is known of each side alone ([`Side`]). So the bounds of many rows with many columns are matrix products
//! ([`super::dots`]), and those are the bounds of each alone, bit for bit.

use ops::plain::Total;

use super::ball::{Ball, Scaled, Terms};
use super::sums::low_bit;
use super::{Bound, TWICE_ROUNDED, fold};

/// What stands in the way of a bound, the worst last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Obstacle {
    None,
    /// An infinity that every implementation has.
    Infinite,
    Unknown,
    NaN,
    Undefined,
}

impl Obstacle {
    fn of(x: Ball) -> Self {
        if x.is_undefined() {
            Self::Undefined
        } else if x.is_nan() {
            Self::NaN
        } else if !x.is_known() {
            Self::Unknown
        } else if x.value.is_infinite() {
            Self::Infinite
        } else {
            Self::None
        }
    }
}

/// What the bound of a sum of products needs to know of the factors on one side, besides sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) obstacle: Obstacle,
    /// How many factors may be other than 0: no other product is rounded, and adding it rounds nothing.
    factors: u32,
    /// The least magnitude of these; ∞ where there are none.
    least: f64,
    /// The exponent of the lowest bit of any factor.
    grain: i32,
    /// Whether they have a factor in common that may be moved behind the sum.
    scaled: Scaled,
}

impl Side {
    /// No factors.
    pub(super) const EMPTY: Self = Self {
        obstacle: Obstacle::None,
        factors: 0,
        least: f64::INFINITY,
        grain: i32::MAX / 4,
        scaled: Scaled::No,
    };

    /// One more factor.
    pub(super) fn push(&mut self, x: Ball) {
        self.obstacle = self.obstacle.max(Obstacle::of(x));
        if x.value != 0.0 || !x.is_exact() {
            self.factors += 1;
            self.least = self.least.min(x.value.abs());
            self.grain = self.grain.min(low_bit(x.value));
            self.scaled = self.scaled.max(x.terms().scaled);
        }
    }
}

/// The sums that the bound of a sum of products is made of.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sums {
    /// Σ x·y
    pub(super) value: f64,
    /// Σ of the largest magnitudes that the terms may have.
    pub(super) size: f64,
    /// What the errors on the left make of the numbers on the right.
    pub(super) by_left: f64,
    /// What the errors on the right make of all that the left may be.
    pub(super) by_right: f64,
}

impl Sums {
    fn carried(&self) -> f64 {
        self.by_left + self.by_right
    }

    /// Whether no product has an error.
    fn are_exact(&self) -> bool {
        self.carried() == 0.0
    }

    /// One more term.
    fn push(&mut self, x: Ball, y: Ball) {
        self.value += x.value * y.value;
        self.size += x.reach() * y.reach();
        // What is not there adds nothing, even to an infinity.
        if x.error != 0.0 {
            self.by_left += spread(x.error, y.value.abs());
        }
        if y.error != 0.0 {
            self.by_right += spread(y.error, x.reach());
        }
    }
}

/// What an error makes of a number: more than nothing, however small both are. (Of elements of f64 they may be so small that f64
/// has no number for it.)
fn spread(error: f64, number: f64) -> f64 {
    let spread = error * number;
    if spread == 0.0 && number != 0.0 { f64::from_bits(1) } else { spread }
}

/// A sum of products, as its bound sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Products {
    pub(super) left: Side,
    pub(super) right: Side,
    pub(super) sums: Sums,
}

/// The signs that products have, of factors given by their numbers and largest magnitudes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs {
    may_be_above: bool,
    may_be_below: bool,
}

impl Signs {
    /// Those of no products.
    pub(super) const NONE: Self = Self { may_be_above: false, may_be_below: false };

    /// With one more product.
    pub(super) fn and(self, x: (f64, f64), y: (f64, f64)) -> Self {
        let has_both = |(value, reach): (f64, f64)| reach > 2.0 * value.abs();
        let is_either = has_both(x) || has_both(y);
        let product = x.0 * y.0;
        Self {
            may_be_above: self.may_be_above || is_either || product > 0.0,
            may_be_below: self.may_be_below || is_either || product < 0.0,
        }
    }

    /// Whether no two have different ones.
    pub(super) fn is_one(self) -> bool {
        !(self.may_be_above && self.may_be_below)
    }
}

impl Products {
    /// What stands in the way of a bound.
    pub(super) fn obstacle(&self) -> Obstacle {
        self.left.obstacle.max(self.right.obstacle)
    }

    /// How many roundings a term of the sum goes through: one for each product that may be other than 0, and
    /// those of the factors that are moved behind the sum.
    fn roundings(&self) -> u32 {
        let products = self.left.factors.min(self.right.factors);
        if products == 0 {
            0
        } else {
            products + self.left.scaled.roundings() + self.right.scaled.roundings()
        }
    }

    /// The greater of how the two sides are scaled.
    fn scaled(&self) -> Scaled {
        self.left.scaled.max(self.right.scaled)
    }

    /// Whether each product has a factor that is 0. (That of the least factors may be too small for f64.)
    fn are_zeros(&self) -> bool {
        self.sums.are_exact() && self.sums.size == 0.0 && self.left.least * self.right.least != 0.0
    }

    /// One more term.
    pub(super) fn push(&mut self, x: Ball, y: Ball) {
        self.left.push(x);
        self.right.push(y);
        self.sums.push(x, y);
    }
}

impl Bound<'_> {
    /// A factor as a product sees it. The sign of a zero alone changes no sum but one of zeros, whose sign is open in any
    /// case.
    pub(super) fn factor(&self, x: Ball) -> Ball {
        let is_signless = x.value == 0.0 && x.error == Ball::either_zero().error;
        if is_signless { Ball::exact(0.0) } else { self.operand(x) }
    }

    /// The ball of Σ x·y, term by term.
    pub(super) fn long_dot(&self, terms: impl Iterator<Item = (Ball, Ball)>) -> Ball {
        let mut products = Products { left: Side::EMPTY, right: Side::EMPTY, sums: Sums::default() };
        let mut signs = Signs::NONE;
        let mut total = Total::default();
        // The magnitudes of finite products above 0 and below.
        let (mut grain, mut finite, mut infinite) = (i32::MAX / 2, [0.0; 2], 0.0);
        // Whether every implementation has the infinities and NaN that the reference has among the products.
        let mut are_sure = true;
        for (x, y) in terms {
            let (x, y) = (self.factor(x), self.factor(y));
            products.push(x, y);
            signs = signs.and((x.value, x.reach()), (y.value, y.reach()));
            total.add_product(x.value, y.value);
            grain = grain.min(low_bit(x.value) + low_bit(y.value));
            let product = x.value * y.value;
            // A product that overflows is none of them: fused, it is added before it is rounded.
            let may_be_zero = [x, y].iter().any(|factor| !factor.is_exact() && factor.has_zero());
            if x.value.is_infinite() || y.value.is_infinite() {
                infinite += product;
                are_sure &= !may_be_zero;
            } else {
                let side = usize::from(product.is_sign_negative());
                finite[side] += x.reach() * y.reach();
                if may_be_zero {
                    finite[1 - side] += x.reach() * y.reach();
                }
            }
        }
        if self.is_compensated() {
            products.sums.value = total.compensated();
        }
        if products.obstacle() == Obstacle::Infinite {
            let other = finite[usize::from(infinite.is_sign_positive())];
            let is_determined = infinite.is_nan() || infinite.is_infinite() && self.is_unopposed(other);
            return if are_sure && is_determined {
                self.nonfinite(infinite)
            } else {
                Ball::unknown(products.sums.value)
            };
        }
        let grain = |size| Some(grain).filter(|&grain| self.is_grid(size, grain));
        self.sum_of_products(&products, || signs, grain, |roundings| self.growth(roundings))
    }

    /// The ball of a sum of products without exact infinities. Where its factors are exact, `grain` is asked for the lowest
    /// bit of any product, if the working dtype has all multiples of it up to a size; where it overflows, `signs` for
    /// those of the products; `growth` is [`Bound::growth`].
    pub(super) fn sum_of_products(
        &self,
        products: &Products,
        signs: impl FnOnce() -> Signs,
        grain: impl FnOnce(f64) -> Option<i32>,
        growth: impl FnOnce(u32) -> f64,
    ) -> Ball {
        let Sums { value, size, .. } = products.sums;
        match products.obstacle() {
            Obstacle::Undefined => return Ball::undefined(value),
            Obstacle::NaN => return self.nonfinite(f64::NAN),
            Obstacle::Unknown | Obstacle::Infinite => return Ball::unknown(value),
            Obstacle::None if size > self.format.max_finite() => {
                let roundings = products.roundings();
                let error = products.sums.carried() + growth(roundings) * size;
                let opposed = if signs().is_one() { 0.0 } else { fold::opposed(value, size, roundings) };
                return self.unopposed(self.overflown(value, error), opposed);
            }
            Obstacle::None => {}
        }
        if products.are_zeros() {
            // Of either sign: they may be scaled before they are added or after.
            return Ball::either_zero();
        }
        let roundings = products.roundings();
        if size == 0.0 {
            // Zeros, or too small for f64: the factors do not tell which, nor the sign.
            let ball = self.inexact(products, growth(roundings));
            return if ball.is_exact() { Ball::either_zero() } else { ball };
        }
        let scaled = products.scaled();
        let terms = |grain| {
            if self.profile.folds { Terms { size, roundings, grain, scaled } } else { Terms::NONE }
        };
        match self.exact_grain(products, grain) {
            Some(grain) => Ball::exact(value).with_terms(terms(grain)),
            None => self.inexact(products, growth(roundings)).with_terms(terms(i16::MIN)),
        }
    }

    /// The lowest bit of the products, if the working dtype has every partial sum in every order: all are multiples of it,
    /// and none reaches 2^precision of it. Those of the two sides are a bound of it that often suffices. (Without a
    /// factor that all have, the dtype has the partial sums too, for their ratio to their lowest bit is no larger;
    /// unless the products with that were rounded.)
    fn exact_grain(&self, products: &Products, grain: impl FnOnce(f64) -> Option<i32>) -> Option<i16> {
        if products.scaled() == Scaled::Rounded {
            return None;
        }
        let Products { left, right, sums } = products;
        let of_sides = left.grain + right.grain;
        let common = match (sums.are_exact(), self.is_grid(sums.size, of_sides)) {
            (false, _) => None,
            (true, true) => Some(of_sides),
            (true, false) => grain(sums.size),
        };
        common.map(|common| common.clamp(i16::MIN.into(), i16::MAX.into()) as i16)
    }

    /// The ball of a sum of products that is rounded; `growth` is that of its roundings.
    fn inexact(&self, products: &Products, growth: f64) -> Ball {
        let Products { left, right, sums } = products;
        let (roundings, size) = (f64::from(products.roundings()), sums.size);
        // Sums in plain f64 are rounded as often, and so are those of the errors.
        let own = if self.is_compensated() { 0.0 } else { roundings * f64::EPSILON / 2.0 };
        let slack = 1.0 + (roundings + 4.0) * f64::EPSILON;
        let local = (growth * TWICE_ROUNDED + own) * size * slack;
        // A partial sum that was rounded upwards may overflow where the sum does not.
        if size + local > self.format.max_finite() {
            return Ball::unknown(sums.value);
        }
        // Where the product of the least factors is a normal number, all are. Else all may be denormal: if the size is
        // normal, that is no more than twice what is granted for roundings.
        let is_tiny = left.least * right.least < self.format.min_normal();
        let flushed = if self.profile.flush_to_zero || is_tiny { roundings } else { 0.0 };
        self.widened(sums.value, sums.carried() * slack, local + flushed * self.least())
    }
}
