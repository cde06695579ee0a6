//! What storing an element in a tensor does to its ball, and reading it for a step in another dtype.

use std::hint::select_unpredictable;

use ir::DType;
use ir::format::FloatFormat;
use ir::round::round_to_format;

use super::ball::Open;
use super::{Ball, Bound, Made, State, TWICE_ROUNDED, Whole};
use crate::profile::Casts;

/// The width of the formats that count as half.
const HALF: i32 = 16;

/// The least number of the format that is not below `x`.
fn ceiling(format: FloatFormat, x: f64) -> f64 {
    let near = round_to_format(format, x);
    if format == FloatFormat::F32 && near.is_finite() {
        // No branch predictor knows on which side of a number its rounding is, and of most elements that is asked.
        return select_unpredictable(near >= x, near, above(format, near));
    }
    if near >= x {
        near
    } else if near == f64::NEG_INFINITY && x > -first_beyond(format) {
        // It is nearer to what would come after the largest, which it does not reach.
        -format.max_finite()
    } else {
        above(format, near)
    }
}

/// The greatest number of the format that is not above `x`.
pub(super) fn floor(format: FloatFormat, x: f64) -> f64 {
    -ceiling(format, -x)
}

/// The number that a format would have above its largest: only what reaches it, its rounding counted, may be an infinity.
pub(super) fn first_beyond(format: FloatFormat) -> f64 {
    format.max_finite() + format.ulp(format.max_finite())
}

/// The number of the format next above one of its numbers.
fn above(format: FloatFormat, x: f64) -> f64 {
    match format {
        FloatFormat::F64 => return x.next_up(),
        FloatFormat::F32 => return f64::from((x as f32).next_up()),
        _ => {}
    }
    let ulp = format.ulp(x);
    // Below a power of two the numbers lie closer.
    let closer = x + ulp / 2.0;
    if x < 0.0 && round_to_format(format, closer) == closer { closer } else { x + ulp }
}

/// NaN, or one of these numbers as a format has it, rounded or saturated.
fn limited(format: FloatFormat, (low, high): (f32, f32)) -> Ball {
    if !format.has_nan() {
        return Ball::unknown(round_to_format(format, f64::NAN));
    }
    let most = format.max_finite();
    let up = |x: f64| if x > most { f64::INFINITY } else { ceiling(format, x.max(-most)) };
    Ball::nan_or((-up(-f64::from(low)), up(high.into())))
}

impl Bound<'_> {
    /// An element of a format as processors read it that flush denormals: those of f32, and of bf16, which is its upper half.
    /// Other formats are converted by integer arithmetic or by instructions that heed no such mode (x86's `VCVTPH2PS`), and
    /// no device is known that flushes them there.
    pub fn read(&self, x: Ball, from: FloatFormat) -> Ball {
        let is_flushed = from.min_normal() == FloatFormat::F32.min_normal();
        if is_flushed { Ball { error: self.flushed_in(from, x.value, x.error), ..x } } else { x }
    }

    /// An element of another dtype as an operand of this node: narrowed to the working dtype, rounding there.
    pub fn narrowed(&self, x: Ball) -> Ball {
        if let Some(least) = x.least() {
            return self.beyond_in(self.format, x.value, least);
        }
        if let Open::NaNOr { low, high } = x.open {
            return limited(self.format, (low, high));
        }
        if !x.is_known() || !x.value.is_finite() || (x.is_exact() && self.holds(x.value)) {
            return x;
        }
        self.rounded(x.value, x.error, self.profile.rounding)
    }

    /// An element of another dtype, cast to the working dtype.
    pub fn cast(&self, x: Ball) -> Ball {
        let value = round_to_format(self.format, x.value);
        if !x.is_exact() || !value.is_finite() {
            return self.narrowed(x);
        }
        match self.profile.casts {
            Casts::Once => Ball::exact(value),
            // What is not rounded may go on, where halves are kept in a wider format.
            Casts::ByF32 if f64::from(x.value as f32) == x.value => {
                self.operand(Ball::within(value, (x.value - value).abs()))
            }
            Casts::ByF32 | Casts::Either => self.narrowed(x),
        }
    }

    /// The element as a tensor of a format holds it. The reference is rounded to nearest; since an implementation's
    /// element is a number of the format too, the bound shrinks to the outermost such numbers inside the interval.
    /// Often only one is left, and then the comparison is bit for bit.
    ///
    /// Where the profile keeps f16 and bf16 in wider formats between operators, or all numbers within an operator that
    /// is written out (`is_inner`), the interval holds what was not rounded, too; [`Bound::output`] takes it back.
    pub fn stored(&self, x: Ball, format: FloatFormat, is_inner: bool) -> Ball {
        let stored = self.output(x, format);
        if !self.widens(format, is_inner) || !x.value.is_finite() {
            return stored;
        }
        let wide = x.error + (x.value - stored.value).abs();
        Ball { error: stored.error.max(wide), ..stored }
    }

    /// Whether elements of a format may be kept in a wider one between operators, or between the steps of one.
    pub fn widens(&self, format: FloatFormat, is_inner: bool) -> bool {
        is_inner && self.profile.widens_steps || self.profile.widens_halves && format.bits() == HALF
    }

    /// The integer as a tensor of a dtype holds it: its low bits, unless the profile leaves that open. What one step has instead
    /// is known ([`State::Overflown`]); of several, any may be the one that saturates.
    pub fn stored_whole(&self, z: Whole, dtype: DType) -> Whole {
        let value = dtype.wrap(z.value);
        if let (State::Within { .. }, Some((low, high))) = (z.state, z.ends()) {
            // Of two truth values, either says nothing.
            let says_something =
                dtype != DType::Bool && [low, high].iter().all(|&end| dtype.wrap(end) == end);
            return if says_something { Whole { made: Made::Stored, ..z } } else { Whole::unsure(value) };
        }
        let is_open = value != z.value && self.profile.integers_may_saturate && z.state == State::Sure;
        let state = match z.made {
            _ if !is_open => z.state,
            Made::Step => State::Overflown,
            Made::Stored | Made::Steps => State::Unsure,
        };
        Whole { value, state, made: Made::Stored }
    }

    /// The element as a tensor that is compared holds it.
    pub fn output(&self, x: Ball, format: FloatFormat) -> Ball {
        let value = round_to_format(format, x.value);
        if let Some(least) = x.least() {
            return self.beyond_in(format, value, least);
        }
        if let Open::NaNOr { low, high } = x.open {
            return limited(format, (low, high));
        }
        if !x.is_known() || !x.value.is_finite() || (x.is_exact() && value == x.value) {
            return Ball { value, ..x };
        }
        // Only a step that does not round could leave an exact number that the format does not have.
        let x = if x.is_exact() {
            Ball { error: self.profile.rounding * TWICE_ROUNDED * format.ulp(x.value), ..x }
        } else {
            x
        };
        let (low, high) = (ceiling(format, x.low()), floor(format, x.high()));
        let is_within = |v: f64| v.abs() <= format.max_finite();
        // Beyond the largest may be NaN, which no comparison finds.
        if !is_within(low) || !is_within(high) || !value.is_finite() {
            return self.beyond_in(format, value, x.value.abs() - x.error);
        }
        let error = (high - value).max(value - low).max(0.0);
        if value == 0.0 && error == 0.0 { Ball::either_zero() } else { Ball { value, error, ..x } }
    }
}
