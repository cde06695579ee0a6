//! RNN, GRU and LSTM, written out step by step.
//!
//! ONNX: [RNN](https://onnx.ai/onnx/operators/onnx__RNN.html), [GRU](https://onnx.ai/onnx/operators/onnx__GRU.html),
//! [LSTM](https://onnx.ai/onnx/operators/onnx__LSTM.html). What a gate adds up is one Gemm: the input of the step, the
//! state and two ones, beside each other, times the weights, the recurrence weights and both biases. So the bound of
//! the sum holds for whatever order an implementation adds the products and the biases in. What an LSTM's peepholes see
//! is added behind it, and what a GRU resets late too, as ONNX's equations have it.

mod cells;
mod lengths;
mod weights;

use ir::{Attributes, Type, Value};

use cells::{Cell, State};
use lengths::Masks;
use weights::Weights;

use super::activation::{self, Activation, Function};
use super::frame::Bound;
use super::given::GivenAttributes;
use super::terms::operands;
use super::translation::{SourceNode, Translation, apply, bind, given, one, tensor};
use super::walk::{Walk, few};
use crate::Error;
use crate::program::Node;

/// The function that writes out an operator of this name, if it is a recurrent network.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "RNN" => Some(|walk, source| write(walk, source, Cell::Rnn)),
        "GRU" => Some(|walk, source| write(walk, source, Cell::Gru)),
        "LSTM" => Some(|walk, source| write(walk, source, Cell::Lstm)),
        _ => None,
    }
}

/// The axes of a network.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    steps: i64,
    batch: i64,
    input: i64,
    hidden: i64,
    directions: i64,
}

/// What the attributes say.
struct Settings {
    /// Which directions walk backwards.
    backwards: &'static [bool],
    /// Whether the batch stands before the steps.
    batch_first: bool,
    /// The functions of each direction.
    functions: Vec<Vec<Function>>,
    /// How far what goes into a function may be from 0.
    clip: Option<f32>,
    /// How many hidden numbers there are, if that is told.
    hidden: Option<i64>,
    /// Whether a GRU resets the state after it was multiplied.
    is_reset_late: bool,
    /// Whether an LSTM forgets as much as it takes in.
    input_forget: bool,
}

impl Settings {
    fn read(source: &SourceNode<'_, '_>, cell: Cell) -> Result<Self, Error> {
        let given = GivenAttributes::of(source);
        let backwards: &[bool] = match given.text("direction", "forward").as_str() {
            "forward" => &[false],
            "reverse" => &[true],
            "bidirectional" => &[false, true],
            other => {
                let why = format!("there is no direction `{other}`");
                return Err(Error::invalid("attribute `direction`", why));
            }
        };
        let flag = |name: &str| given.int(name, 0) != 0;
        let settings = Self {
            backwards,
            batch_first: flag("layout"),
            functions: functions(&given, cell, backwards.len())?,
            clip: given.float("clip"),
            hidden: given.whole("hidden_size"),
            is_reset_late: cell == Cell::Gru && flag("linear_before_reset"),
            input_forget: cell == Cell::Lstm && flag("input_forget"),
        };
        given.finish()?;
        Ok(settings)
    }
}

/// The functions of each direction. Their names count in any case, and those that have numbers take these in their order.
fn functions(
    given: &GivenAttributes<'_>,
    cell: Cell,
    directions: usize,
) -> Result<Vec<Vec<Function>>, Error> {
    let usual = cell.functions();
    let told = given.texts("activations");
    let numbers = ["activation_alpha", "activation_beta"].map(|name| (name, given.floats(name)));
    let mut names: Vec<&str> = told.iter().map(String::as_str).collect();
    if told.is_empty() {
        names = usual.repeat(directions);
    }
    if names.len() != usual.len() * directions {
        let why = format!("there are {} instead of {}", names.len(), usual.len() * directions);
        return Err(Error::invalid("attribute `activations`", why));
    }
    let all = names.iter().map(|name| function(name)).collect::<Result<Vec<_>, _>>()?;
    for (i, (name, numbers)) in numbers.into_iter().enumerate() {
        check_taken(name, numbers, &all.iter().map(|of| of.takes[i]).collect::<Vec<bool>>())?;
    }
    let [mut alpha, mut beta] = numbers.map(|(_, numbers)| numbers.iter().copied());
    let all: Vec<Function> = all.into_iter().map(|of| of.with(&mut alpha, &mut beta)).collect();
    Ok(all.chunks(usual.len()).map(<[_]>::to_vec).collect())
}

