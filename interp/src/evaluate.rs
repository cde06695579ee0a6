//! The reference: value, error and decidability of every element of a model's outputs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use ir::execute::{Keep, Values};
use ir::{DType, NodeId, Operation, Tensor, Type, Value};
use ndarray::ArrayD;
use ops::plain::{self, Plain};
use ops::{Arith, Call, Data, Model, Op};

use crate::balls::{Balls, Errors};
use crate::bound::{Ball, Bound, Open, State, Whole};
use crate::profile::Profile;
pub use crate::walk::Error;
use crate::walk::{Former, Held, System, Visit, Walked, check, walk, walk_after};

/// A tensor of the reference with what may be expected of a conforming implementation.
#[derive(Clone, PartialEq, Debug)]
pub struct Bounded {
    /// The reference's elements.
    pub tensor: Tensor,
    /// How far each element may be off, in row-major order: 0 means bit for bit, infinity means undecidable.
    /// Empty where all are 0.
    pub error: Vec<f64>,
    /// The positions of elements that the specification leaves undefined, ascending. They are undecidable too.
    pub undefined: Vec<usize>,
    /// Elements without a bound of which something is known, by ascending position. They count as undecidable.
    pub limited: Vec<Limited>,
    /// Integers that may be further off on one side than on the other, by ascending position.
    pub uneven: Vec<Uneven>,
    /// Whether a conforming implementation may have a tensor of another shape: a branch, a loop or a shape that it
    /// depends on was read from values that are undecidable. Then all elements are.
    pub is_open: bool,
}

/// An element without a bound, of which something is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limited {
    /// The row-major position.
    pub at: usize,
    /// What is known.
    pub limit: Limit,
}

/// What an implementation may have for an element that has no bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    /// Of an integer that overflowed in one step on integers: the low bits, or what saturating or going through a float gives
    /// ([`after_overflow`](crate::compare::after_overflow)).
    Overflown,
    /// Of a float that overflowed: an infinity of the reference's sign, or a number of that sign and at least this magnitude.
    Beyond(f64),
    /// Of a float that is the larger or smaller of some with NaN among them: NaN, or a number between two.
    NaNOr {
        /// The least of the numbers.
        low: f64,
        /// The greatest.
        high: f64,
    },
}

impl Limit {
    /// What is known of a float, if there is no bound but something.
    fn of(x: Ball) -> Option<Self> {
        match x.open {
            Open::Beyond(least) => Some(Self::Beyond(least)),
            Open::NaNOr { low, high } => Some(Self::NaNOr { low: low.into(), high: high.into() }),
            Open::Within(_) | Open::Constant | Open::Undefined => None,
        }
    }
}

/// An integer that may be further off on one side than on the other; its error is the larger of the two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uneven {
    /// The row-major position.
    pub at: usize,
    /// How far below the reference's it may be.
    pub below: u32,
    /// How far above.
    pub above: u32,
}

/// What evaluating a model gives.
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluation {
    /// The model's outputs, in order.
    pub outputs: Vec<Bounded>,
    /// Every value of the main graph, if asked for.
    pub taps: BTreeMap<Value, Bounded>,
    /// What was computed by operator, functions included.
    pub operators: BTreeMap<&'static str, Decided>,
    /// Whether the specification leaves nothing undefined of all that was computed, functions and bodies included. An element that is
    /// undefined may not be seen in an output, which may not depend on it, and yet be what a runtime refuses.
    pub is_defined: bool,
}

/// How many elements an operator computed, and how many of them it made undecidable.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Decided {
    /// The elements of its outputs.
    pub elements: u64,
    /// Elements that are undecidable or undefined although all elements of its operands are known.
    pub undecidable: u64,
}

/// Which values to keep besides the outputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taps {
    /// None.
    Outputs,
    /// Every value of the main graph.
    All,
}

impl Bounded {
    /// A tensor whose elements may be so far off.
    pub fn within(tensor: Tensor, error: Vec<f64>) -> Self {
        let (undefined, limited, uneven) = (Vec::new(), Vec::new(), Vec::new());
        Self { tensor, error, undefined, limited, uneven, is_open: false }
    }

