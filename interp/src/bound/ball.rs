//! Numbers with bounds: what a conforming implementation may have in place of a number.

use std::hint::select_unpredictable;

use ops::plain::two_sum;

/// The error of a zero whose sign is not known: small enough that only ±0 lie inside.
const SIGN_ALONE: f64 = f64::from_bits(1);

/// x + y, or the next number above where `f64` does not have that.
fn plus(x: f64, y: f64) -> f64 {
    let (sum, rest) = two_sum(x, y);
    if rest > 0.0 { sum.next_up() } else { sum }
}

/// The least `f32` that is not below.
fn upwards(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) < x { near.next_up() } else { near }
}

/// A real number with a bound: every conforming implementation has a number in `value ± error`.
///
/// `error` 0 means that every one has exactly `value`, which may then be an infinity or NaN, sign of zero included.
/// An infinite `error` means that nothing is known (undecidable).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ball {
    /// What the reference has.
    pub value: f64,
    /// How far a conforming implementation may be from it.
    pub error: f64,
    /// What is known besides.
    pub open: Open,
}

/// Evaluation of large tensors spends most of its time on memory, so the size of a ball counts.
const _: () = assert!(size_of::<Ball>() == 32);

/// What is known of a number besides its error.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Open {
    /// That it is within the error, which may be infinite; and the sum of products that it is, if it is one: of one product, or of many.
    Within(Terms),
    /// That it is an element of a constant of the model, with which optimisers compute beforehand. It is within the error.
    Constant,
    /// A number that overflowed, or that came of one, in whatever format an implementation computes:
    /// it has the sign of the value, and is infinite or at least this large, which is above 0. The error is
    /// infinite.
    Beyond(f64),
    /// NaN, which may have lost against numbers: then it is one of these. The value is NaN and the error is infinite.
    NaNOr {
        /// The least of the numbers, rounded down.
        low: f32,
        /// The greatest, rounded up.
        high: f32,
    },
    /// That the specification does not define it. The error is infinite.
    Undefined,
}

/// What a sum of products was made of: later steps may be folded into its terms.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Terms {
    /// Σ of the magnitudes of the terms; 0 where there is no sum.
    pub size: f64,
    /// How many roundings a term goes through.
    pub roundings: u32,
    /// The exponent of the lowest bit of any term; `i16::MIN` where terms are not exact.
    pub grain: i16,
    /// Whether a factor of all its terms may be moved behind a later sum.
    pub scaled: Scaled,
}

/// Whether the last step on a sum multiplied it by a factor: then that may be moved behind a later sum of such products.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scaled {
    /// It did not.
    No,
    /// It did, and the dtype has the product.
    Exactly,
    /// It did, and the product may be rounded.
    Rounded,
}

impl Scaled {
    /// How many roundings it adds to a term of the later sum: that of the sum's product, and that of the product before
    /// which then nobody makes.
    pub(super) const fn roundings(self) -> u32 {
        match self {
            Self::No => 0,
            Self::Exactly => 1,
            Self::Rounded => 2,
        }
    }
}

impl Terms {
    /// No sum.
    pub const NONE: Self = Self { size: 0.0, roundings: 0, grain: i16::MIN, scaled: Scaled::No };

    /// Whether there is a sum.
    pub fn is_sum(self) -> bool {
        self.size > 0.0
    }
}

impl Ball {
    /// A number that every implementation has.
    pub const fn exact(value: f64) -> Self {
        Self::within(value, 0.0)
    }

    /// A number that implementations have to within an error.
    pub const fn within(value: f64, error: f64) -> Self {
        Self { value, error, open: Open::Within(Terms::NONE) }
    }

    /// A number that implementations may disagree about as they like.
    pub const fn unknown(value: f64) -> Self {
        Self::within(value, f64::INFINITY)
    }

    /// A number of which only the sign and a least magnitude are known.
    pub const fn beyond(value: f64, least: f64) -> Self {
        Self { open: Open::Beyond(least), ..Self::unknown(value) }
    }

    /// NaN, or a number between two.
    pub fn nan_or((low, high): (f64, f64)) -> Self {
        let (low, high) = (-upwards(-low), upwards(high));
        Self { open: Open::NaNOr { low, high }, ..Self::unknown(f64::NAN) }
    }

    /// A number that the specification does not define.
    pub const fn undefined(value: f64) -> Self {
        Self { open: Open::Undefined, ..Self::unknown(value) }
    }

    /// A zero of either sign.
    pub const fn either_zero() -> Self {
        Self::within(0.0, SIGN_ALONE)
    }

    /// Whether every implementation has a zero, of whichever sign.
    pub fn is_zero(self) -> bool {
        self.value == 0.0 && self.error <= SIGN_ALONE
    }

