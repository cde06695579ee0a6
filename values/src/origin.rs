//! Origins: from which element of which tensor a number comes, and how to get another one.
//!
//! A number is carried through the graph by one of the elements it is calculated from: through moves of data
//! unchanged, through other steps with what undoes the step while everything else stays as it is (x + c is undone by
//! t − c, eˣ by ln t). Undone from the end to the beginning, a wanted number becomes the one that its element must
//! have. That need not be exact, and elements may share their origin, so whoever plans with this runs the graph
//! again and looks. As every number system does, it follows from the operators' meanings and knows none by name.

use std::cell::RefCell;

use ir::NodeId;
use ops::arith::Fun;
use ops::plain;

use crate::trace::Traced;

/// The most branches of one operator that are noted.
const BRANCHES: usize = 4096;

/// A number of either kind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// An element of a float tensor.
    Real(f64),
    /// An element of an integer or `bool` tensor.
    Int(i128),
}

impl Number {
    fn real(self) -> f64 {
        match self {
            Self::Real(v) => v,
            Self::Int(z) => z as f64,
        }
    }
}

/// An element of a tensor that may be chosen, and the number it must be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Element {
    /// The variable or constant.
    pub node: NodeId,
    /// The row-major position.
    pub index: usize,
    /// What it must be.
    pub value: Number,
}

/// What undoes a step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Undo {
    /// t
    Nothing,
    /// t − c
    Minus(f64),
    /// c − t
    From(f64),
    /// t / c
    Over(f64),
    /// c / t
    Under(f64),
    /// t to the power c
    Power(f64),
    /// The inverse of the function.
    Fun(Fun),
    /// What undoes a step on integers, by its number in the record.
    Linear(u32),
}

/// z + (t − y) / slope, for a step on integers that was linear around z, where it gave y.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    pub z: i128,
    pub y: i128,
    pub slope: i128,
}

impl Linear {
    fn apply(self, t: Number) -> Option<Number> {
        let Number::Int(t) = t else { return None };
        Some(Number::Int(self.z.checked_add(t.checked_sub(self.y)?.div_euclid(self.slope))?))
    }
}

impl Undo {
    fn apply(self, t: Number, linear: &[Linear]) -> Option<Number> {
        let real = match self {
            Self::Nothing => return Some(t),
            Self::Linear(number) => return linear.get(number as usize)?.apply(t),
            Self::Minus(c) => t.real() - c,
            Self::From(c) => c - t.real(),
            Self::Over(c) => t.real() / c,
            Self::Under(c) => c / t.real(),
            Self::Power(c) => plain::pow(t.real(), c),
            Self::Fun(f) => inverse(f, t.real()),
        };
        // A wanted NaN stays one, and the same one: what bits a calculation leaves is up to the compiler. Another that
        // arises says that there is no such number.
        let real = if real.is_nan() { f64::NAN } else { real };
        (real.is_finite() || !t.real().is_finite()).then_some(Number::Real(real))
    }
}

/// The number on which a function is `t`: the one nearest to 0 of several, NaN where there is none.
fn inverse(f: Fun, t: f64) -> f64 {
    match f {
        Fun::Sqrt => t * t,
        Fun::Exp => libm::log(t),
        Fun::Log => libm::exp(t),
        Fun::Expm1 => libm::log1p(t),
        Fun::Log1p => libm::expm1(t),
        Fun::Sin => libm::asin(t),
        Fun::Cos => libm::acos(t),
        Fun::Tan => libm::atan(t),
        Fun::Asin => libm::sin(t),
        Fun::Acos => libm::cos(t),
        Fun::Atan => libm::tan(t),
        Fun::Sinh => libm::asinh(t),
        Fun::Cosh => libm::acosh(t),
        Fun::Tanh => libm::atanh(t),
        Fun::Asinh => libm::sinh(t),
        Fun::Acosh => libm::cosh(t),
        Fun::Atanh => libm::tanh(t),
        Fun::Erf => inverse_erf(t),
        Fun::Erfc => inverse_erf(1.0 - t),
        Fun::Sigmoid => libm::log(t) - libm::log1p(-t),
        Fun::Softplus => libm::log(libm::expm1(t)),
    }
}

