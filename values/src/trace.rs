//! The number system of numbers that know where they come from.
//!
//! What is known of a step is its slope along each operand and what undoes it. A run is for one of the two: a [`Tape`] takes
//! slopes, a [`Record`] what undoes steps. They share a system because each system that operators are read in is all operators
//! compiled once more.

use ir::{DType, Tensor};
use ops::arith::{Arith, Class, Comparison, Fun, Step};
use ops::plain::{self, Plain};
use ops::{Call, Data, Op, Operator};

use crate::origin::{Linear, Record, Undo};
use crate::tape::{LEAK, Tape, derivative};
use interp::walk::System;

/// A number, and where it was made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Traced<T> {
    /// The number.
    pub value: T,
    /// Its place on the tape or in the record; `None` for what comes from no element that may be chosen.
    pub place: Option<u32>,
}

impl<T> Traced<T> {
    /// A number that comes from no element that may be chosen.
    pub const fn constant(value: T) -> Self {
        Self { value, place: None }
    }
}

/// A real number of the system.
pub type R = Traced<f64>;
/// An integer of the system.
pub type Z = Traced<i128>;

/// What a run is for.
#[derive(Clone, Copy, Debug)]
enum Recorder<'t> {
    Slopes(&'t Tape),
    Origins(&'t Record),
}

/// An operand of a step.
struct Operand {
    x: R,
    /// The derivative by it.
    slope: f64,
    /// What undoes the step while the other operands stay as they are.
    undo: Option<Undo>,
}

impl Operand {
    const fn new(x: R, slope: f64, undo: Undo) -> Self {
        Self { x, slope, undo: Some(undo) }
    }

    /// Only undone if that is possible.
    const fn perhaps(x: R, slope: f64, undo: Option<Undo>) -> Self {
        Self { x, slope, undo }
    }
}

/// The number system, for one node.
#[derive(Clone, Copy, Debug)]
pub struct Tracing<'t> {
    recorder: Recorder<'t>,
    plain: Plain<'static>,
}

impl<'t> Tracing<'t> {
    /// The system that writes slopes to a tape, for a node that calculates in a dtype.
    pub fn slopes(tape: &'t Tape, dtype: DType) -> Self {
        Self { recorder: Recorder::Slopes(tape), plain: Plain::new(dtype) }
    }

    /// The system that writes origins to a record, for a node that calculates in a dtype.
    pub fn origins(record: &'t Record, dtype: DType) -> Self {
        Self { recorder: Recorder::Origins(record), plain: Plain::new(dtype) }
    }

    /// The result of a step on some operands. One of them carries it: the first that can.
    fn made<const N: usize>(&self, value: f64, operands: [Operand; N]) -> R {
        match self.recorder {
            Recorder::Slopes(tape) => tape.record(value, operands.into_iter().map(|o| (o.x, o.slope))),
            Recorder::Origins(record) => {
                let carrier = operands.into_iter().find_map(|o| Some((o.x.place?, o.undo?)));
                carrier.map_or(Traced::constant(value), |(from, undo)| record.step(value, from, undo))
            }
        }
    }

    /// A number of another kind than the one at a place that it was made of: no gradient goes through integers.
    fn turned<T>(&self, value: T, place: Option<u32>) -> Traced<T> {
        match (self.recorder, place) {
            (Recorder::Origins(record), Some(place)) => record.step(value, place, Undo::Nothing),
            _ => Traced::constant(value),
        }
    }

    /// Notes that two numbers are compared: the first that may be chosen could equal the other.
    fn meet(&self, x: R, y: R) {
        if x.place.is_some() { self.branch(x, y.value) } else { self.branch(y, x.value) }
    }

    /// Notes that a step on this number is another at `point`.
    fn branch(&self, x: R, point: f64) {
        if let Recorder::Origins(record) = self.recorder {
            record.branch(x, point);
        }
    }

    /// A minimum or maximum. The flag of each operand says whether it wins.
    fn extreme(&self, value: f64, x: (R, bool), y: (R, bool)) -> R {
        self.meet(x.0, y.0);
        let operand = |(x, wins): (R, bool), slope| Operand::perhaps(x, slope, wins.then_some(Undo::Nothing));
        let by_x = if x.1 { 1.0 } else { LEAK };
        self.made(value, [operand(x, by_x), operand(y, 1.0 + LEAK - by_x)])
    }