    /// A ball about the same number that holds another ball too.
    pub fn or(self, other: Self) -> Self {
        let same = self.value.to_bits() == other.value.to_bits() || (self.is_nan() && other.is_nan());
        // The latter of NaN, too.
        let apart = if same {
            0.0
        } else if self.value <= other.value {
            plus(other.value, -self.value)
        } else {
            plus(self.value, -other.value)
        };
        let (terms, others) = (self.terms(), other.terms());
        let terms = if others.size > terms.size { others } else { terms };
        let error = match plus(apart, other.error) {
            0.0 if same => self.error,
            0.0 => self.error.max(SIGN_ALONE),
            reach if reach.is_finite() && self.is_known() => self.error.max(reach),
            _ => f64::INFINITY,
        };
        Self { error, ..self }.with_terms(terms)
    }

    /// Whether every implementation has the same.
    pub fn is_exact(self) -> bool {
        self.error == 0.0
    }

    /// Whether there is a bound.
    pub fn is_known(self) -> bool {
        self.error < f64::INFINITY
    }

    /// Whether the specification leaves it undefined.
    pub fn is_undefined(self) -> bool {
        self.open == Open::Undefined
    }

    /// Whether some implementation has NaN where every one has that or a number that is known.
    pub fn may_be_nan(self) -> bool {
        self.is_nan() || matches!(self.open, Open::NaNOr { .. })
    }

    /// Whether it is an infinity or of a least magnitude in every implementation.
    pub fn is_beyond(self) -> bool {
        self.least().is_some()
    }

    /// The sum of products that it is.
    pub fn terms(self) -> Terms {
        if let Open::Within(terms) = self.open { terms } else { Terms::NONE }
    }

    /// This number as a sum of products. A number without a bound is none: nothing is folded into its terms.
    pub fn with_terms(self, terms: Terms) -> Self {
        match self.open {
            Open::Within(_) | Open::Constant => Self { open: Open::Within(terms), ..self },
            Open::NaNOr { .. } => Self { open: Open::Within(Terms::NONE), ..self },
            Open::Beyond(_) | Open::Undefined => self,
        }
    }

    /// This number as an element of a constant.
    #[must_use]
    pub fn as_constant(self) -> Self {
        if self.is_exact() { Self { open: Open::Constant, ..self } } else { self }
    }

    /// Whether it is an element of a constant.
    pub fn is_constant(self) -> bool {
        self.open == Open::Constant
    }

    /// The least magnitude, where only that and the sign are known.
    pub fn least(self) -> Option<f64> {
        if let Open::Beyond(least) = self.open { Some(least) } else { None }
    }

    /// The ends of an interval that holds what every implementation has, infinities among it; `None` where one may have NaN.
    pub fn ends(self) -> Option<(f64, f64)> {
        match self.open {
            Open::Beyond(least) if self.value.is_sign_negative() => Some((f64::NEG_INFINITY, -least)),
            Open::Beyond(least) => Some((least, f64::INFINITY)),
            Open::Within(_) | Open::Constant if self.is_known() && !self.value.is_nan() => {
                Some((self.low(), self.high()))
            }
            Open::Within(_) | Open::Constant | Open::NaNOr { .. } | Open::Undefined => None,
        }
    }

    /// The ends of an interval that holds every number that implementations have: [`ends`](Self::ends), or what is left where NaN
    /// loses. `None` where every one may have NaN, or anything.
    pub fn numbers(self) -> Option<(f64, f64)> {
        if let Open::NaNOr { low, high } = self.open { Some((low.into(), high.into())) } else { self.ends() }
    }

    /// This ball where nothing is known any more of a number without a bound.
    pub fn without_limits(self) -> Self {
        match self.open {
            Open::Beyond(_) | Open::NaNOr { .. } => Self { open: Open::Within(Terms::NONE), ..self },
            Open::Within(_) | Open::Constant | Open::Undefined => self,
        }
    }

    /// The number with the other sign.
    #[must_use]
    pub fn negated(self) -> Self {
        let open = match self.open {
            Open::NaNOr { low, high } => Open::NaNOr { low: -high, high: -low },
            open => open,
        };
        Self { value: -self.value, open, ..self }
    }

    /// Whether every implementation has NaN.
    pub fn is_nan(self) -> bool {
        self.is_exact() && self.value.is_nan()
    }

    /// The least number inside, rounded down where `f64` has no such number: an interval that ends at 0 does.
    pub fn low(self) -> f64 {
        let (low, rest) = two_sum(self.value, -self.error);
        select_unpredictable(rest < 0.0, low.next_down(), low)
    }

    /// The greatest number inside, rounded up likewise.
    pub fn high(self) -> f64 {
        let (high, rest) = two_sum(self.value, self.error);
        select_unpredictable(rest > 0.0, high.next_up(), high)
    }