/// Winitzki's approximation, good to two digits.
fn inverse_erf(t: f64) -> f64 {
    const A: f64 = 0.147;
    let log = libm::log1p(-t * t);
    let half = 2.0 / (std::f64::consts::PI * A) + log / 2.0;
    libm::sqrt(libm::sqrt(half * half - log / A) - half).copysign(t)
}

/// Where a place comes from.
#[derive(Clone, Copy, Debug)]
enum Origin {
    Element(NodeId, u32),
    Step(u32, Undo),
}

/// The record of a run.
#[derive(Debug)]
pub struct Record {
    origins: RefCell<Vec<Origin>>,
    /// Apart, as they are three times as large as the others.
    linear: RefCell<Vec<Linear>>,
    /// Places that a branch was taken by, each with the number at which the other one is.
    branches: RefCell<Vec<(u32, f64)>>,
    limit: usize,
}

impl Record {
    /// An empty record of up to so many places; later results are carried by nothing.
    pub fn new(limit: usize) -> Self {
        let (origins, linear, branches) = (RefCell::default(), RefCell::default(), RefCell::default());
        Self { origins, linear, branches, limit }
    }

    fn push(&self, origin: Origin) -> Option<u32> {
        let origins = &mut *self.origins.borrow_mut();
        if origins.len() == self.limit {
            return None;
        }
        origins.push(origin);
        Some(origins.len() as u32 - 1)
    }

    /// The places that branches were taken by since the last look, each with the number at which the other branch is.
    pub fn take_branches(&self) -> Vec<(u32, f64)> {
        self.branches.take()
    }

    /// Notes that a step on this number is another at `point`.
    pub(crate) fn branch(&self, x: Traced<f64>, point: f64) {
        let branches = &mut *self.branches.borrow_mut();
        if branches.len() < BRANCHES {
            branches.extend(x.place.map(|place| (place, point)));
        }
    }

    /// An element that may be chosen.
    pub fn element<T>(&self, value: T, node: NodeId, index: usize) -> Traced<T> {
        Traced { value, place: self.push(Origin::Element(node, index as u32)) }
    }

    /// The result of a step, carried by a place.
    pub(crate) fn step<T>(&self, value: T, from: u32, undo: Undo) -> Traced<T> {
        Traced { value, place: self.push(Origin::Step(from, undo)) }
    }

    /// The result of a step on integers, carried by a place.
    pub(crate) fn linear_step(&self, value: i128, from: u32, linear: Linear) -> Traced<i128> {
        let all = &mut *self.linear.borrow_mut();
        let step = self.step(value, from, Undo::Linear(all.len() as u32));
        all.extend(step.place.map(|_| linear));
        step
    }

    /// A sum of products, which one of its terms carries.
    pub(crate) fn by_one_term(&self, value: f64, terms: &[(Traced<f64>, Traced<f64>)]) -> Traced<f64> {
        let count = terms.len().max(1);
        // Another term for each sum: sums that share an element can then be carried by different ones.
        let first = self.origins.borrow().len() % count;
        let in_turn = (0..terms.len()).map(|i| terms[(first + i) % count]);
        let carriers = in_turn.flat_map(|(x, y)| [(x, y.value), (y, x.value)]);
        let carrier = carriers.filter(|(_, c)| *c != 0.0).find_map(|(x, c)| Some((x.place?, x.value, c)));
        let Some((place, x, c)) = carrier else { return Traced::constant(value) };
        // x·c + rest = t
        let rest = self.step(value - x * c, place, Undo::Over(c));
        match rest.place {
            Some(place) => self.step(value, place, Undo::Minus(rest.value)),
            None => Traced::constant(value),
        }
    }