    /// How far the integer at a row-major position may be off, below and above.
    pub fn sides_at(&self, i: usize) -> [f64; 2] {
        match self.uneven.binary_search_by_key(&i, |uneven| uneven.at) {
            Ok(place) => {
                let Uneven { below, above, .. } = self.uneven[place];
                [below.into(), above.into()]
            }
            Err(_) => [self.error_at(i); 2],
        }
    }

    /// How far the element at a row-major position may be off.
    pub fn error_at(&self, i: usize) -> f64 {
        self.error.get(i).copied().unwrap_or(0.0)
    }

    /// What is known of the element at a row-major position, if it has no bound but a limit.
    pub fn limit_at(&self, i: usize) -> Option<Limit> {
        let found = self.limited.binary_search_by_key(&i, |limited| limited.at);
        found.ok().map(|place| self.limited[place].limit)
    }

    /// How many elements are undecidable. Undefined elements are not counted.
    pub fn undecidable(&self) -> usize {
        self.error.iter().filter(|e| e.is_infinite()).count() - self.undefined.len()
    }

    /// Whether the whole tensor is decided bit for bit.
    pub fn is_exact(&self) -> bool {
        self.error.is_empty()
    }
}

/// The most memory that evaluating with bounds takes for each element that is in use: its ball, and half as much again for what
/// operators keep beside their operands.
pub const BYTES_PER_ELEMENT: u64 = size_of::<Ball>() as u64 * 3 / 2;

const _: () = assert!(size_of::<Whole>() <= size_of::<Ball>());

/// Plain values.
pub(crate) struct Values64;

impl System for Values64 {
    type A = Plain<'static>;
    fn arith(&self, dtype: DType) -> Plain<'static> {
        Plain::new(dtype)
    }
    fn load(&self, tensor: &Tensor) -> Data<Plain<'static>> {
        plain::load(tensor)
    }
    fn eval(&self, op: &Op, call: &Call<'_, Plain<'static>>) -> Vec<Data<Plain<'static>>> {
        plain::eval(op, call)
    }
    fn store(&self, _: &Plain<'static>, data: &mut Data<Plain<'static>>, dtype: DType, _: bool) {
        plain::settle(data, dtype);
    }
}

/// The outputs of a model, with bounds under a profile.
pub fn evaluate(
    model: &Model,
    inputs: &[Tensor],
    profile: &Profile,
    taps: Taps,
) -> Result<Evaluation, Error> {
    check(model, inputs)?;
    let given = by_variable(model, inputs);
    Ok(evaluate_values(model, &|id| given.get(&id).copied(), profile, taps))
}

/// The evaluation of a valid model, with tensors for its variables, and for constants where they replace the model's.
///
/// # Panics
/// If the model is not valid, or a variable has no tensor.
pub fn evaluate_values<'t>(
    model: &Model,
    given: &dyn Fn(NodeId) -> Option<&'t Tensor>,
    profile: &Profile,
    taps: Taps,
) -> Evaluation {
    let system = Errors::Bounds(profile);
    let mut operators: BTreeMap<&'static str, Decided> = BTreeMap::new();
    let mut is_defined = true;
    let keep = if taps == Taps::All { Keep::All } else { Keep::Outputs };
    let values = run(&system, model, given, keep, &mut |visit| {
        let decided = operators.entry(visit.op.name()).or_default();
        decided.elements += visit.results.iter().map(|data| length(data)).sum::<u64>();
        let unknown: u64 = visit.results.iter().map(|data| unknowns(data)).sum();
        is_defined &= unknown == 0 || !visit.results.iter().any(|data| has_undefined(data));
        if unknown > 0 && visit.operands.iter().flatten().all(|data| unknowns(data) == 0) {
            decided.undecidable += unknown;
        }
        true
    });
    let is_inner = |v: Value| model.graph.node(v.node).is_inner;
    let bounded = |v: Value| bounded(profile, kept(&values, v), model.graph.ty(v), is_inner(v));
    let outputs = model.graph.outputs.iter().map(|o| bounded(o.value)).collect();
    let mut tapped = BTreeMap::new();
    if taps == Taps::All {
        for (id, node) in model.graph.iter() {
            let values = (0..node.outputs.len()).map(|port| Value::new(id, port));
            tapped.extend(values.map(|v| (v, bounded(v))));
        }
    }
    Evaluation { outputs, taps: tapped, operators, is_defined }
}