    /// The greatest magnitude inside.
    pub fn reach(self) -> f64 {
        self.value.abs() + self.error
    }

    /// Whether 0 is inside.
    pub fn has_zero(self) -> bool {
        self.value.abs() <= self.error && !self.is_beyond()
    }
}

/// What is known of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Every conforming implementation has it.
    Sure,
    /// Conforming implementations may have another: no further below than this, and above.
    Within {
        /// How far it may be below.
        below: u32,
        /// How far above.
        above: u32,
    },
    /// One step gave an integer that the dtype does not have. Implementations may wrap, saturate or go through a float.
    Overflown,
    /// Conforming implementations may differ.
    Unsure,
    /// The specification does not define it.
    Undefined,
}

/// How many results of integers that may be others are looked at.
const MOST_ALTERNATIVES: usize = 32;

/// How an integer came about within the node that computes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Made {
    /// It is an element of a tensor.
    Stored,
    /// One step gave it, of elements of tensors.
    Step,
    /// Some steps gave it: a sum, say, of which implementations may wrap or saturate any part.
    Steps,
}

/// An integer or truth value, and whether it is decidable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Whole {
    /// What the reference has.
    pub value: i128,
    /// What is known of it.
    pub state: State,
    /// How it came about.
    pub made: Made,
}

impl Whole {
    /// An integer that every implementation has.
    pub const fn sure(value: i128) -> Self {
        Self { value, state: State::Sure, made: Made::Stored }
    }

    /// An integer about which implementations may differ.
    pub const fn unsure(value: i128) -> Self {
        Self { value, state: State::Unsure, made: Made::Stored }
    }

    /// An integer that implementations have between two, of which it is neither below the first nor above the second.
    pub fn between(low: i128, value: i128, high: i128) -> Self {
        let far = |distance: i128| u32::try_from(distance).ok();
        match (far(value - low), far(high - value)) {
            (Some(0), Some(0)) => Self::sure(value),
            (Some(below), Some(above)) => Self { state: State::Within { below, above }, ..Self::sure(value) },
            _ => Self::unsure(value),
        }
    }

    /// The least and the greatest that implementations have, where there is anything to be said of that.
    pub fn ends(self) -> Option<(i128, i128)> {
        match self.state {
            State::Sure => Some((self.value, self.value)),
            State::Within { below, above } => {
                Some((self.value - i128::from(below), self.value + i128::from(above)))
            }
            State::Overflown | State::Unsure | State::Undefined => None,
        }
    }

    /// How far implementations may be from it: infinitely far where nothing is known.
    pub fn error(self) -> f64 {
        self.ends().map_or(f64::INFINITY, |(low, high)| (high - self.value).max(self.value - low) as f64)
    }

    /// Whether there is a bound.
    pub fn is_known(self) -> bool {
        self.ends().is_some()
    }

    /// An integer that the specification does not define.
    pub const fn undefined(value: i128) -> Self {
        Self { value, state: State::Undefined, made: Made::Stored }
    }

    /// What a step on integers gives: `result` of the reference's, `None` where it is not defined for these.
    /// Not generic, as every such step of an operator would be compiled with a copy of it.
    pub(super) fn stepped(zs: &[Self], result: Option<i128>, step: &dyn Fn(&[i128]) -> Option<i128>) -> Self {
        let value = result.unwrap_or(0);
        if zs.iter().any(|z| z.state == State::Undefined) {
            Self::undefined(value)
        } else if zs.iter().any(|z| z.state != State::Sure) {
            Self::one_of(zs, value, step)
        } else if result.is_none() {
            Self::undefined(value)
        } else {
            let is_one = zs.iter().all(|z| z.made == Made::Stored);
            Self { made: if is_one { Made::Step } else { Made::Steps }, ..Self::sure(value) }
        }
    }

    /// What a step gives of integers some of which implementations may have otherwise: between the least and the greatest of its
    /// results, where these are few. `value` is that of the reference's.
    fn one_of(zs: &[Self], value: i128, step: &dyn Fn(&[i128]) -> Option<i128>) -> Self {
        let mut alternatives = vec![Vec::new()];
        for z in zs {
            let Some((low, high)) = z.ends() else { return Self::unsure(value) };
            if (high - low) as usize >= MOST_ALTERNATIVES / alternatives.len() {
                return Self::unsure(value);
            }
            let with = |all: &Vec<i128>, z| all.iter().copied().chain([z]).collect();
            alternatives =
                alternatives.iter().flat_map(|all| (low..=high).map(move |z| with(all, z))).collect();
        }
        let results: Option<Vec<i128>> = alternatives.iter().map(|all| step(all)).collect();
        let ends = results.and_then(|all| Some((*all.iter().min()?, *all.iter().max()?)));
        ends.map_or_else(|| Self::unsure(value), |(low, high)| Self::between(low, value, high))
    }
}
