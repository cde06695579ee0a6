//! One step of each network.

use ir::{Attributes, Value};

use super::weights::{Of, Sum, Weights};
use super::{Settings, Sizes, one};
use crate::Error;
use crate::import::activation::Function;
use crate::import::translation::apply;
use crate::import::walk::Walk;

/// Which network it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cell {
    Rnn,
    Gru,
    Lstm,
}

/// What goes from one step to the next: matrices of batch by hidden.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// What is given out.
    pub(super) hidden: Value,
    /// What an LSTM holds besides.
    pub(super) held: Option<Value>,
}

/// What the steps of a direction have in common.
pub(super) struct Step<'a> {
    pub(super) settings: &'a Settings,
    pub(super) functions: &'a [Function],
    pub(super) weights: Weights,
    pub(super) sizes: Sizes,
}

impl Cell {
    /// How many gates there are.
    pub(super) const fn gates(self) -> i64 {
        match self {
            Self::Rnn => 1,
            Self::Gru => 3,
            Self::Lstm => 4,
        }
    }

    /// The usual functions.
    pub(super) const fn functions(self) -> &'static [&'static str] {
        match self {
            Self::Rnn => &["Tanh"],
            Self::Gru => &["Sigmoid", "Tanh"],
            Self::Lstm => &["Sigmoid", "Tanh", "Tanh"],
        }
    }

    /// The sums of a step, with their weights.
    pub(super) fn prepare(self, walk: &mut Walk<'_, '_>, step: &Step<'_>) -> Result<Vec<Sum>, Error> {
        let sums: &[(Of, std::ops::Range<i64>)] = match self {
            Self::Rnn => &[(Of::Both, 0..1)],
            Self::Gru if step.settings.is_reset_late => {
                &[(Of::Both, 0..2), (Of::Input, 2..3), (Of::State, 2..3)]
            }
            Self::Gru => &[(Of::Both, 0..2), (Of::Both, 2..3)],
            Self::Lstm => &[(Of::Both, 0..4)],
        };
        sums.iter().map(|(of, gates)| step.weights.sum(walk, *of, gates.clone())).collect()
    }

    /// The state after a step.
    pub(super) fn step(
        self,
        walk: &mut Walk<'_, '_>,
        step: &Step<'_>,
        sums: &[Sum],
        x: Value,
        state: State,
    ) -> Result<State, Error> {
        match self {
            Self::Rnn => {
                let sum = sums[0].of(walk, &[x, state.hidden])?;
                Ok(State { hidden: step.call(walk, 0, sum)?, held: None })
            }
            Self::Gru => step.gru(walk, sums, x, state.hidden).map(|hidden| State { hidden, held: None }),
            Self::Lstm => step.lstm(walk, &sums[0], x, state),
        }
    }
}

impl Step<'_> {
    /// A function of the direction, on what is clipped.
    fn call(&self, walk: &mut Walk<'_, '_>, function: usize, x: Value) -> Result<Value, Error> {
        let x = self.clipped(walk, x)?;
        self.functions[function].of_gate(walk, x)
    }

    fn clipped(&self, walk: &mut Walk<'_, '_>, x: Value) -> Result<Value, Error> {
        let Some(clip) = self.settings.clip else { return Ok(x) };
        let dtype = walk.graph.ty(x).dtype;
        let (low, high) = (walk.real(dtype, (-clip).into())?, walk.real(dtype, clip.into())?);
        one(walk, "Clip", &Attributes::new(), &[x, low, high])
    }

    /// The gates that are in a sum, each a matrix of batch by hidden.
    fn gates(&self, walk: &mut Walk<'_, '_>, sum: Value, count: usize) -> Result<Vec<Value>, Error> {
        let sizes = vec![self.sizes.hidden; count];
        apply(walk, "Split", &Attributes::new().int("axis", 1).ints("split", &sizes), &[sum], &[])
    }

    /// 1 - x
    fn rest(walk: &mut Walk<'_, '_>, x: Value) -> Result<Value, Error> {
        let dtype = walk.graph.ty(x).dtype;
        let all = walk.real(dtype, 1.0)?;
        one(walk, "Sub", &Attributes::new(), &[all, x])
    }

    fn gru(&self, walk: &mut Walk<'_, '_>, sums: &[Sum], x: Value, hidden: Value) -> Result<Value, Error> {
        let sum = sums[0].of(walk, &[x, hidden])?;
        let gates = self.gates(walk, sum, 2)?;
        let (update, reset) = (self.call(walk, 0, gates[0])?, self.call(walk, 0, gates[1])?);
        let sum = if self.settings.is_reset_late {
            let (of_input, of_state) = (sums[1].of(walk, &[x])?, sums[2].of(walk, &[hidden])?);
            let kept = one(walk, "Mul", &Attributes::new(), &[reset, of_state])?;
            one(walk, "Add", &Attributes::new(), &[of_input, kept])?
        } else {
            let kept = one(walk, "Mul", &Attributes::new(), &[reset, hidden])?;
            sums[1].of(walk, &[x, kept])?
        };
        let new = self.call(walk, 1, sum)?;
        let rest = Self::rest(walk, update)?;
        let new = one(walk, "Mul", &Attributes::new(), &[rest, new])?;
        let old = one(walk, "Mul", &Attributes::new(), &[update, hidden])?;
        one(walk, "Add", &Attributes::new(), &[new, old])
    }

    fn lstm(&self, walk: &mut Walk<'_, '_>, sum: &Sum, x: Value, state: State) -> Result<State, Error> {
        let held = state.held.unwrap_or(state.hidden);
        let sum = sum.of(walk, &[x, state.hidden])?;
        let gates = self.gates(walk, sum, 4)?;
        let (input, output, forget, new) = (gates[0], gates[1], gates[2], gates[3]);
        let input = self.peeped(walk, 0, input, held)?;
        let input = self.call(walk, 0, input)?;
        let forget = if self.settings.input_forget {
            Self::rest(walk, input)?
        } else {
            let forget = self.peeped(walk, 2, forget, held)?;
            self.call(walk, 0, forget)?
        };
        let new = self.call(walk, 1, new)?;
        let kept = one(walk, "Mul", &Attributes::new(), &[forget, held])?;
        let taken = one(walk, "Mul", &Attributes::new(), &[input, new])?;
        let held = one(walk, "Add", &Attributes::new(), &[kept, taken])?;
        let output = self.peeped(walk, 1, output, held)?;
        let output = self.call(walk, 0, output)?;
        // By the text what comes to this function is clipped too; ONNX Runtime, OpenVINO and others clip the gates alone.
        let clipped = self.clipped(walk, held)?;
        let shown = if clipped == held { held } else { walk.either(held, clipped)? };
        let shown = self.functions[2].of_gate(walk, shown)?;
        let hidden = one(walk, "Mul", &Attributes::new(), &[output, shown])?;
        Ok(State { hidden, held: Some(held) })
    }

    /// A gate that sees what is held, if it has weights for that: they stand in the order input, output, forget.
    fn peeped(&self, walk: &mut Walk<'_, '_>, gate: usize, sum: Value, held: Value) -> Result<Value, Error> {
        let Some(peepholes) = &self.weights.peepholes else { return Ok(sum) };
        let seen = one(walk, "Mul", &Attributes::new(), &[peepholes[gate], held])?;
        one(walk, "Add", &Attributes::new(), &[sum, seen])
    }
}
