//! Library functions and powers, as far off as they may be.

use interp::{Accuracy, Profile};
use ops::Arith;
use ops::arith::Fun;
use ops::plain;

use super::grant::{Exact, Grant};
use super::{Malice, Number};

/// What an accuracy says of one step.
enum Promise {
    /// It is as far off at most.
    Within(Grant),
    /// It is as a formula of other steps, or as far off.
    AsFormula(Grant),
    /// Nothing.
    Nothing,
}

/// What an accuracy promises at an argument (of a power, the exponent of e that it is).
fn promise(accuracy: Accuracy, argument: f64) -> Promise {
    let within = |ulps, absolute| Promise::Within(Grant { ulps, absolute });
    let is_inside = |low: f64, high: f64| low <= argument && argument <= high;
    match accuracy {
        Accuracy::Ulp(n) => within(n, 0.0),
        Accuracy::Either { ulp, abs } => within(ulp, abs),
        Accuracy::Slope { base, per_unit, least } => {
            within((base + per_unit * argument.abs()).max(least), 0.0)
        }
        Accuracy::Near { low, high, abs, .. } if is_inside(low, high) => within(0.0, abs),
        Accuracy::Near { ulp, .. } => within(ulp, 0.0),
        Accuracy::Only { low, high, abs } if is_inside(low, high) => within(0.0, abs),
        Accuracy::Only { .. } => Promise::Nothing,
        Accuracy::Formula { abs } => Promise::AsFormula(Grant { ulps: 0.0, absolute: abs }),
    }
}

impl Malice<'_> {
    /// Whose functions it has this time.
    fn calling(&self) -> &Profile {
        let own = self.profile();
        own.library.filter(|_| self.by.coin()).unwrap_or(own)
    }

    /// A function of an operand that has been read.
    pub(super) fn function(&self, f: Fun, x: Number) -> Number {
        let (value, truth) = (f.value(x.held), f.value(x.truth));
        let is_zero_of_root = f == Fun::Sqrt && x.held == 0.0;
        // The poles, what is outside of the domain, and exponentials of −∞.
        let is_special = !value.is_finite() || (value == 0.0 && !x.held.is_finite());
        if is_zero_of_root || is_special {
            return Number { held: self.loose(self.nonfinite_or(value)), truth };
        }
        match promise((self.calling().function)(f, self.dtype), x.held) {
            Promise::Within(grant) => self.off(Exact::new(value, 0.0), grant, truth),
            // Where it is as far off as the grant, else by the formula.
            Promise::AsFormula(grant) if grant.absolute > 0.0 && self.by.coin() => {
                self.off(Exact::new(value, 0.0), grant, truth)
            }
            Promise::AsFormula(_) => Number { truth, ..self.formula(f, x) },
            Promise::Nothing => Number { held: self.anything(), truth },
        }
    }

    /// The textbook formula of a function.
    fn formula(&self, f: Fun, x: Number) -> Number {
        let (one, half) = (self.real(1.0), self.real(0.5));
        let exp = |x| self.call(Fun::Exp, x);
        match f {
            Fun::Tan => self.div(self.call(Fun::Sin, x), self.call(Fun::Cos, x)),
            Fun::Sinh => self.mul(self.sub(exp(x), exp(self.neg(x))), half),
            Fun::Cosh => self.mul(self.add(exp(x), exp(self.neg(x))), half),
            Fun::Tanh => self.div(self.formula(Fun::Sinh, x), self.formula(Fun::Cosh, x)),
            Fun::Asinh => self.logarithm_of_root(x, one),
            Fun::Acosh => self.logarithm_of_root(x, self.neg(one)),
            Fun::Atanh => {
                let ratio = self.div(self.add(one, x), self.sub(one, x));
                self.mul(self.call(Fun::Log, ratio), half)
            }
            Fun::Expm1 => self.sub(exp(x), one),
            Fun::Log1p => self.call(Fun::Log, self.add(one, x)),
            Fun::Sigmoid => {
                let power = exp(self.neg(self.abs(x)));
                let top = if x.held < 0.0 { power } else { one };
                self.div(top, self.add(one, power))
            }
            Fun::Softplus => {
                let power = exp(self.neg(self.abs(x)));
                self.add(self.max(x, self.real(0.0)), self.call(Fun::Log, self.add(one, power)))
            }
            Fun::Sqrt
            | Fun::Exp
            | Fun::Log
            | Fun::Sin
            | Fun::Cos
            | Fun::Asin
            | Fun::Acos
            | Fun::Atan
            | Fun::Erf
            | Fun::Erfc => Number { held: f.value(x.held), truth: f.value(x.truth) },
        }
    }

    /// ln(x + √(x² + c))
    fn logarithm_of_root(&self, x: Number, c: Number) -> Number {
        let root = self.call(Fun::Sqrt, self.add(self.mul(x, x), c));
        self.call(Fun::Log, self.add(x, root))
    }

    /// A power of operands that have been read.
    pub(super) fn power(&self, x: Number, y: Number) -> Number {
        let (value, truth) = (plain::pow(x.held, y.held), plain::pow(x.truth, y.truth));
        let is_special = !value.is_finite() || !x.held.is_finite() || !y.held.is_finite() || x.held == 0.0;
        if is_special {
            return Number { held: self.loose(self.nonfinite_or(value)), truth };
        }
        // Below the normal numbers an ULP does not shrink with the power, and its error does.
        let exponent = (y.held * x.held.abs().ln()).max(self.format.min_normal().ln());
        match promise((self.calling().power)(self.dtype), exponent) {
            Promise::Within(grant) => self.off(Exact::new(value, 0.0), grant, truth),
            Promise::AsFormula(_) => self.power_by_logarithm(x, y, value, truth),
            Promise::Nothing => Number { held: self.anything(), truth },
        }
    }

    /// |x|^y as 2^(y·log₂|x|) with the power's sign. Logarithm and power of base 2 are as accurate as those of base e.
    fn power_by_logarithm(&self, x: Number, y: Number, value: f64, truth: f64) -> Number {
        let step = |f: Fun, argument: f64, result: f64, truth: f64| match promise(
            (self.profile().function)(f, self.dtype),
            argument,
        ) {
            Promise::Within(grant) => self.off(Exact::new(result, 0.0), grant, truth),
            Promise::AsFormula(_) | Promise::Nothing => Number { held: self.anything(), truth },
        };
        let (size, true_size) = (x.held.abs(), x.truth.abs());
        let logarithm = step(Fun::Log, size, size.log2(), true_size.log2());
        let exponent = self.times(y, logarithm);
        let power = step(Fun::Exp, exponent.held, exponent.held.exp2(), truth.abs());
        Number { held: power.held.copysign(value), truth }
    }
}
