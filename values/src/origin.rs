//! The number system of origins: from which element of which tensor a number comes, and how to get another one.
//!
//! A number is carried through the graph by one of the elements it is calculated from: through moves of data
//! unchanged, through other steps with what undoes the step while everything else stays as it is (x + c is undone by
//! t − c, eˣ by ln t). Undone from the end to the beginning, a wanted number becomes the one that its element must
//! have. That need not be exact, and elements may share their origin, so whoever plans with this runs the graph
//! again and looks. As every number system does, it follows from the operators' meanings and knows none by name.

use std::cell::RefCell;

use ir::{DType, NodeId};
use ops::arith::{Arith, Class, Comparison, Fun, Step};
use ops::plain::{self, Plain};

/// The most branches of one operator that are noted.
const BRANCHES: usize = 4096;

/// A number and what carries it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Carried<T> {
    /// The number.
    pub value: T,
    /// Its place in the record; `None` where no element carries it.
    pub place: Option<u32>,
}

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
enum Undo {
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
    /// z + (t − y) / slope, for a step that was linear around z, where it gave y.
    Linear { z: i128, y: i128, slope: i128 },
}

impl Undo {
    fn apply(self, t: Number) -> Option<Number> {
        let real = match self {
            Self::Nothing => return Some(t),
            Self::Linear { z, y, slope } => {
                let Number::Int(t) = t else { return None };
                return Some(Number::Int(z.checked_add(t.checked_sub(y)?.div_euclid(slope))?));
            }
            Self::Minus(c) => t.real() - c,
            Self::From(c) => c - t.real(),
            Self::Over(c) => t.real() / c,
            Self::Under(c) => c / t.real(),
            Self::Power(c) => plain::pow(t.real(), c),
            Self::Fun(f) => inverse(f, t.real()),
        };
        // A wanted NaN stays one; another that arises says that there is no such number.
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
    /// Places that a branch was taken by, each with the number at which the other one is.
    branches: RefCell<Vec<(u32, f64)>>,
    limit: usize,
}

impl Record {
    /// An empty record of up to so many places; later results are carried by nothing.
    pub fn new(limit: usize) -> Self {
        Self { origins: RefCell::default(), branches: RefCell::default(), limit }
    }

    fn push(&self, origin: Origin) -> Option<u32> {
        let origins = &mut *self.origins.borrow_mut();
        origins.push(origin);
        (origins.len() <= self.limit).then_some(origins.len() as u32 - 1)
    }

    /// The places that branches were taken by since the last look, each with the number at which the other branch is.
    pub fn take_branches(&self) -> Vec<(u32, f64)> {
        self.branches.take()
    }

    /// Notes that a step on this number is another at `point`.
    fn branch(&self, x: Carried<f64>, point: f64) {
        let branches = &mut *self.branches.borrow_mut();
        if branches.len() < BRANCHES {
            branches.extend(x.place.map(|place| (place, point)));
        }
    }

    /// An element that may be chosen.
    pub fn element<T>(&self, value: T, node: NodeId, index: usize) -> Carried<T> {
        Carried { value, place: self.push(Origin::Element(node, index as u32)) }
    }

    /// The element that carries a place, with the number that makes the place the wanted one.
    pub fn pull(&self, place: u32, wanted: Number) -> Option<Element> {
        let origins = self.origins.borrow();
        let (mut place, mut value) = (place, wanted);
        loop {
            match *origins.get(place as usize)? {
                Origin::Element(node, index) => return Some(Element { node, index: index as usize, value }),
                Origin::Step(from, undo) => (place, value) = (from, undo.apply(value)?),
            }
        }
    }
}

/// The number system of origins, for one node.
#[derive(Clone, Copy, Debug)]
pub struct Origins<'r> {
    record: &'r Record,
    plain: Plain,
}

type R = Carried<f64>;
type Z = Carried<i128>;

impl<'r> Origins<'r> {
    /// The system that writes to a record, for a node that calculates in a dtype.
    pub fn new(record: &'r Record, dtype: DType) -> Self {
        Self { record, plain: Plain { dtype } }
    }

    fn step_from<T>(&self, value: T, from: Option<u32>, undo: Undo) -> Carried<T> {
        let place = from.and_then(|from| self.record.push(Origin::Step(from, undo)));
        Carried { value, place }
    }

