//! The number systems that operators are read in with errors: bounds and spreads, as one.
//!
//! Their numbers are the same, and most of their steps are. Each system that operators are read in is all operators compiled once
//! more; so which of the two it is, is asked at each step. For the same reason long sums take their terms as what iterates,
//! whatever that is.

use ir::{DType, Tensor};
use ndarray::ArrayView2;
use ops::arith::{Arith, Class, Comparison, Fun, Step};
use ops::plain;
use ops::{Call, Data, Op, Operator};

use crate::bound::{Ball, Bound, State, Whole};
use crate::profile::Profile;
use crate::spread::{Spread, Tier};
use crate::walk::System;

/// A number system with errors, for one node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Balls<'t> {
    /// What every implementation that keeps a profile has.
    Bounds(Bound<'t>),
    /// What good implementations have.
    Spreads(Spread<'t>),
}

impl<'t> Balls<'t> {
    /// The system of the steps that both have in common.
    fn bound(&self) -> &Bound<'t> {
        match self {
            Self::Bounds(bound) => bound,
            Self::Spreads(spread) => spread.on_exact(),
        }
    }
}

/// A step that differs.
macro_rules! either {
    ($balls:expr, $system:ident => $step:expr) => {
        match $balls {
            Balls::Bounds($system) => $step,
            Balls::Spreads($system) => $step,
        }
    };
}