    /// A sum of products.
    fn sum_of(&self, value: f64, terms: &[(R, R)]) -> R {
        match self.recorder {
            Recorder::Slopes(tape) => {
                tape.record(value, terms.iter().flat_map(|&(x, y)| [(x, y.value), (y, x.value)]))
            }
            Recorder::Origins(record) => record.by_one_term(value, terms),
        }
    }
}

impl Arith for Tracing<'_> {
    type R = R;
    type Z = Z;

    fn within(&self, dtype: DType) -> Self {
        Self { plain: Plain::new(dtype), ..*self }
    }
    fn round(&self, x: R) -> R {
        x
    }
    fn real(&self, value: f64) -> R {
        Traced::constant(value)
    }
    fn int(&self, value: i128) -> Z {
        Traced::constant(value)
    }
    fn add(&self, x: R, y: R) -> R {
        let by = |operand, other: R| Operand::new(operand, 1.0, Undo::Minus(other.value));
        self.made(x.value + y.value, [by(x, y), by(y, x)])
    }
    fn sub(&self, x: R, y: R) -> R {
        let (minuend, subtrahend) = (Undo::Minus(-y.value), Undo::From(x.value));
        self.made(x.value - y.value, [Operand::new(x, 1.0, minuend), Operand::new(y, -1.0, subtrahend)])
    }
    fn mul(&self, x: R, y: R) -> R {
        let by = |operand, other: R| {
            Operand::perhaps(operand, other.value, (other.value != 0.0).then_some(Undo::Over(other.value)))
        };
        self.made(x.value * y.value, [by(x, y), by(y, x)])
    }
    fn div(&self, x: R, y: R) -> R {
        let (value, part) = (x.value / y.value, y.value.recip());
        let up = (y.value != 0.0).then_some(Undo::Over(part));
        let down = (x.value != 0.0).then_some(Undo::Under(x.value));
        self.made(value, [Operand::perhaps(x, part, up), Operand::perhaps(y, -value / y.value, down)])
    }
    fn neg(&self, x: R) -> R {
        self.made(-x.value, [Operand::new(x, -1.0, Undo::Over(-1.0))])
    }
    fn abs(&self, x: R) -> R {
        let sign = 1f64.copysign(x.value);
        self.made(x.value.abs(), [Operand::new(x, sign, Undo::Over(sign))])
    }
    fn min(&self, x: R, y: R) -> R {
        let wins = (x.value <= y.value, y.value <= x.value);
        self.extreme(plain::min(x.value, y.value), (x, wins.0), (y, wins.1))
    }
    fn max(&self, x: R, y: R) -> R {
        let wins = (x.value >= y.value, y.value >= x.value);
        self.extreme(plain::max(x.value, y.value), (x, wins.0), (y, wins.1))
    }
    fn call(&self, f: Fun, x: R) -> R {
        let slope = match self.recorder {
            Recorder::Slopes(_) => derivative(f, x.value),
            Recorder::Origins(_) => 1.0,
        };
        self.made(f.value(x.value), [Operand::new(x, slope, Undo::Fun(f))])
    }
    fn step(&self, f: Step, x: R) -> R {
        self.branch(
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
        self.made(f.value(x.value), [Operand::new(x, 1.0, Undo::Nothing)])
    }
    fn pow(&self, x: R, y: R) -> R {
        let value = plain::pow(x.value, y.value);
        let root = (y.value != 0.0).then(|| Undo::Power(y.value.recip()));
        let (by_x, by_y) = match self.recorder {
            Recorder::Slopes(_) => (y.value * plain::pow(x.value, y.value - 1.0), value * libm::log(x.value)),
            Recorder::Origins(_) => (1.0, 1.0),
        };
        self.made(value, [Operand::perhaps(x, by_x, root), Operand::perhaps(y, by_y, None)])
    }
    fn fmod(&self, x: R, y: R) -> R {
        let by_y = -(x.value / y.value).trunc();
        let operands = [Operand::new(x, 1.0, Undo::Nothing), Operand::perhaps(y, by_y, None)];
        self.made(libm::fmod(x.value, y.value), operands)
    }
    fn sum(&self, terms: impl Iterator<Item = R>) -> R {
        let terms: Vec<(R, R)> = terms.map(|x| (x, self.real(1.0))).collect();
        self.sum_of(plain::sum(terms.iter().map(|(x, _)| x.value)), &terms)
    }
    /// Each is made of the one before, so that as much is recorded as there are terms.
    fn running_sums(&self, terms: &[R]) -> Vec<R> {
        let one = self.real(1.0);
        let values: Vec<f64> = terms.iter().map(|x| x.value).collect();
        let mut sums = vec![self.sum(std::iter::empty())];
        for (&x, value) in terms.iter().zip(self.plain.running_sums(&values).into_iter().skip(1)) {
            let before = sums[sums.len() - 1];
            sums.push(self.sum_of(value, &[(before, one), (x, one)]));
        }
        sums
    }
    fn dot(&self, terms: impl Iterator<Item = (R, R)>) -> R {
        let terms: Vec<(R, R)> = terms.collect();
        self.sum_of(self.plain.dot(terms.iter().map(|(x, y)| (x.value, y.value))), &terms)
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
        self.branch(x, x.value.round());
        self.turned(self.plain.truncate(x.value, to), x.place)
    }
    fn bits(&self, x: R, dtype: DType) -> Z {
        self.turned(self.plain.bits(x.value, dtype), x.place)
    }
    fn convert(&self, z: Z) -> R {
        self.turned(self.plain.convert(z.value), z.place)
    }
    fn arg_max(&self, xs: &[R], last: bool) -> Z {
        let values: Vec<f64> = xs.iter().map(|x| x.value).collect();
        self.int(plain::arg_max(&values, last) as i128)
    }
    fn exact<const N: usize>(&self, zs: [Z; N], f: impl Fn([i128; N]) -> Option<i128>) -> Z {
        let values = zs.map(|z| z.value);
        let value = f(values).unwrap_or(0);
        let Recorder::Origins(record) = self.recorder else { return self.int(value) };
        let moved = |i: usize, by: i128| {
            let mut values = values;
            values[i] = values[i].checked_add(by)?;
            f(values)?.checked_sub(value)
        };
        for (i, z) in zs.iter().enumerate() {
            let Some(place) = z.place else { continue };
            // Linear as far as three steps tell.
            let [Some(up), Some(down), Some(far)] = [1, -1, 8].map(|by| moved(i, by)) else { continue };
            if up != 0 && up.checked_neg() == Some(down) && up.checked_mul(8) == Some(far) {
                return record.linear_step(value, place, Linear { z: z.value, y: value, slope: up });
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

/// What runs a model for a tape or a record.
#[derive(Clone, Copy)]
pub(crate) struct Traces<'t>(Recorder<'t>);

impl<'t> From<&'t Tape> for Traces<'t> {
    fn from(tape: &'t Tape) -> Self {
        Self(Recorder::Slopes(tape))
    }
}

impl<'t> From<&'t Record> for Traces<'t> {
    fn from(record: &'t Record) -> Self {
        Self(Recorder::Origins(record))
    }
}

impl<'t> System for Traces<'t> {
    type A = Tracing<'t>;

    fn arith(&self, dtype: DType) -> Tracing<'t> {
        Tracing { recorder: self.0, plain: Plain::new(dtype) }
    }

    fn load(&self, tensor: &Tensor) -> Data<Tracing<'t>> {
        match plain::load(tensor) {
            Data::Real(a) => Data::Real(a.mapv(Traced::constant)),
            Data::Int(a) => Data::Int(a.mapv(Traced::constant)),
        }
    }

    fn eval(&self, op: &Op, call: &Call<'_, Tracing<'t>>) -> Vec<Data<Tracing<'t>>> {
        op.eval(call)
    }

    fn store(&self, _: &Tracing<'t>, data: &mut Data<Tracing<'t>>, dtype: DType, _: bool) {
        match data {
            Data::Real(a) => {
                a.mapv_inplace(|x| Traced { value: ir::round::round_to(dtype, x.value), ..x });
            }
            Data::Int(a) => a.mapv_inplace(|z| Traced { value: dtype.wrap(z.value), ..z }),
        }
    }
}