    /// The element that carries a place, with the number that makes the place the wanted one.
    pub fn pull(&self, place: u32, wanted: Number) -> Option<Element> {
        let (origins, linear) = (self.origins.borrow(), self.linear.borrow());
        let (mut place, mut value) = (place, wanted);
        loop {
            match *origins.get(place as usize)? {
                Origin::Element(node, index) => return Some(Element { node, index: index as usize, value }),
                Origin::Step(from, undo) => (place, value) = (from, undo.apply(value, &linear)?),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use approx::{abs_diff_eq, assert_abs_diff_eq};

    use ir::DType;
    use ops::Arith;
    use ops::arith::Step;

    use super::*;
    use crate::trace::Tracing;

    #[test]
    fn steps_are_undone_in_turn() {
        let record = Record::new(100);
        let a = Tracing::origins(&record, DType::F64);
        let x = record.element(0.5, NodeId(3), 7);
        let y = a.neg(a.mul(a.add(a.call(Fun::Exp, x), a.real(1.0)), a.real(4.0)));
        let found = record.pull(y.place.unwrap(), Number::Real(-12.0)).unwrap();
        assert_eq!((found.node, found.index), (NodeId(3), 7));
        let Number::Real(value) = found.value else { panic!("{found:?}") };
        assert_abs_diff_eq!(value, libm::log(2.0), epsilon = 1e-15);
        // No x makes it positive.
        assert_eq!(record.pull(y.place.unwrap(), Number::Real(12.0)), None);
    }

    #[test]
    fn a_nan_is_the_same_wherever_it_is_wanted() {
        let record = Record::new(100);
        let a = Tracing::origins(&record, DType::F64);
        let x = record.element(0.5, NodeId(0), 0);
        let y = a.neg(a.sub(a.real(1.0), a.call(Fun::Exp, x)));
        for wanted in [f64::NAN, -f64::NAN] {
            let Number::Real(x) = record.pull(y.place.unwrap(), Number::Real(wanted)).unwrap().value else {
                panic!("a real number")
            };
            assert_eq!(x.to_bits(), f64::NAN.to_bits());
        }
    }

    #[test]
    fn sums_and_integers_are_undone() {
        let record = Record::new(100);
        let a = Tracing::origins(&record, DType::F64);
        let x = record.element(2.0, NodeId(0), 0);
        let y = a.dot([(a.real(3.0), a.real(5.0)), (x, a.real(-2.0))].into_iter());
        let back = record.pull(y.place.unwrap(), Number::Real(1.0)).unwrap();
        assert_eq!(back.value, Number::Real(7.0));
        let z = record.element(5i128, NodeId(1), 0);
        let y = a.exact([a.int(1), z], |[p, q]| Some(p - 3 * q));
        assert_eq!(record.pull(y.place.unwrap(), Number::Int(-29)).unwrap().value, Number::Int(10));
        assert_eq!(a.exact([z], |[z]| Some(z * z)).place, None);
    }

    #[test]
    fn every_inverse_undoes_its_function() {
        let all =
            [Fun::Sqrt, Fun::Exp, Fun::Log, Fun::Log1p, Fun::Sin, Fun::Cos, Fun::Tan, Fun::Asin, Fun::Acos];
        let more =
            [Fun::Atan, Fun::Sinh, Fun::Cosh, Fun::Tanh, Fun::Asinh, Fun::Atanh, Fun::Sigmoid, Fun::Softplus];
        for f in all.into_iter().chain(more) {
            assert!(abs_diff_eq!(inverse(f, f.value(0.4)), 0.4, epsilon = 1e-12), "{f:?}");
        }
        assert_abs_diff_eq!(inverse(Fun::Acosh, Fun::Acosh.value(1.4)), 1.4, epsilon = 1e-12);
        assert_abs_diff_eq!(inverse(Fun::Erf, Fun::Erf.value(0.4)), 0.4, epsilon = 1e-2);
    }

    #[test]
    fn branches_are_noted_once() {
        let record = Record::new(100);
        let a = Tracing::origins(&record, DType::F64);
        let x = record.element(2.2, NodeId(0), 0);
        a.max(x, a.real(1.0));
        a.step(Step::Round, x);
        assert_eq!(record.take_branches(), [(0, 1.0), (0, 2.5)]);
        assert!(record.take_branches().is_empty());
    }
}