    /// Notes that two numbers are compared: the first that may be chosen could equal the other.
    fn meet(&self, x: R, y: R) {
        if x.place.is_some() { self.record.branch(x, y.value) } else { self.record.branch(y, x.value) }
    }

    /// A number that one of two may carry: the first that can.
    fn either(&self, value: f64, x: (R, Option<Undo>), y: (R, Option<Undo>)) -> R {
        for (operand, undo) in [x, y] {
            if let (Some(from), Some(undo)) = (operand.place, undo) {
                return self.step_from(value, Some(from), undo);
            }
        }
        Carried { value, place: None }
    }

    /// A sum of products, which one of its terms carries.
    fn by_one_term(&self, value: f64, terms: &[(R, R)]) -> R {
        let count = terms.len().max(1);
        // Another term for each sum: sums that share an element can then be carried by different ones.
        let first = self.record.origins.borrow().len() % count;
        let in_turn = (0..terms.len()).map(|i| terms[(first + i) % count]);
        let carrier = in_turn.flat_map(|(x, y)| [(x, y.value), (y, x.value)]);
        match carrier.into_iter().find(|(x, c)| x.place.is_some() && *c != 0.0) {
            // x·c + rest = t
            Some((x, c)) => {
                let rest = self.step_from(value - x.value * c, x.place, Undo::Over(c));
                self.step_from(value, rest.place, Undo::Minus(rest.value))
            }
            None => self.real(value),
        }
    }
}

