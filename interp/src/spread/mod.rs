//! The number system of spreads: how far good implementations are from the reference.
//!
//! A bound ([`crate::bound`]) holds every implementation that keeps its profile, the worst order of every sum and all errors of
//! one sign. No implementation is that unlucky, and after a few layers the bound is wider than the values. Here errors are
//! carried by variances: independent ones add up by their squares, a long sum wanders as its roundings do, and each step is
//! as accurate as in a good implementation ([`Profile::at_its_best`]), whatever the engine's own profile grants it. An
//! element outside of its spread is not wrong; it is *suspect*. `docs/decisions/two-tiers.md` says why and what for,
//! `docs/numerics.md` how.
//!
//! The numbers are those of bounds, with other errors: a [`Ball`]'s error is [`DEVIATIONS`] standard deviations. So values and
//! what is unknown or undefined are those of the bounds, and so is what an interval means to a step function or to a comparison.

mod arith;
mod dots;
mod evaluate;
mod moments;
mod sums;
mod walk;

use std::collections::BTreeMap;

use ir::DType;
use ir::format::FloatFormat;

pub use evaluate::{Limits, limits, limits_of};

use crate::bound::{Ball, Bound};
use crate::profile::Profile;

/// How many standard deviations an error stands for.
pub const DEVIATIONS: f64 = 4.0;

/// The share of the largest rounding error that counts as the error of a rounding. A rounding error that is
/// equally likely to be anything up to the largest has 1/√3 of the largest as its deviation.
const OF_ROUNDING: f64 = DEVIATIONS / 1.732_050_807_568_877_2;

/// What good implementations of an engine's kind are taken to do.
#[derive(Clone, Debug)]
pub struct Tier {
    profile: Profile,
    accumulators: Accumulators,
}

impl Tier {
    /// That of an engine that keeps a profile and sums in these dtypes.
    pub fn new(profile: &Profile, accumulators: Accumulators) -> Self {
        Self { profile: profile.at_its_best(), accumulators }
    }

    /// What bounds would grant these implementations.
    pub(crate) const fn profile(&self) -> &Profile {
        &self.profile
    }
}

/// The dtypes in which sums of elements of a dtype are made.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Accumulators(BTreeMap<DType, DType>);

impl Accumulators {
    /// The dtype for sums of elements of one: what was said of it, or else f32 for the halves, and its own for the others.
    pub fn of(&self, dtype: DType) -> DType {
        self.0.get(&dtype).copied().unwrap_or(match dtype {
            DType::F16 | DType::BF16 => DType::F32,
            own => own,
        })
    }
}

impl FromIterator<(DType, DType)> for Accumulators {
    fn from_iter<I: IntoIterator<Item = (DType, DType)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

/// The number system of spreads, for one node.
#[derive(Clone, Copy, Debug)]
pub struct Spread<'t> {
    tier: &'t Tier,
    /// Steps on exact operands: their values, their largest errors, and what is decidable.
    bound: Bound<'t>,
    format: FloatFormat,
    /// The format in which sums are made.
    accumulator: FloatFormat,
}

impl<'t> Spread<'t> {
    /// The system for a node that calculates in a dtype.
    pub fn new(tier: &'t Tier, dtype: DType) -> Self {
        let format = |dtype: DType| dtype.float().unwrap_or(FloatFormat::F64);
        let accumulator = format(tier.accumulators.of(dtype));
        Self { tier, bound: Bound::new(&tier.profile, dtype), format: format(dtype), accumulator }
    }

    /// The steps on exact operands.
    pub(crate) const fn on_exact(&self) -> &Bound<'t> {
        &self.bound
    }

    /// What rounding a result to the working dtype adds.
    fn rounding(&self, value: f64) -> f64 {
        OF_ROUNDING * self.format.ulp(value) / 2.0
    }

    /// The ball of a rounded step with the error that its operands carry; `step` is what bounds have for exact ones.
    fn rounded(&self, step: Ball, carried: f64) -> Ball {
        self.widened(step, carried, OF_ROUNDING * step.error)
    }

    /// The ball of a library function or power, which is off by no more than its table says, and rounded at least.
    fn approximated(&self, step: Ball, carried: f64) -> Ball {
        self.widened(step, carried, step.error.max(self.rounding(step.value)))
    }

    /// The ball of a step with the error that its operands carry and one of its own, unless it is exact.
    fn widened(&self, step: Ball, carried: f64, own: f64) -> Ball {
        let has_own = !step.is_exact() && !step.is_zero();
        if !step.is_known() || !step.value.is_finite() || (carried == 0.0 && !has_own) {
            return step;
        }
        self.bound.widened(step.value, if has_own { together([carried, own]) } else { carried }, 0.0)
    }

    /// The element as a tensor of a format holds it. Rounding moves the reference itself, which no implementation shares: later
    /// steps have that as an error of their operand.
    pub(crate) fn stored(&self, x: Ball, format: FloatFormat, is_inner: bool) -> Ball {
        let stored = self.bound.stored(x, format, is_inner);
        if !stored.is_known() || stored.is_zero() {
            return stored;
        }
        let moved = (stored.value - x.value).abs();
        Ball { error: stored.error.max(x.error + moved), ..stored }
    }
}

/// What independent errors come to together.
fn together<const N: usize>(errors: [f64; N]) -> f64 {
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    // Those of the least and the largest numbers are beyond what f64 has.
    if squares.is_normal() { squares.sqrt() } else { errors.into_iter().fold(0.0, libm::hypot) }
}

/// A number as an exact operand. An inexact sum drops its `Terms`: its error already covers what folding in a
/// later factor can add ([`walk`]).
fn bare(x: Ball) -> Ball {
    if x.is_known() && !x.is_zero() && !x.is_exact() { Ball::exact(x.value) } else { x }
}