/// How many elements of a valid model's outputs a profile says nothing of, on one set of tensors after another: those that are undecidable
/// or undefined, but for what overflowed, whose sign and least magnitude are known.
pub struct Undecided<'m> {
    model: &'m Model,
    profile: &'m Profile,
    /// The run on the last set. Of the next one most tensors may be the same.
    former: Former<Balls<'m>>,
}

impl<'m> Undecided<'m> {
    /// Before the first set.
    pub fn new(model: &'m Model, profile: &'m Profile) -> Self {
        Self { model, profile, former: Former::none() }
    }

    /// How many there are, and how many elements the outputs have in all. Tensors are given as to [`evaluate_values`].
    ///
    /// # Panics
    /// If the model is not valid, or a variable has no tensor.
    pub fn on<'t>(&mut self, given: &dyn Fn(NodeId) -> Option<&'t Arc<Tensor>>) -> (u64, u64) {
        let Self { model, profile, .. } = *self;
        let system = Errors::Bounds(profile);
        let held = |id| given(id).map(Held::of);
        let Walked { values, now } = walk_after(&system, model, &self.former, &held, &mut |_| true);
        self.former = now;
        let values = values.expect(RUNS);
        let mut counts = (0, 0);
        for output in &model.graph.outputs {
            let (held, ty) = (kept(&values, output.value), model.graph.ty(output.value));
            counts.0 += match held.data(&system) {
                Data::Real(a) => {
                    let is_inner = model.graph.node(output.value.node).is_inner;
                    unknown(&as_compared(profile, a, ty, is_inner), |x| {
                        x.is_known() || Limit::of(*x).is_some()
                    })
                }
                Data::Int(a) => unknown(a, |z| z.is_known()),
            };
            counts.1 += length(held.data(&system));
        }
        counts
    }
}

/// The outputs of a model, values alone.
pub fn evaluate_plain(model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, Error> {
    check(model, inputs)?;
    let given = by_variable(model, inputs);
    let values = run(&Values64, model, &|id| given.get(&id).copied(), Keep::Outputs, &mut |_| true);
    let tensor = |v: Value| plain::store(kept(&values, v).data(&Values64), model.graph.ty(v));
    Ok(model.graph.outputs.iter().map(|o| tensor(o.value)).collect())
}

/// How many elements there are.
fn length(data: &Data<Balls<'_>>) -> u64 {
    let elements = match data {
        Data::Real(a) => a.len(),
        Data::Int(a) => a.len(),
    };
    elements as u64
}

/// How many elements are undecidable or undefined.
fn unknowns(data: &Data<Balls<'_>>) -> u64 {
    match data {
        Data::Real(a) => unknown(a, |x| x.is_known()),
        Data::Int(a) => unknown(a, |z| z.is_known()),
    }
}

/// Whether an element is undefined.
fn has_undefined(data: &Data<Balls<'_>>) -> bool {
    match data {
        Data::Real(a) => a.iter().any(|x| x.is_undefined()),
        Data::Int(a) => a.iter().any(|z| z.state == State::Undefined),
    }
}

/// How many elements are not known.
fn unknown<T>(a: &ArrayD<T>, is_known: impl Fn(&T) -> bool) -> u64 {
    a.iter().filter(|x| !is_known(x)).count() as u64
}

/// The inputs of a model by the nodes of its variables.
pub(crate) fn by_variable<'t>(model: &Model, inputs: &'t [Tensor]) -> BTreeMap<NodeId, &'t Tensor> {
    model.graph.variables().map(|(id, ..)| id).zip(inputs).collect()
}