impl Arith for Origins<'_> {
    type R = R;
    type Z = Z;

    fn within(&self, dtype: DType) -> Self {
        Self::new(self.record, dtype)
    }
    fn round(&self, x: R) -> R {
        x
    }
    fn real(&self, value: f64) -> R {
        Carried { value, place: None }
    }
    fn int(&self, value: i128) -> Z {
        Carried { value, place: None }
    }
    fn add(&self, x: R, y: R) -> R {
        self.either(x.value + y.value, (x, Some(Undo::Minus(y.value))), (y, Some(Undo::Minus(x.value))))
    }
    fn sub(&self, x: R, y: R) -> R {
        self.either(x.value - y.value, (x, Some(Undo::Minus(-y.value))), (y, Some(Undo::From(x.value))))
    }
    fn mul(&self, x: R, y: R) -> R {
        let by = |c: f64| (c != 0.0).then_some(Undo::Over(c));
        self.either(x.value * y.value, (x, by(y.value)), (y, by(x.value)))
    }
    fn div(&self, x: R, y: R) -> R {
        let up = (y.value != 0.0).then(|| Undo::Over(y.value.recip()));
        let down = (x.value != 0.0).then_some(Undo::Under(x.value));
        self.either(x.value / y.value, (x, up), (y, down))
    }
    fn neg(&self, x: R) -> R {
        self.step_from(-x.value, x.place, Undo::Over(-1.0))
    }
    fn abs(&self, x: R) -> R {
        self.step_from(x.value.abs(), x.place, Undo::Over(1f64.copysign(x.value)))
    }
    fn min(&self, x: R, y: R) -> R {
        self.meet(x, y);
        let (x_wins, y_wins) = (x.value <= y.value, y.value <= x.value);
        let undo = |wins: bool| wins.then_some(Undo::Nothing);
        self.either(plain::min(x.value, y.value), (x, undo(x_wins)), (y, undo(y_wins)))
    }
    fn max(&self, x: R, y: R) -> R {
        self.meet(x, y);
        let (x_wins, y_wins) = (x.value >= y.value, y.value >= x.value);
        let undo = |wins: bool| wins.then_some(Undo::Nothing);
        self.either(plain::max(x.value, y.value), (x, undo(x_wins)), (y, undo(y_wins)))
    }
    fn call(&self, f: Fun, x: R) -> R {
        self.step_from(f.value(x.value), x.place, Undo::Fun(f))
    }
    fn step(&self, f: Step, x: R) -> R {
        self.record.branch(
            x,
            match f {
                Step::Sign => 0.0,
                Step::Round => x.value.floor() + 0.5,
                Step::Floor | Step::Ceil | Step::Trunc => x.value.round(),
                Step::Convert(conversion) => {
                    let near = conversion.of(x.value);
                    near + (conversion.format.ulp(near) / 2.0).copysign(x.value - near)
                }
            },
        );
        self.step_from(f.value(x.value), x.place, Undo::Nothing)
    }
    fn pow(&self, x: R, y: R) -> R {
        let root = (y.value != 0.0).then(|| Undo::Power(y.value.recip()));
        self.either(plain::pow(x.value, y.value), (x, root), (y, None))
    }
    fn fmod(&self, x: R, y: R) -> R {
        self.step_from(libm::fmod(x.value, y.value), x.place, Undo::Nothing)
    }
    fn sum(&self, terms: impl Iterator<Item = R>) -> R {
        let terms: Vec<(R, R)> = terms.map(|x| (x, self.real(1.0))).collect();
        self.by_one_term(plain::sum(terms.iter().map(|(x, _)| x.value)), &terms)
    }
    fn dot(&self, terms: impl Iterator<Item = (R, R)>) -> R {
        let terms: Vec<(R, R)> = terms.collect();
        self.by_one_term(self.plain.dot(terms.iter().map(|(x, y)| (x.value, y.value))), &terms)
    }
    fn product(&self, terms: impl Iterator<Item = R>) -> R {
        terms.reduce(|x, y| self.mul(x, y)).unwrap_or_else(|| self.real(1.0))
    }
    fn compare(&self, c: Comparison, x: R, y: R) -> Z {
        self.meet(x, y);
        self.int(c.holds(x.value, y.value).into())
    }
    fn is(&self, class: Class, x: R) -> Z {
        self.int(class.holds(x.value).into())
    }
    fn select(&self, condition: Z, x: R, y: R) -> R {
        if condition.value == 0 { y } else { x }
    }
    fn truncate(&self, x: R, to: DType) -> Z {
        self.record.branch(x, x.value.round());
        self.step_from(self.plain.truncate(x.value, to), x.place, Undo::Nothing)
    }
    fn bits(&self, x: R, dtype: DType) -> Z {
        self.step_from(self.plain.bits(x.value, dtype), x.place, Undo::Nothing)
    }
    fn convert(&self, z: Z) -> R {
        self.step_from(self.plain.convert(z.value), z.place, Undo::Nothing)
    }
    fn arg_max(&self, xs: &[R], last: bool) -> Z {
        let values: Vec<f64> = xs.iter().map(|x| x.value).collect();
        self.int(plain::arg_max(&values, last) as i128)
    }
    fn exact<const N: usize>(&self, zs: [Z; N], f: impl Fn([i128; N]) -> Option<i128>) -> Z {
        let values = zs.map(|z| z.value);
        let value = f(values).unwrap_or(0);
        let moved = |i: usize, by: i128| {
            let mut values = values;
            values[i] = values[i].checked_add(by)?;
            f(values)?.checked_sub(value)
        };
        for (i, z) in zs.iter().enumerate().filter(|(_, z)| z.place.is_some()) {
            // Linear as far as three steps tell.
            let [Some(up), Some(down), Some(far)] = [1, -1, 8].map(|by| moved(i, by)) else { continue };
            if up != 0 && up.checked_neg() == Some(down) && up.checked_mul(8) == Some(far) {
                return self.step_from(value, z.place, Undo::Linear { z: z.value, y: value, slope: up });
            }
        }
        self.int(value)
    }
    fn peek(&self, z: Z) -> Option<i128> {
        Some(z.value)
    }
    fn unknown_real(&self) -> R {
        self.real(f64::NAN)
    }
    fn unknown_int(&self) -> Z {
        self.int(0)
    }
    fn undefined_real(&self) -> R {
        self.real(f64::NAN)
    }
    fn undefined_int(&self) -> Z {
        self.int(0)
    }
    fn unspecified(&self, one: R) -> R {
        one
    }
    fn unspecified_int(&self, one: Z) -> Z {
        one
    }
}

#[cfg(test)]
mod tests {
    use approx::{abs_diff_eq, assert_abs_diff_eq};

    use super::*;

    #[test]
    fn steps_are_undone_in_turn() {
        let record = Record::new(100);
        let a = Origins::new(&record, DType::F64);
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
    fn sums_and_integers_are_undone() {
        let record = Record::new(100);
        let a = Origins::new(&record, DType::F64);
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
        let a = Origins::new(&record, DType::F64);
        let x = record.element(2.2, NodeId(0), 0);
        a.max(x, a.real(1.0));
        a.step(Step::Round, x);
        assert_eq!(record.take_branches(), [(0, 1.0), (0, 2.5)]);
        assert!(record.take_branches().is_empty());
    }
}
