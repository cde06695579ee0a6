//! Arithmetic as an implementation may have it: what it rounds to, in which order it sums, by which formulas it computes.
//!
//! The operators' own meanings are read over it, as they are read over bounds. So one way to calculate is tried in
//! every operator.

use interp::Accuracy;
use interp::profile::Profile;
use ir::DType;
use ir::format::FloatFormat;
use ir::round::round_to;
use ops::Arith;
use ops::arith::{Class, Comparison, Fun, Step};
use ops::plain::{self, Plain};

use super::functions;
use super::sums::Order;
use super::way::{
    Denormals, Division, Extremes, Format, Functions, Reading, Remainder, Roots, Rounding, Way, Zeros,
};

/// The number system of a way to calculate, in a node of a dtype.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    pub(super) way: Way,
    dtype: DType,
    /// What steps round to; f64 for nodes without floats.
    pub(super) format: FloatFormat,
    step: DType,
}

impl Own {
    pub(super) fn new(way: Way, dtype: DType) -> Self {
        let step = match way.format {
            Format::Own if dtype.is_float() => dtype,
            Format::Single if dtype.is_float() => wide(dtype),
            Format::Own | Format::Single | Format::Double => DType::F64,
        };
        Self { way, dtype, format: step.float().unwrap_or(FloatFormat::F64), step }
    }

    /// The same, with at least f32 for each step: in which functions of halves are computed.
    pub(super) fn widened(self) -> Self {
        let step = wide(self.step);
        Self { step, format: step.float().unwrap_or(FloatFormat::F64), ..self }
    }

    /// The result of a step.
    pub(super) fn rounded(&self, v: f64) -> f64 {
        let near = round_to(self.step, v);
        self.flushed(if near == v { near } else { self.neighbour(v, near) })
    }

    /// A number as it is read or given, where a denormal may count as 0, and a 0 may have no sign.
    fn flushed(&self, v: f64) -> f64 {
        let is_flushed = self.way.denormals == Denormals::Flushed && v.abs() < self.format.min_normal();
        match (is_flushed || v == 0.0, self.way.zeros) {
            (true, Zeros::Positive) => 0.0,
            (true, Zeros::Signed) => 0f64.copysign(v),
            (false, _) => v,
        }
    }

    /// The number of the format on the side that the rounding asks for.
    fn neighbour(&self, v: f64, near: f64) -> f64 {
        let (above, below) = match self.way.rounding {
            Rounding::Nearest => return near,
            _ if !near.is_finite() || v.is_nan() || self.format == FloatFormat::F64 => return near,
            _ if near > v => (near, near - self.format.ulp(v)),
            _ => (near + self.format.ulp(v), near),
        };
        let toward = |is_up: bool| if is_up { above } else { below };
        let chosen = match self.way.rounding {
            Rounding::Nearest => near,
            Rounding::Up => above,
            Rounding::Down => below,
            Rounding::TowardsZero => toward(v < 0.0),
            Rounding::Either => toward(v.to_bits() & 1 == 0),
        };
        if chosen.abs() <= self.format.max_finite() { chosen } else { near }
    }

    /// An operand of a step, which is a number of the format as its results are.
    pub(super) fn operand(&self, x: f64) -> f64 {
        self.flushed(round_to(self.step, x))
    }

    /// What the format has no normal number for.
    fn is_extreme(&self, v: f64) -> bool {
        !(self.format.min_normal()..=self.format.max_finite()).contains(&v.abs())
    }

    fn plain(&self) -> Plain<'static> {
        Plain::new(self.dtype)
    }

    /// How far a function may be off under [`Profile::TIGHT`] beyond its rounding, in ULP.
    fn granted(&self, f: Fun) -> f64 {
        let granted = match (Profile::TIGHT.function)(f, self.dtype) {
            Accuracy::Ulp(ulp) | Accuracy::Either { ulp, .. } => ulp,
            Accuracy::Slope { .. }
            | Accuracy::Near { .. }
            | Accuracy::Only { .. }
            | Accuracy::Formula { .. } => 0.0,
        };
        // A little less, as the library's own last bit is in it.
        if granted > 0.5 { granted - 0.5 - 1.0 / 64.0 } else { 0.0 }
    }

    fn displaced(&self, f: Fun, x: f64, direction: f64) -> f64 {
        let v = f.value(x);
        let format = self.dtype.float().unwrap_or(FloatFormat::F64);
        let moved = v + direction * self.granted(f) * format.ulp(v);
        // Beyond the next power of two the rounding alone is as much as is granted.
        let is_granted = x != 0.0 && v != 0.0 && moved.is_finite() && format.ulp(moved) <= format.ulp(v);
        if is_granted { moved } else { v }
    }
}

/// The dtype, or f32 where it is narrower.
fn wide(dtype: DType) -> DType {
    if dtype.bits() < DType::F32.bits() { DType::F32 } else { dtype }
}

impl Arith for Own {
    type R = f64;
    type Z = i128;