/// The function of a name.
fn function(name: &str) -> Result<&'static Activation, Error> {
    activation::find(|other| other.eq_ignore_ascii_case(name)).ok_or_else(|| {
        Error::unsupported("attribute `activations`", format!("there is no {name} among them"))
    })
}

/// Requires that it is clear which of the functions takes which number. "The values are consumed in the order of
/// activation functions": by those that have one, or one by each function, whether it has any or not, as ONNX's
/// reference implementation does.
fn check_taken(name: &str, numbers: &[f32], takes: &[bool]) -> Result<(), Error> {
    let takers: Vec<usize> = takes.iter().enumerate().filter(|(_, takes)| **takes).map(|(i, _)| i).collect();
    let is_clear = numbers.is_empty()
        || numbers.len() <= takers.len()
        || takers.iter().enumerate().all(|(at, &by_place)| numbers.get(at) == numbers.get(by_place));
    if is_clear {
        return Ok(());
    }
    let why = format!(
        "it has {} numbers, {} of {} functions take one, and ONNX does not say which they are",
        numbers.len(),
        takers.len(),
        takes.len()
    );
    Err(Error::unsupported(format!("attribute `{name}`"), why))
}

/// The states after each step of a direction, in the order of the steps, and the last.
struct Walked {
    states: Vec<Value>,
    last: State,
}

fn write<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>, cell: Cell) -> Result<(), Error> {
    let node = source.node;
    operands::<8>(walk, source)?;
    let settings = Settings::read(source, cell)?;
    let in_steps = |walk: &mut Walk<'p, '_>, value| {
        if settings.batch_first { swapped(walk, value) } else { Ok(value) }
    };
    let x = tensor(walk, node, 0)?;
    let x = in_steps(walk, x)?;
    let sizes = sizes(walk, node, x, &settings, cell)?;
    let lengths = Masks::read(walk, node, sizes)?;
    let inputs = steps(walk, x, sizes)?;
    let initial = |walk: &mut Walk<'p, '_>, i: usize| -> Result<Option<Value>, Error> {
        if walk.is_absent(node.inputs.get(i).copied().flatten()) {
            return Ok(None);
        }
        let value = tensor(walk, node, i)?;
        check_initial(walk.graph.ty(value), i, sizes, settings.batch_first)?;
        in_steps(walk, value).map(Some)
    };
    let (hidden, held) = (initial(walk, 5)?, if cell == Cell::Lstm { initial(walk, 6)? } else { None });
    let mut walked = Vec::with_capacity(settings.backwards.len());
    for (direction, &is_backwards) in settings.backwards.iter().enumerate() {
        let weights = Weights::read(walk, node, cell, sizes, direction as i64)?;
        let step =
            cells::Step { settings: &settings, functions: &settings.functions[direction], weights, sizes };
        let mut state = State {
            hidden: state(walk, hidden, direction as i64, x, sizes)?,
            held: if cell == Cell::Lstm {
                Some(state(walk, held, direction as i64, x, sizes)?)
            } else {
                None
            },
        };
        let sums = cell.prepare(walk, &step)?;
        let mut states = Vec::with_capacity(inputs.len());
        for t in 0..inputs.len() {
            let at = if is_backwards { inputs.len() - 1 - t } else { t };
            let next = cell.step(walk, &step, &sums, inputs[at], state)?;
            let (after, shown) = lengths.passed(walk, at as i64, state, next)?;
            state = after;
            states.push(shown);
            walk.check_size(|| format!("{} after {} of {} steps", node.rest.op_type(), t + 1, inputs.len()))?;
        }
        if is_backwards {
            states.reverse();
        }
        walked.push(Walked { states, last: state });
    }
    let results = results(walk, node, &walked, settings.batch_first)?;
    let results = results.into_iter().map(|result| given(walk, result, lengths.from.as_slice()));
    let results = results.collect::<Result<_, _>>()?;
    bind(walk, node, results)
}

/// A tensor with its first two axes exchanged.
fn swapped(walk: &mut Walk<'_, '_>, value: Value) -> Result<Value, Error> {
    let rank = walk.graph.ty(value).rank() as i64;
    let order: Vec<i64> = [1, 0].into_iter().chain(2..rank).take(rank as usize).collect();
    one(walk, "Transpose", &Attributes::new().ints("perm", &order), &[value])
}

