//! The numbers that one step may give.
//!
//! A step has an exact result, and may be off from that by what the profile grants. Where it rounds to the working dtype, that
//! is part of what is granted: it gives the outermost number of the format that is no farther off. Where it does not
//! round yet, what the rounding takes later is left over.

use ir::format::FloatFormat;
use ir::round::round_to_format;

use super::habits::{Push, Rounding};
use super::{Malice, Number};

/// The result of a step, in twice the precision of `f64`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    pub(super) high: f64,
    /// The rest of the exact result beyond `high`; 0 if not known.
    pub(super) low: f64,
}

/// How far a step may be off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    /// In ULP of the exact result.
    pub(super) ulps: f64,
    /// Or by that, where it is more.
    pub(super) absolute: f64,
}

impl Exact {
    pub(super) fn new(high: f64, low: f64) -> Self {
        Self { high, low: if low.is_finite() { low } else { 0.0 } }
    }
}

impl Grant {
    pub(super) fn ulps(ulps: f64) -> Self {
        Self { ulps, absolute: 0.0 }
    }
}

/// The largest number of a format that is not above `x`.
fn floor(format: FloatFormat, x: f64) -> f64 {
    let near = round_to_format(format, x);
    if near <= x {
        near
    } else if near.is_infinite() {
        format.max_finite()
    } else if format == FloatFormat::F64 {
        near.next_down()
    } else {
        near - format.ulp(near.next_down())
    }
}

/// The sum, rounded towards `x` in `f64`.
fn towards(x: f64, more: f64) -> f64 {
    let sum = x + more;
    match sum - x {
        moved if moved > more && more > 0.0 => sum.next_down(),
        moved if moved < more && more < 0.0 => sum.next_up(),
        _ => sum,
    }
}

impl Malice<'_> {
    /// One rounding, as the profile has it.
    pub(super) fn one_rounding(&self) -> Grant {
        Grant::ulps(self.profile().rounding)
    }

    /// What the step gives whose exact result this is.
    pub(super) fn off(&self, exact: Exact, grant: Grant, truth: f64) -> Number {
        let held = if exact.high.is_finite() {
            let is_rounding = grant.ulps <= self.profile().rounding && grant.absolute == 0.0;
            let is_held = exact.low == 0.0 && round_to_format(self.format, exact.high) == exact.high;
            if is_rounding && is_held { exact.high } else { self.pushed(exact, grant, truth) }
        } else {
            self.nonfinite_or(exact.high)
        };
        Number { held: self.loose(held), truth }
    }

    /// A number in the working dtype: a wider one is rounded.
    pub(super) fn rounded(&self, x: Number) -> Number {
        if !x.held.is_finite() || round_to_format(self.format, x.held) == x.held {
            return x;
        }
        let direction = self.direction(x.held, x.truth);
        let grant = self.one_rounding();
        let held = self.outermost(Exact::new(x.held, 0.0), grant.ulps * self.format.ulp(x.held), direction);
        Number { held: self.loose(held), ..x }
    }

    /// The number as far off as is granted, in the direction that is wanted.
    fn pushed(&self, exact: Exact, grant: Grant, truth: f64) -> f64 {
        let direction = self.direction(exact.high, truth);
        let ulp = self.format.ulp(exact.high);
        let most = (grant.ulps * ulp).max(grant.absolute);
        if self.rounds_now() {
            return self.outermost(exact, most, direction);
        }
        // It will be rounded there, where an ULP may be twice as large.
        let rounding = self.profile().rounding * self.format.ulp(exact.high.abs() + most);
        let left_over = (most - rounding).max(0.0);
        let wide = towards(exact.high, exact.low + direction * left_over);
        if self.by.habits.wide_is_single { round_to_format(FloatFormat::F32, wide) } else { wide }
    }

    /// The number of the working dtype that lies farthest in the wanted direction, and no farther from the
    /// exact one than `most`. If there is none, the nearest number.
    fn outermost(&self, exact: Exact, most: f64, direction: f64) -> f64 {
        let nearest = round_to_format(self.format, exact.high);
        if direction == 0.0 {
            return nearest;
        }
        // Of a positive direction; the other side mirrors it.
        let (high, low) = (exact.high * direction, exact.low * direction);
        // What f64 itself has lost of a function that libm gives.
        let most = if self.format == FloatFormat::F64 { most - lost(exact, most) } else { most };
        let number = floor(self.format, towards(high, low + most));
        let found = if number - high >= low { number * direction } else { nearest };
        // What underflows keeps its sign.
        if found == 0.0 && exact.high != 0.0 { found.copysign(exact.high) } else { found }
    }

    /// Whether the result of this step is rounded to the working dtype at once. No format is wider than f64.
    fn rounds_now(&self) -> bool {
        let habits = &self.by.habits;
        match habits.rounding {
            _ if self.format == FloatFormat::F64 => true,
            // That is not wider.
            _ if self.format == FloatFormat::F32 && habits.wide_is_single => true,
            Rounding::Each => true,
            Rounding::Some => self.by.coin(),
            Rounding::Last => false,
        }
    }

    /// 1, −1 or 0: where the step goes whose exact result this is.
    fn direction(&self, exact: f64, truth: f64) -> f64 {
        let up = |is_up: bool| if is_up { 1.0 } else { -1.0 };
        match self.by.habits.push {
            Push::Nearest => 0.0,
            Push::Up => 1.0,
            Push::Down => -1.0,
            Push::InTurn => {
                let turn = self.by.turn.get();
                self.by.turn.set(turn + 1);
                up(turn.is_multiple_of(2))
            }
            Push::FromZero => up(exact >= 0.0),
            Push::ToZero => up(exact < 0.0),
            Push::Apart if exact != truth && !truth.is_nan() => up(exact > truth),
            Push::AtRandom | Push::Apart => up(self.by.coin()),
        }
    }

    /// The number, or another one that the profile takes for the same: 0 for a denormal, the other zero for a zero.
    pub(super) fn loose(&self, v: f64) -> f64 {
        let profile = self.profile();
        let is_denormal = v != 0.0 && v.abs() < self.format.min_normal();
        let v = if is_denormal && profile.flush_to_zero && self.by.does(self.by.habits.flushes) {
            0.0f64.copysign(v)
        } else {
            v
        };
        let turns = v == 0.0 && profile.ignores_zero_sign && self.by.does(self.by.habits.turns_zeros);
        if turns { -v } else { v }
    }

    /// The number, or anything where the profile promises nothing of infinities and NaN.
    pub(super) fn nonfinite_or(&self, v: f64) -> f64 {
        if !v.is_finite() && self.profile().nonfinite_is_indeterminate { self.anything() } else { v }
    }

    /// Any number.
    pub(super) fn anything(&self) -> f64 {
        let most = self.format.max_finite();
        self.by.one_of(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 1.0, -3.0, most, -most])
    }
}

/// How far `f64` may be from the exact number, where it is not known by how much it is.
fn lost(exact: Exact, most: f64) -> f64 {
    let ulp = FloatFormat::F64.ulp(exact.high);
    if exact.low == 0.0 && most > ulp { ulp } else { 0.0 }
}