impl Arith for Balls<'_> {
    type R = Ball;
    type Z = Whole;

    fn within(&self, dtype: DType) -> Self {
        match self {
            Self::Bounds(bound) => Self::Bounds(bound.within(dtype)),
            Self::Spreads(spread) => Self::Spreads(spread.within(dtype)),
        }
    }
    fn within_or(&self, dtype: DType, narrower: DType) -> Self {
        match self {
            Self::Bounds(bound) => Self::Bounds(bound.within_or(dtype, narrower)),
            Self::Spreads(spread) => Self::Spreads(spread.within_or(dtype, narrower)),
        }
    }
    fn round(&self, x: Ball) -> Ball {
        either!(self, a => a.round(x))
    }
    fn real(&self, v: f64) -> Ball {
        either!(self, a => a.real(v))
    }
    fn int(&self, v: i128) -> Whole {
        self.bound().int(v)
    }

    fn add(&self, x: Ball, y: Ball) -> Ball {
        either!(self, a => a.add(x, y))
    }
    fn sub(&self, x: Ball, y: Ball) -> Ball {
        either!(self, a => a.sub(x, y))
    }
    fn mul(&self, x: Ball, y: Ball) -> Ball {
        either!(self, a => a.mul(x, y))
    }
    fn div(&self, x: Ball, y: Ball) -> Ball {
        either!(self, a => a.div(x, y))
    }
    fn neg(&self, x: Ball) -> Ball {
        self.bound().neg(x)
    }
    fn abs(&self, x: Ball) -> Ball {
        self.bound().abs(x)
    }
    fn min(&self, x: Ball, y: Ball) -> Ball {
        self.bound().min(x, y)
    }
    fn max(&self, x: Ball, y: Ball) -> Ball {
        self.bound().max(x, y)
    }
    fn min_of(&self, first: Ball, others: impl Iterator<Item = Ball> + Clone) -> Ball {
        self.bound().min_of(first, others)
    }
    fn max_of(&self, first: Ball, others: impl Iterator<Item = Ball> + Clone) -> Ball {
        self.bound().max_of(first, others)
    }
    fn either(&self, x: Ball, other: impl FnOnce() -> Ball) -> Ball {
        self.bound().either(x, other)
    }
    fn foldable(&self, sum: Ball, terms: [Ball; 2]) -> Ball {
        match self {
            Self::Bounds(bound) => bound.foldable(sum, terms),
            Self::Spreads(_) => sum,
        }
    }
    fn or_folded(&self, x: Ball, folded: impl FnOnce() -> Ball) -> Ball {
        self.bound().or_folded(x, folded)
    }
    fn call(&self, f: Fun, x: Ball) -> Ball {
        either!(self, a => a.call(f, x))
    }
    fn step(&self, f: Step, x: Ball) -> Ball {
        self.bound().step(f, x)
    }
    fn pow(&self, x: Ball, y: Ball) -> Ball {
        either!(self, a => a.pow(x, y))
    }
    fn fmod(&self, x: Ball, y: Ball) -> Ball {
        self.bound().fmod(x, y)
    }
    fn sum(&self, mut terms: impl Iterator<Item = Ball>) -> Ball {
        let terms: &mut dyn Iterator<Item = Ball> = &mut terms;
        either!(self, a => a.sum(terms))
    }
    fn running_sums(&self, terms: &[Ball]) -> Vec<Ball> {
        either!(self, a => a.running_sums(terms))
    }
    fn dot(&self, mut terms: impl Iterator<Item = (Ball, Ball)>) -> Ball {
        let terms: &mut dyn Iterator<Item = (Ball, Ball)> = &mut terms;
        either!(self, a => a.dot(terms))
    }
    fn dots(
        &self,
        a: &ArrayView2<'_, Ball>,
        b: &ArrayView2<'_, Ball>,
        addend: impl Fn(usize, usize) -> Option<Ball>,
    ) -> Vec<Ball> {
        let addend: &dyn Fn(usize, usize) -> Option<Ball> = &addend;
        either!(self, system => system.dots(a, b, addend))
    }
    fn affine(&self, x: Ball, centre: Ball, slope: Ball, offset: Ball) -> Ball {
        self.bound().affine_by(|terms| self.dot(terms), x, centre, slope, offset)
    }
    fn mean(&self, mut terms: impl Iterator<Item = Ball>, count: usize) -> Ball {
        let terms: &mut dyn Iterator<Item = Ball> = &mut terms;
        either!(self, a => a.mean(terms, count))
    }
    fn variance(&self, lane: &[Ball], mean: Ball) -> Ball {
        either!(self, a => a.variance(lane, mean))
    }
    fn convolved(&self, sums: &mut [Ball], image: &[Ball], filter: &[Ball]) {
        either!(self, a => a.convolved(sums, image, filter));
    }
    fn determinant(&self, matrix: &[Ball], rows: usize) -> Ball {
        match self {
            Self::Bounds(bound) => bound.determinant(matrix, rows),
            Self::Spreads(_) => ops::arith::elimination(self, matrix, rows),
        }
    }
    fn product(&self, mut terms: impl Iterator<Item = Ball>) -> Ball {
        let terms: &mut dyn Iterator<Item = Ball> = &mut terms;
        either!(self, a => a.product(terms))
    }

    fn compare(&self, c: Comparison, x: Ball, y: Ball) -> Whole {
        self.bound().compare(c, x, y)
    }
    fn is(&self, class: Class, x: Ball) -> Whole {
        self.bound().is(class, x)
    }
    fn select(&self, condition: Whole, x: Ball, y: Ball) -> Ball {
        self.bound().select(condition, x, y)
    }
    fn select_int(&self, condition: Whole, x: Whole, y: Whole) -> Whole {
        self.bound().select_int(condition, x, y)
    }
    fn truncate(&self, x: Ball, to: DType) -> Whole {
        self.bound().truncate(x, to)
    }
    fn truncated_power(&self, base: Whole, exponent: Ball, to: DType) -> Whole {
        let by_floats = || self.truncate(self.pow(self.convert(base), exponent), to);
        self.bound().exact_power(base, exponent, to).unwrap_or_else(by_floats)
    }
    fn bits(&self, x: Ball, dtype: DType) -> Whole {
        self.bound().bits(x, dtype)
    }
    fn of_bits(&self, bits: Whole, number: impl Fn(i128) -> f64) -> Ball {
        self.bound().of_bits(bits, number)
    }
    fn convert(&self, z: Whole) -> Ball {
        either!(self, a => a.convert(z))
    }
    fn arg_max(&self, xs: &[Ball], last: bool) -> Whole {
        self.bound().arg_max(xs, last)
    }
    fn exact<const N: usize>(&self, zs: [Whole; N], f: impl Fn([i128; N]) -> Option<i128>) -> Whole {
        self.bound().exact(zs, f)
    }
    fn peek(&self, z: Whole) -> Option<i128> {
        self.bound().peek(z)
    }
    fn unknown_real(&self) -> Ball {
        self.bound().unknown_real()
    }
    fn unknown_int(&self) -> Whole {
        self.bound().unknown_int()
    }
    fn undefined_real(&self) -> Ball {
        self.bound().undefined_real()
    }
    fn undefined_int(&self) -> Whole {
        self.bound().undefined_int()
    }
    fn unspecified(&self, one: Ball) -> Ball {
        self.bound().unspecified(one)
    }
    fn unspecified_int(&self, one: Whole) -> Whole {
        self.bound().unspecified_int(one)
    }
}