/// The values of a valid model. A run that fails must not pass for one without outputs: then nothing would be
/// compared.
pub(crate) fn run<'t, S: System>(
    system: &S,
    model: &Model,
    given: &dyn Fn(NodeId) -> Option<&'t Tensor>,
    keep: Keep<'_>,
    visit: &mut dyn FnMut(&Visit<'_, S::A>) -> bool,
) -> Values<Held<S::A>> {
    let values = walk(system, model, keep, &|id| given(id).map(|t| Held::new(system.load(t))), visit);
    values.expect(RUNS)
}

const RUNS: &str = "a valid model with tensors for all its variables runs to its end";

/// A value that a run was to keep.
pub(crate) fn kept<A: Arith>(values: &Values<Held<A>>, value: Value) -> &Held<A> {
    let held = values.get(value).and_then(Option::as_ref);
    held.expect("every operator gives as many results as the type rules of a valid model say")
}

/// The elements as they are compared in a tensor. If they were kept in a wider format, these are the bounds
/// of the rounded elements.
fn as_compared<'a>(
    profile: &Profile,
    a: &'a ArrayD<Ball>,
    ty: &Type,
    is_inner: bool,
) -> Cow<'a, ArrayD<Ball>> {
    let bound = Bound::new(profile, ty.dtype);
    match ty.dtype.float().filter(|format| bound.widens(*format, is_inner)) {
        Some(format) => Cow::Owned(a.mapv(|x| bound.output(x, format))),
        None => Cow::Borrowed(a),
    }
}

fn bounded<'p>(profile: &'p Profile, held: &Held<Balls<'p>>, ty: &Type, is_inner: bool) -> Bounded {
    let bounded = match held.data(&Errors::Bounds(profile)) {
        Data::Real(a) => {
            let a = as_compared(profile, a, ty, is_inner);
            // The NaNs of processors differ in sign.
            let one_nan = |v: f64| if v.is_nan() { f64::NAN } else { v };
            let tensor = from(&a, |next| {
                Tensor::from_f64_fn(ty, |_| next().map_or(f64::NAN, |b: Ball| one_nan(b.value)))
            });
            let limits = a.iter().enumerate();
            let limited = limits.filter_map(|(at, &b)| Some(Limited { at, limit: Limit::of(b)? })).collect();
            let bounded = with_errors(tensor, a.iter().map(|b| (b.error, b.is_undefined())));
            Bounded { limited, ..bounded }
        }
        Data::Int(a) => {
            let tensor = from(a, |next| Tensor::from_i128_fn(ty, |_| next().map_or(0, |z: Whole| z.value)));
            let overflown = a.iter().enumerate().filter(|(_, z)| z.state == State::Overflown);
            let limited = overflown.map(|(at, _)| Limited { at, limit: Limit::Overflown }).collect();
            let uneven = a.iter().enumerate().filter_map(|(at, z)| match z.state {
                State::Within { below, above } if below != above => Some(Uneven { at, below, above }),
                _ => None,
            });
            let uneven = uneven.collect();
            let bounded = with_errors(tensor, a.iter().map(|z| (z.error(), z.state == State::Undefined)));
            Bounded { limited, uneven, ..bounded }
        }
    };
    Bounded { is_open: held.is_open, ..bounded }
}

fn from<T: Copy>(a: &ArrayD<T>, build: impl FnOnce(&mut dyn FnMut() -> Option<T>) -> Tensor) -> Tensor {
    let mut items = a.iter().copied();
    build(&mut || items.next())
}

fn with_errors(tensor: Tensor, marks: impl Iterator<Item = (f64, bool)> + Clone) -> Bounded {
    let exact = marks.clone().all(|(error, _)| error == 0.0);
    let error = if exact { Vec::new() } else { marks.clone().map(|(error, _)| error).collect() };
    let undefined = marks.enumerate().filter(|(_, (_, undefined))| *undefined).map(|(i, _)| i).collect();
    Bounded { undefined, ..Bounded::within(tensor, error) }
}