    fn within(&self, dtype: DType) -> Self {
        Self::new(self.way, dtype)
    }
    fn real(&self, v: f64) -> f64 {
        v
    }
    fn int(&self, v: i128) -> i128 {
        v
    }
    fn add(&self, x: f64, y: f64) -> f64 {
        self.rounded(self.operand(x) + self.operand(y))
    }
    fn sub(&self, x: f64, y: f64) -> f64 {
        self.rounded(self.operand(x) - self.operand(y))
    }
    fn mul(&self, x: f64, y: f64) -> f64 {
        self.rounded(self.operand(x) * self.operand(y))
    }
    fn div(&self, x: f64, y: f64) -> f64 {
        let (x, y) = (self.operand(x), self.operand(y));
        let reciprocal = self.rounded(1.0 / y);
        let by_reciprocal = self.rounded(x * reciprocal);
        let is_normal = !self.is_extreme(reciprocal) && !self.is_extreme(by_reciprocal);
        match self.way.division {
            Division::Reciprocal if is_normal => by_reciprocal,
            Division::Reciprocal | Division::Quotient => self.rounded(x / y),
        }
    }
    fn neg(&self, x: f64) -> f64 {
        self.flushed(-self.flushed(x))
    }
    fn abs(&self, x: f64) -> f64 {
        self.flushed(x).abs()
    }
    fn min(&self, x: f64, y: f64) -> f64 {
        let [x, y] = [x, y].map(|x| self.flushed(x));
        match self.way.extremes {
            Extremes::Ieee => plain::min(x, y),
            Extremes::Compared => {
                if x < y {
                    x
                } else {
                    y
                }
            }
        }
    }
    fn max(&self, x: f64, y: f64) -> f64 {
        let [x, y] = [x, y].map(|x| self.flushed(x));
        match self.way.extremes {
            Extremes::Ieee => plain::max(x, y),
            Extremes::Compared => {
                if x > y {
                    x
                } else {
                    y
                }
            }
        }
    }
    fn either(&self, x: f64, other: impl FnOnce() -> f64) -> f64 {
        match self.way.reading {
            Reading::Other => other(),
            Reading::First | Reading::Folded => x,
        }
    }
    fn or_folded(&self, x: f64, folded: impl FnOnce() -> f64) -> f64 {
        match self.way.reading {
            Reading::Folded => folded(),
            Reading::First | Reading::Other => x,
        }
    }
    fn call(&self, f: Fun, x: f64) -> f64 {
        let x = self.operand(x);
        let own = self.widened();
        let v = match (self.way.functions, f, self.way.roots) {
            (_, Fun::Sqrt, Roots::Reciprocal) => functions::root(&own, x),
            (Functions::Library, ..) => f.value(x),
            (Functions::BaseTwo, ..) => functions::by_base_two(&own, f, x),
            (Functions::Textbook, ..) => functions::by_textbook(&own, f, x),
            (Functions::Polynomial, ..) => functions::by_polynomial(&own, self.dtype, f, x),
            (Functions::Above, ..) => self.displaced(f, x, 1.0),
            (Functions::Below, ..) => self.displaced(f, x, -1.0),
        };
        self.rounded(v)
    }
    fn step(&self, f: Step, x: f64) -> f64 {
        self.flushed(f.value(self.flushed(x)))
    }
    fn pow(&self, x: f64, y: f64) -> f64 {
        let (x, y) = (self.operand(x), self.operand(y));
        self.rounded(match self.way.functions {
            Functions::BaseTwo => functions::power_by_base_two(&self.widened(), x, y),
            _ => plain::pow(x, y),
        })
    }
    fn fmod(&self, x: f64, y: f64) -> f64 {
        let (x, y) = (self.operand(x), self.operand(y));
        match self.way.remainder {
            Remainder::Exact => self.rounded(libm::fmod(x, y)),
            Remainder::Formula => self.sub(x, self.mul(y, self.div(x, y).trunc())),
        }
    }
    fn sum(&self, terms: impl Iterator<Item = f64>) -> f64 {
        let terms: Vec<f64> = terms.map(|x| self.operand(x)).collect();
        self.total(&terms, self.way.order)
    }
    fn dot(&self, terms: impl Iterator<Item = (f64, f64)>) -> f64 {
        let terms: Vec<(f64, f64)> = terms.map(|(x, y)| (self.operand(x), self.operand(y))).collect();
        self.products(&terms, self.way.order)
    }
    fn mean(&self, terms: impl Iterator<Item = f64>, _: usize) -> f64 {
        let terms: Vec<f64> = terms.map(|x| self.operand(x)).collect();
        self.lane_mean(&terms)
    }
    fn variance(&self, lane: &[f64], mean: f64) -> f64 {
        let lane: Vec<f64> = lane.iter().map(|&x| self.operand(x)).collect();
        self.lane_variance(&lane, mean)
    }
    fn product(&self, terms: impl Iterator<Item = f64>) -> f64 {
        let mut terms: Vec<f64> = terms.collect();
        if self.way.order != Order::Given {
            terms.reverse();
        }
        terms.into_iter().reduce(|product, x| self.mul(product, x)).unwrap_or(1.0)
    }
    fn compare(&self, c: Comparison, x: f64, y: f64) -> i128 {
        c.holds(self.flushed(x), self.flushed(y)).into()
    }
    fn is(&self, class: Class, x: f64) -> i128 {
        class.holds(x).into()
    }
    fn select(&self, condition: i128, x: f64, y: f64) -> f64 {
        self.flushed(if condition == 0 { y } else { x })
    }
    fn truncate(&self, x: f64, to: DType) -> i128 {
        self.plain().truncate(x, to)
    }
    fn bits(&self, x: f64, dtype: DType) -> i128 {
        self.plain().bits(x, dtype)
    }
    fn convert(&self, z: i128) -> f64 {
        self.plain().convert(z)
    }
    fn arg_max(&self, xs: &[f64], last: bool) -> i128 {
        plain::arg_max(xs, last) as i128
    }
    fn exact<const N: usize>(&self, zs: [i128; N], f: impl Fn([i128; N]) -> Option<i128>) -> i128 {
        f(zs).unwrap_or(0)
    }
    fn peek(&self, z: i128) -> Option<i128> {
        Some(z)
    }
    fn unknown_real(&self) -> f64 {
        f64::NAN
    }
    fn unknown_int(&self) -> i128 {
        0
    }
    fn undefined_real(&self) -> f64 {
        f64::NAN
    }
    fn undefined_int(&self) -> i128 {
        0
    }
    fn unspecified(&self, one: f64) -> f64 {
        one
    }
    fn unspecified_int(&self, one: i128) -> i128 {
        one
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controls::way::Way;

    fn single(way: Way) -> Own {
        Own::new(way, DType::F32)
    }

    #[test]
    fn a_step_rounds_to_the_side_that_the_way_says_and_keeps_what_the_format_has() {
        let third = 1.0 / 3.0;
        let by = |rounding| single(Way { rounding, ..Way::PLAIN });
        let (up, down) = (by(Rounding::Up).rounded(third), by(Rounding::Down).rounded(third));
        assert!(down < third && third < up && f64::from((down as f32).next_up()) == up);
        assert_eq!(by(Rounding::TowardsZero).rounded(-third), -down);
        let all = [Rounding::Nearest, Rounding::Up, Rounding::Down, Rounding::TowardsZero, Rounding::Either];
        assert!(all.into_iter().all(|rounding| by(rounding).add(0.25, 0.5) == 0.75));
    }

    #[test]
    fn denormals_and_signs_of_zeros_are_lost_where_the_way_says() {
        let flushed = single(Way { denormals: Denormals::Flushed, ..Way::PLAIN });
        assert_eq!(flushed.mul(1e-30, -1e-10).to_bits(), (-0.0f64).to_bits());
        assert_eq!(flushed.add(1e-40, 1.0), 1.0);
        let unsigned = single(Way { zeros: Zeros::Positive, ..Way::PLAIN });
        assert_eq!(unsigned.neg(0.0).to_bits(), 0);
        assert_eq!(single(Way::PLAIN).mul(1e-30, 1e-10), f64::from(1e-40f32));
        let denormal = f64::from(1e-40f32);
        let chosen = [flushed.neg(denormal), flushed.abs(-denormal), flushed.select(1, denormal, 1.0)];
        let extremes = [flushed.max(denormal, -1.0), flushed.min(denormal, 1.0)];
        assert!(chosen.into_iter().chain(extremes).all(|v| v == 0.0));
        assert_eq!(flushed.step(Step::Sign, denormal), 0.0);
        assert_eq!(flushed.compare(Comparison::Less, 0.0, denormal), 0);
        assert_eq!(unsigned.div(1.0, -0.0), f64::INFINITY);
        assert_eq!(single(Way::PLAIN).select(1, denormal, 1.0), denormal);
    }

    #[test]
    fn functions_by_other_formulas_are_near_the_library() {
        use Functions::{Above, BaseTwo, Below, Polynomial, Textbook};
        let exact = |f: Fun, x: f64| f.value(x);
        for functions in [BaseTwo, Textbook, Polynomial, Above, Below] {
            let own = single(Way { functions, roots: Roots::Reciprocal, ..Way::PLAIN });
            for f in
                [Fun::Exp, Fun::Sqrt, Fun::Tanh, Fun::Sinh, Fun::Asinh, Fun::Atanh, Fun::Sigmoid, Fun::Erf]
            {
                for x in [0.03, 0.4, 0.9] {
                    let (y, right) = (own.call(f, x), exact(f, x));
                    assert!((y - right).abs() <= 2e-6 * right.abs().max(0.1), "{functions:?} {f:?} {x}: {y}");
                }
            }
            assert!((own.pow(1.7, 2.3) - 1.7f64.powf(2.3)).abs() < 1e-5);
        }
        assert!(single(Way { functions: Above, ..Way::PLAIN }).call(Fun::Exp, 0.4) > 0.4f64.exp());
    }
}