/// Which errors the numbers of a run have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Errors<'t> {
    /// Those of every implementation that keeps a profile.
    Bounds(&'t Profile),
    /// Those of good implementations.
    Spreads(&'t Tier),
}

impl Errors<'_> {
    fn profile(&self) -> &Profile {
        match self {
            Self::Bounds(profile) => profile,
            Self::Spreads(tier) => tier.profile(),
        }
    }
}

impl<'t> System for Errors<'t> {
    type A = Balls<'t>;

    fn arith(&self, dtype: DType) -> Balls<'t> {
        match *self {
            Self::Bounds(profile) => Balls::Bounds(Bound::new(profile, dtype)),
            Self::Spreads(tier) => Balls::Spreads(Spread::new(tier, dtype)),
        }
    }

    fn load(&self, tensor: &Tensor) -> Data<Balls<'t>> {
        let is_indeterminate = self.profile().nonfinite_is_indeterminate;
        let ball = |v: f64| {
            if is_indeterminate && !v.is_finite() { Ball::unknown(v) } else { Ball::exact(v) }
        };
        match plain::load(tensor) {
            Data::Real(a) => Data::Real(a.mapv(ball)),
            Data::Int(a) => Data::Int(a.mapv(Whole::sure)),
        }
    }

    fn constant(&self, data: Data<Balls<'t>>) -> Data<Balls<'t>> {
        match (self, data) {
            // What is folded into later operators matters to these alone.
            (Self::Bounds(profile), Data::Real(a)) if profile.folds => {
                Data::Real(a.mapv_into(Ball::as_constant))
            }
            (_, data) => data,
        }
    }

    fn narrow(&self, arith: &Balls<'t>, data: &Data<Balls<'t>>, from: DType) -> Option<Data<Balls<'t>>> {
        match (data, from.float()) {
            (Data::Real(a), Some(from)) => {
                Some(Data::Real(a.mapv(|x| arith.round(arith.bound().read(x, from)))))
            }
            _ => None,
        }
    }

    fn cast(&self, arith: &Balls<'t>, data: &Data<Balls<'t>>, from: DType) -> Option<Data<Balls<'t>>> {
        match (data, from.float(), arith) {
            (Data::Real(a), Some(from), Balls::Bounds(bound)) => {
                Some(Data::Real(a.mapv(|x| bound.cast(bound.read(x, from)))))
            }
            _ => self.narrow(arith, data, from),
        }
    }

    fn eval(&self, op: &Op, call: &Call<'_, Balls<'t>>) -> Vec<Data<Balls<'t>>> {
        op.eval(call)
    }

    fn store(&self, arith: &Balls<'t>, data: &mut Data<Balls<'t>>, dtype: DType, is_inner: bool) {
        match (data, dtype.float()) {
            (Data::Real(a), Some(format)) => match arith {
                Balls::Bounds(bound) => a.mapv_inplace(|x| bound.stored(x, format, is_inner)),
                Balls::Spreads(spread) => a.mapv_inplace(|x| spread.stored(x, format, is_inner)),
            },
            (Data::Int(a), _) => a.mapv_inplace(|z| arith.bound().stored_whole(z, dtype)),
            (Data::Real(_), None) => {}
        }
    }

    fn are_same(&self, one: &Data<Balls<'t>>, other: &Data<Balls<'t>>) -> bool {
        match (one, other) {
            (Data::Real(x), Data::Real(y)) => {
                x.iter().zip(y).all(|(x, y)| x.value.to_bits() == y.value.to_bits() && x == y)
            }
            (Data::Int(x), Data::Int(y)) => x == y,
            (Data::Real(_), Data::Int(_)) | (Data::Int(_), Data::Real(_)) => false,
        }
    }

    fn is_sure(&self, data: &Data<Balls<'t>>) -> bool {
        match data {
            Data::Real(a) => a.iter().all(|x| x.is_exact()),
            Data::Int(a) => a.iter().all(|z| z.state == State::Sure),
        }
    }

    fn open(&self, data: &mut Data<Balls<'t>>) {
        match data {
            Data::Real(a) => a.mapv_inplace(|x| Ball::unknown(x.value)),
            Data::Int(a) => a.mapv_inplace(|z| Whole::unsure(z.value)),
        }
    }
}
