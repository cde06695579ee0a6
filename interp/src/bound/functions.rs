//! Library functions and powers of balls.

use ir::DType;
use ir::format::FloatFormat;
use ops::Arith;
use ops::arith::Fun;
use ops::plain;

use super::Bound;
use super::ball::{Ball, State, Whole};
use crate::profile::Accuracy;

/// The largest whole exponent that a power may be taken to by products: many libraries have loops for small ones alone.
const MOST_FACTORS: f64 = 65_536.0;

/// What a function makes of an interval.
pub(crate) enum Image {
    /// Its value at the centre, and how far the values elsewhere are from that.
    Within(f64, f64),
    /// All of the interval is outside of the domain.
    Nowhere,
    /// The interval reaches beyond the domain or over a pole.
    Unbounded,
}

/// The closed hull of a function's domain.
fn domain(f: Fun) -> (f64, f64) {
    match f {
        Fun::Sqrt | Fun::Log => (0.0, f64::INFINITY),
        Fun::Log1p => (-1.0, f64::INFINITY),
        Fun::Asin | Fun::Acos | Fun::Atanh => (-1.0, 1.0),
        Fun::Acosh => (1.0, f64::INFINITY),
        Fun::Exp
        | Fun::Expm1
        | Fun::Sin
        | Fun::Cos
        | Fun::Tan
        | Fun::Atan
        | Fun::Sinh
        | Fun::Cosh
        | Fun::Tanh
        | Fun::Asinh
        | Fun::Erf
        | Fun::Erfc
        | Fun::Sigmoid
        | Fun::Softplus => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

/// Below π by so much that the tangents at the ends of a shorter interval over a pole are apart by far more
/// than their errors.
const LESS_THAN_PI: f64 = 3.0;

/// How many ULP the value of a function is off by at most in f64.
///
/// Those of `libm` 0.2.16 were compared with 160 bits at 30,000 arguments each, and what was found is rounded
/// up: 0.87 for those of one ULP, 1.7 for sinh, 2.1 for tanh, 2.8 for erfc. Those of sigmoid and softplus
/// follow from their formulas in [`Fun::value`]: an exponential, an addition and a division; an exponential,
/// a logarithm that carries its error, and an addition.
fn own_ulps(f: Fun) -> f64 {
    match f {
        Fun::Sqrt
        | Fun::Exp
        | Fun::Log
        | Fun::Expm1
        | Fun::Log1p
        | Fun::Sin
        | Fun::Cos
        | Fun::Tan
        | Fun::Asin
        | Fun::Acos
        | Fun::Atan
        | Fun::Erf => 1.0,
        Fun::Sinh | Fun::Cosh | Fun::Asinh | Fun::Acosh | Fun::Atanh | Fun::Sigmoid => 2.0,
        Fun::Tanh | Fun::Softplus => 3.0,
        Fun::Erfc => 4.0,
    }
}

/// What `f` makes of an inexact ball.
pub(crate) fn image(f: Fun, x: Ball) -> Image {
    let value = f.value(x.value);
    let (low, high) = (x.low(), x.high());
    let (from, to) = domain(f);
    if high < from || low > to {
        return Image::Nowhere;
    }
    if low < from || high > to {
        return Image::Unbounded;
    }
    let ends = |low: f64, high: f64| (f.value(low) - value).abs().max((f.value(high) - value).abs());
    let carried = match f {
        // Lipschitz with constant 1, and between -1 and 1.
        Fun::Sin | Fun::Cos => x.error.min(2.0),
        Fun::Tan => {
            // It rises between two poles, which are π apart, and falls over one. A quotient by π does not
            // tell the branch: at 1e15 it is off by a twentieth of one. The tangents of the ends do, as
            // `libm` reduces arguments of any size exactly.
            if high - low >= LESS_THAN_PI || f.value(low) > f.value(high) {
                return Image::Unbounded;
            }
            ends(low, high)
        }
        // Even, rising with |x|.
        Fun::Cosh => {
            ends((x.value.abs() - x.error).next_down().max(0.0), (x.value.abs() + x.error).next_up())
        }
        // The others are monotone.
        _ => ends(low, high),
    };
    // A pole at the end of the interval.
    if carried.is_finite() { Image::Within(value, carried) } else { Image::Unbounded }
}

impl Bound<'_> {
    pub(super) fn function(&self, f: Fun, x: Ball) -> Ball {
        let x = self.operand(x);
        // IEEE 754 and C's edge cases: the root of a zero is that zero.
        if f == Fun::Sqrt && x.is_zero() {
            return x;
        }
        // The sign of a zero is seen in that of another zero alone, and the error of an approximated one has both.
        let x = if x.is_zero() && !x.is_exact() { Ball::exact(0.0) } else { x };
        let value = f.value(x.value);
        if x.is_undefined() {
            return Ball::undefined(value);
        }
        if !x.is_known() {
            return self.open_function(f, x, value);
        }
        if x.is_exact() && (!x.value.is_finite() || !value.is_finite()) {
            // A finite argument with an infinite result is a pole or an overflow; only a pole is determined.
            let overflow = matches!(f, Fun::Exp | Fun::Expm1 | Fun::Sinh | Fun::Cosh) && x.value.is_finite();
            let limit = value.is_finite() && value != 0.0;
            return match (overflow, limit) {
                (true, _) => self.overflown(value, 0.0),
                (false, true) => self.approximate(f, x, value, 0.0),
                (false, false) => self.determined(value),
            };
        }
        let (value, carried) = if x.is_exact() {
            (value, 0.0)
        } else {
            match image(f, x) {
                Image::Within(value, carried) => (value, carried),
                Image::Nowhere => return self.nonfinite(f64::NAN),
                Image::Unbounded => return Ball::unknown(value),
            }
        };
        // One ULP is part of every error.
        let own = (own_ulps(f) - 1.0) * value.abs() * f64::EPSILON;
        self.approximate(f, x, value, carried + own)
    }

    /// The ball of `f(x)` with the local error that the profile grants.
    fn approximate(&self, f: Fun, x: Ball, value: f64, carried: f64) -> Ball {
        let own = self.granted((self.profile.function)(f, self.dtype), f, x, value, carried);
        match self.profile.library {
            Some(library) => {
                self.reading(own, self.granted((library.function)(f, self.dtype), f, x, value, carried))
            }
            None => own,
        }
    }

    /// The ball of `f(x)` with the local error of an accuracy.
    fn granted(&self, accuracy: Accuracy, f: Fun, x: Ball, value: f64, carried: f64) -> Ball {
        if let Accuracy::Formula { abs } = accuracy {
            let floor = self.widened(value, carried, abs);
            return about(value, self.formula(f, x), floor.error);
        }
        if let (Fun::Sqrt, Accuracy::Ulp(ulps)) = (f, accuracy)
            && ulps <= self.profile.rounding
            && x.is_exact()
            && super::sums::product_is_exact(value, value, x.value)
            && self.holds(value)
        {
            return Ball::exact(value);
        }
        self.local(accuracy, x, value, carried)
    }

    /// The ball of a value with carried error and the local one of an accuracy that is not a formula.
    fn local(&self, accuracy: Accuracy, x: Ball, value: f64, carried: f64) -> Ball {
        let magnitude = x.reach();
        let ulps = |n: f64| self.rounded(value, carried, n);
        let absolute = |e: f64| self.widened(value, carried, e);
        let inside = |low: f64, high: f64| x.low() >= low && x.high() <= high;
        match accuracy {
            Accuracy::Ulp(n) => ulps(n),
            Accuracy::Formula { abs: e } => absolute(e),
            Accuracy::Slope { base, per_unit, least } => ulps((base + per_unit * magnitude).max(least)),
            Accuracy::Near { low, high, ulp, .. } if x.high() < low || x.low() > high => ulps(ulp),
            Accuracy::Either { ulp, abs } | Accuracy::Near { abs, ulp, .. } => {
                wider(ulps(ulp), absolute(abs))
            }
            Accuracy::Only { low, high, abs } if inside(low, high) => absolute(abs),
            Accuracy::Only { .. } => Ball::unknown(value),
        }
    }

    /// The textbook formula of a function, in the steps a shader would take.
    fn formula(&self, f: Fun, x: Ball) -> Ball {
        let one = self.real(1.0);
        let half = self.real(0.5);
        match f {
            Fun::Tan => self.div(self.function(Fun::Sin, x), self.function(Fun::Cos, x)),
            Fun::Sinh | Fun::Cosh => {
                let (up, down) = (self.function(Fun::Exp, x), self.function(Fun::Exp, self.neg(x)));
                let both = if f == Fun::Sinh { self.sub(up, down) } else { self.add(up, down) };
                self.mul(both, half)
            }
            Fun::Tanh => self.div(self.formula(Fun::Sinh, x), self.formula(Fun::Cosh, x)),
            Fun::Asinh => self.log_with_root(x, one),
            Fun::Acosh => self.log_with_root(x, self.real(-1.0)),
            Fun::Atanh => {
                let ratio = self.div(self.add(one, x), self.sub(one, x));
                self.mul(self.function(Fun::Log, ratio), half)
            }
            Fun::Expm1 => self.sub(self.function(Fun::Exp, x), one),
            Fun::Log1p => self.function(Fun::Log, self.add(one, x)),
            Fun::Sigmoid => {
                let t = self.function(Fun::Exp, self.neg(self.abs(x)));
                let top = if x.value < 0.0 { t } else { one };
                self.div(top, self.add(one, t))
            }
            Fun::Softplus => {
                let t = self.function(Fun::Exp, self.neg(self.abs(x)));
                self.add(self.max(x, self.real(0.0)), self.function(Fun::Log, self.add(one, t)))
            }
            Fun::Asin => self.angle(x, self.other_leg(x), f.value(x.value)),
            Fun::Acos => self.angle(self.other_leg(x), x, f.value(x.value)),
            Fun::Sqrt | Fun::Exp | Fun::Log | Fun::Sin | Fun::Cos | Fun::Atan | Fun::Erf | Fun::Erfc => {
                Ball::unknown(f.value(x.value))
            }
        }
    }

    /// √(1 − x²); x² does not exceed 1 where |x| does not.
    fn other_leg(&self, x: Ball) -> Ball {
        let rest = self.sub(self.real(1.0), self.mul(x, x));
        self.function(Fun::Sqrt, self.max(rest, self.real(0.0)))
    }

    /// The angle whose tangent is y/x, with the error of an arc tangent: the angle is monotone in both.
    fn angle(&self, y: Ball, x: Ball, value: f64) -> Ball {
        if !y.is_known() || !x.is_known() {
            return Ball::unknown(value);
        }
        let corners =
            [y.low(), y.high()].map(|y| [x.low(), x.high()].map(|x| (libm::atan2(y, x) - value).abs()));
        let carried = corners.into_iter().flatten().fold(0.0, f64::max);
        match (self.profile.function)(Fun::Atan, self.dtype) {
            Accuracy::Ulp(n) | Accuracy::Either { ulp: n, .. } => self.rounded(value, carried, n),
            _ => Ball::unknown(value),
        }
    }

    /// ln(x + √(x² + c))
    fn log_with_root(&self, x: Ball, c: Ball) -> Ball {
        let root = self.function(Fun::Sqrt, self.add(self.mul(x, x), c));
        self.function(Fun::Log, self.add(x, root))
    }

    pub(super) fn power(&self, x: Ball, y: Ball) -> Ball {
        let (x, y) = (self.operand(x), self.operand(y));
        let value = plain::pow(x.value, y.value);
        if x.is_undefined() || y.is_undefined() {
            return Ball::undefined(value);
        }
        if !x.is_known() || !y.is_known() {
            return Ball::unknown(value);
        }
        if x.is_zero() && !x.is_exact() && y.low() > 0.0 {
            return Ball::either_zero();
        }
        // A limit at an infinite exponent is 0 or an infinity by any formula; of 1 and -1 IEEE 754 alone says something.
        let at_limit = !y.value.is_finite()
            && !self.profile.nonfinite_is_indeterminate
            && (x.value.abs() != 1.0 || self.profile.exact_powers);
        let (low, high) = match power_range(x, y, value) {
            Some(range) => range,
            None if x.is_exact()
                && y.is_exact()
                && (!value.is_finite() || !x.value.is_finite() || at_limit) =>
            {
                if self.profile.ignores_zero_sign && x.value == 0.0 && plain::pow(-x.value, y.value) != value
                {
                    return Ball::unknown(value);
                }
                // Determined unless it overflowed on the way.
                let of_finite = x.value.is_finite() && y.value.is_finite();
                let overflow = value.is_infinite() && of_finite && x.value != 0.0;
                return if overflow { self.overflown(value, 0.0) } else { self.determined(value) };
            }
            None => return Ball::unknown(value),
        };
        if value == 0.0 && low == 0.0 && high == 0.0 && x.value == 0.0 {
            // Whether an exponent is odd counts for -0 alone.
            let has_sign = x.is_exact() && (y.is_exact() || x.value.is_sign_positive());
            return if has_sign { Ball::exact(value) } else { Ball::either_zero() };
        }
        let carried = (high - value).max(value - low);
        let granted = |accuracy| match accuracy {
            Accuracy::Formula { .. } => self.power_by_logarithm(x, y, value, carried),
            accuracy => self.local(accuracy, self.logarithm(low, high), value, carried),
        };
        let own = granted((self.profile.power)(self.dtype));
        let power = match self.profile.library {
            Some(library) => self.reading(own, granted((library.power)(self.dtype))),
            None => own,
        };
        match self.factors(y) {
            Some(count) => wider(power, self.widened(value, carried, self.growth(count) * value.abs())),
            None => power,
        }
    }

    /// How many products a power to a whole number takes at most, where it may be computed so. Those of a negative one are divided
    /// by, which counts as some. Halves are computed in f32, whose products cost them nothing.
    fn factors(&self, exponent: Ball) -> Option<u32> {
        let count = exponent.value.abs();
        let is_whole = exponent.is_exact() && count.fract() == 0.0 && (2.0..=MOST_FACTORS).contains(&count);
        let divided = if exponent.value < 0.0 {
            (self.profile.division)(self.dtype) / self.profile.rounding
        } else {
            0.0
        };
        let is_wide = self.format.precision() >= FloatFormat::F32.precision();
        (self.profile.powers_by_products && is_wide && is_whole)
            .then(|| (count - 1.0 + divided.ceil()) as u32)
    }

    /// The power of an integer to a float, where it is an integer by every implementation: 0, 1 and, where the profile
    /// has exact powers, what the working dtype has. Of others not even the base itself is: 2^(log₂ x), rounded, is
    /// another number where x is large.
    pub(crate) fn exact_power(&self, base: Whole, exponent: Ball, to: DType) -> Option<Whole> {
        let exponent = self.operand(exponent);
        let most = if self.profile.exact_powers { f64::from(u32::MAX) } else { 1.0 };
        let is_whole = exponent.is_exact() && exponent.value.fract() == 0.0;
        if base.state != State::Sure || !is_whole || !(0.0..=most).contains(&exponent.value) {
            return None;
        }
        let power = base.value.checked_pow(exponent.value as u32)?;
        let has = |z: i128| (z as f64) as i128 == z && self.holds(z as f64);
        let fits = to.int_range().is_some_and(|(low, high)| (low..=high).contains(&power));
        let is_sure = self.profile.exact_powers || power.abs() <= 1;
        (is_sure && fits && has(power) && (power == 1 || has(base.value))).then(|| Whole::sure(power))
    }

    /// The exponent y·ln |x| of e, as what an error relative to it may be taken at for all powers from `low` to `high`.
    ///
    /// That is the largest magnitude in there. Of what is k binades below it, an ULP is 2^-k times as large, and the logarithm
    /// lower by up to (k+1)·ln 2, so that the product of both grows by no more than ln 2 of its ULP.
    fn logarithm(&self, low: f64, high: f64) -> Ball {
        let most = low.abs().max(high.abs()).max(self.format.min_normal());
        Ball::within(libm::log(most), if low == high { 0.0 } else { std::f64::consts::LN_2 })
    }

    /// The ball of |x|^y computed as 2^(y·log2 |x|), sign and zero handled apart.
    fn power_by_logarithm(&self, x: Ball, y: Ball, value: f64, carried: f64) -> Ball {
        if x.has_zero() {
            // The logarithm has no bound there; only the exact zero is handled apart.
            return if x.is_exact() { self.rounded(value, carried, 1.0) } else { Ball::unknown(value) };
        }
        let natural = self.function(Fun::Log, self.abs(x));
        let log2 = self.mul(natural, Ball::within(std::f64::consts::LOG2_E, f64::EPSILON));
        let exponent = self.mul(y, log2);
        let natural = self.mul(exponent, Ball::within(std::f64::consts::LN_2, f64::EPSILON));
        let accuracy = (self.profile.function)(Fun::Exp, self.dtype);
        let power = self.function(Fun::Exp, natural);
        let power = match accuracy {
            // The slope counts units of the base-2 exponent.
            Accuracy::Slope { .. } if power.is_known() => {
                let more = self.local(accuracy, exponent, power.value, power.error);
                Ball { value: power.value, ..more }
            }
            _ => power,
        };
        about(value, Ball { value: power.value.copysign(value), ..power }, 0.0)
    }
}

/// The ball about `value` that holds another one and has at least an error.
fn about(value: f64, ball: Ball, floor: f64) -> Ball {
    let distance = (ball.value - value).abs();
    if ball.is_known() && distance.is_finite() {
        Ball { value, error: (ball.error + distance).max(floor), ..ball }
    } else {
        Ball { value, error: f64::INFINITY, ..ball.without_limits() }
    }
}

/// The ball with the larger error of two about one value.
fn wider(a: Ball, b: Ball) -> Ball {
    if a.error >= b.error { a } else { b }
}

/// The least and the greatest power, where there is one for all of both intervals.
pub(crate) fn power_range(x: Ball, y: Ball, value: f64) -> Option<(f64, f64)> {
    if !x.value.is_finite() || !y.value.is_finite() || !value.is_finite() {
        return None;
    }
    if x.is_exact() && y.is_exact() {
        return Some((value, value));
    }
    let integer = y.is_exact() && y.value.fract() == 0.0;
    // For x > 0 the power is monotone in x and in y, so the extremes are at the corners; for an integer
    // exponent that also holds on either side of 0.
    let defined =
        x.low() > 0.0 || (x.low() >= 0.0 && y.low() > 0.0) || (integer && (y.value >= 0.0 || !x.has_zero()));
    if !defined {
        return None;
    }
    let corners = [(x.low(), y.low()), (x.high(), y.low()), (x.low(), y.high()), (x.high(), y.high())];
    let corners = if y.is_exact() { &corners[..2] } else { &corners };
    let at_zero = if x.has_zero() { plain::pow(0.0, y.value) } else { value };
    let all = || corners.iter().map(|&(x, y)| plain::pow(x, y)).chain([value, at_zero]);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pole_of_the_tangent_is_seen_at_any_distance() {
        for from in [1e3, 1e9, 1e15] {
            let near = (0..5000).map(|n| from + f64::from(n)).filter(|x| libm::tan(*x).abs() > 100.0);
            let mut poles = 0;
            for x in near {
                poles += 1;
                let is_bounded =
                    |error: f64| matches!(image(Fun::Tan, Ball::within(x, error)), Image::Within(..));
                // The pole is closer than a hundredth.
                assert!(!is_bounded(0.02) && !is_bounded(2.0), "{x}");
                // Numbers are an eighth apart at 1e15: there no interval around one keeps clear of the pole.
                let apart = libm::tan(x).abs().recip();
                assert!(from == 1e15 || is_bounded(apart / 4.0), "{x}");
            }
            assert!(poles > 10, "{poles}");
        }
    }
}