fn sizes(
    walk: &mut Walk<'_, '_>,
    node: &Node,
    x: Value,
    settings: &Settings,
    cell: Cell,
) -> Result<Sizes, Error> {
    let recurrence = tensor(walk, node, 2)?;
    let (x, r) = (walk.graph.ty(x).clone(), walk.graph.ty(recurrence).clone());
    let (&[steps, batch, input], &[directions, rows, hidden]) = (&x.shape[..], &r.shape[..]) else {
        return Err(Error::invalid("operands", format!("X and R must have three axes, but are {x} and {r}")));
    };
    let wanted = settings.backwards.len() as i64;
    if directions != wanted || rows != cell.gates() * hidden {
        let why = format!("R must be [{wanted}, {}·hidden, hidden], but is {r}", cell.gates());
        return Err(Error::invalid("operand 2", why));
    }
    if let Some(stated) = settings.hidden.filter(|&stated| stated != hidden) {
        return Err(Error::invalid("attribute `hidden_size`", format!("it is {stated}, but R is {r}")));
    }
    if steps == 0 {
        return Err(Error::unsupported("operand 0", "without a step nothing is written out"));
    }
    few(steps, "operand 0", "steps")?;
    Ok(Sizes { steps, batch, input, hidden, directions })
}

/// The inputs of the steps: matrices of batch by input.
fn steps(walk: &mut Walk<'_, '_>, x: Value, sizes: Sizes) -> Result<Vec<Value>, Error> {
    let each = vec![1; sizes.steps as usize];
    let parts = apply(walk, "Split", &Attributes::new().int("axis", 0).ints("split", &each), &[x], &[])?;
    parts
        .into_iter()
        .map(|part| one(walk, "Squeeze", &Attributes::new().ints("axes", &[0]), &[part]))
        .collect()
}

/// Requires of an initial state the shape that it has in all of them: [num_directions, batch_size, hidden_size], and
/// with `layout` 1 the first two exchanged.
fn check_initial(ty: &Type, operand: usize, sizes: Sizes, batch_first: bool) -> Result<(), Error> {
    let Sizes { batch, hidden, directions, .. } = sizes;
    let wanted = if batch_first { [batch, directions, hidden] } else { [directions, batch, hidden] };
    if ty.shape[..] == wanted {
        return Ok(());
    }
    let wanted = Type::new(ty.dtype, wanted);
    Err(Error::invalid(format!("operand {operand}"), format!("it must be {wanted}, but is {ty}")))
}

/// The state that a direction begins with: a matrix of batch by hidden, of zeros if none is given.
fn state(
    walk: &mut Walk<'_, '_>,
    given: Option<Value>,
    direction: i64,
    like: Value,
    sizes: Sizes,
) -> Result<Value, Error> {
    if let Some(given) = given {
        return weights::of_direction(walk, given, direction);
    }
    let dtype = walk.graph.ty(like).dtype;
    walk.reals(dtype, &[sizes.batch, sizes.hidden], |_| 0.0)
}

/// The outputs that have names: all states, the last of each direction, and what it holds.
fn results(
    walk: &mut Walk<'_, '_>,
    node: &Node,
    walked: &[Walked],
    batch_first: bool,
) -> Result<Vec<Bound>, Error> {
    let is_named = |i: usize| node.outputs.get(i).copied().flatten().is_some();
    let mut results = vec![Bound::Absent; node.outputs.len()];
    if is_named(0) {
        let mut all = Vec::new();
        for t in 0..walked[0].states.len() {
            let of_step: Vec<Value> = walked.iter().map(|walked| walked.states[t]).collect();
            all.push(stacked(walk, &of_step)?);
        }
        let y = stacked(walk, &all)?;
        let order = Attributes::new().ints("perm", &[2, 0, 1, 3]);
        results[0] = Bound::Tensor(if batch_first { one(walk, "Transpose", &order, &[y])? } else { y });
    }
    let last: [fn(&State) -> Option<Value>; 2] = [|state| Some(state.hidden), |state| state.held];
    for (i, last) in last.into_iter().enumerate().filter(|(i, _)| is_named(i + 1)) {
        let values: Option<Vec<Value>> = walked.iter().map(|walked| last(&walked.last)).collect();
        let Some(values) = values else { continue };
        let stacked = stacked(walk, &values)?;
        results[i + 1] = Bound::Tensor(if batch_first { swapped(walk, stacked)? } else { stacked });
    }
    Ok(results)
}

/// Tensors of one shape along a new first axis.
fn stacked(walk: &mut Walk<'_, '_>, items: &[Value]) -> Result<Value, Error> {
    super::translation::stack(walk, items, 0, &[])
}
