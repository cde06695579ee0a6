//! How an implementation goes about what it may choose.

use rand::RngExt;
use rand::seq::IndexedRandom;

use ir::Choices;

/// In which direction steps are off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Push {
    /// None: to the nearest number.
    Nearest,
    /// Upwards.
    Up,
    /// Downwards.
    Down,
    /// Up and down in turn.
    InTurn,
    /// Away from 0.
    FromZero,
    /// Towards 0.
    ToZero,
    /// Up or down at random.
    AtRandom,
    /// Farther away from the true number, on the side on which the result already is.
    Apart,
}

/// When results are rounded to the working dtype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounding {
    /// After each step.
    Each,
    /// After some steps.
    Some,
    /// When they are stored.
    Last,
}

/// The order in which the terms of a sum are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// As they are given.
    Given,
    /// From the last to the first.
    Reversed,
    /// From the least magnitude to the largest.
    Rising,
    /// From the largest magnitude to the least.
    Falling,
    /// The positive ones before the negative ones.
    BySign,
    /// At random.
    Shuffled,
}

/// How the terms of a sum are put together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// One after the other.
    Chain,
    /// As this many partial sums, which are then added.
    Blocks(usize),
    /// In pairs, and these in pairs.
    Pairs,
}

/// How often a liberty is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Often {
    /// Never.
    Never,
    /// In half of the cases.
    Sometimes,
    /// Wherever it may be taken.
    Always,
}

/// All of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Habits {
    pub(super) push: Push,
    pub(super) rounding: Rounding,
    /// Whether what is not rounded to a half is rounded to f32, else to f64.
    pub(super) wide_is_single: bool,
    pub(super) order: Order,
    pub(super) shape: Shape,
    /// Products are added without being rounded before.
    pub(super) fuses: Often,
    /// Denormals become 0.
    pub(super) flushes: Often,
    /// Zeros have the other sign.
    pub(super) turns_zeros: Often,
    /// The other one of two readings is taken.
    pub(super) reads_otherwise: Often,
    /// Another algorithm is used where there is one.
    pub(super) other_algorithm: Often,
}

const PUSHES: [Push; 8] = [
    Push::Nearest,
    Push::Up,
    Push::Down,
    Push::InTurn,
    Push::FromZero,
    Push::ToZero,
    Push::AtRandom,
    Push::Apart,
];
const ROUNDINGS: [Rounding; 4] = [Rounding::Each, Rounding::Each, Rounding::Some, Rounding::Last];
const ORDERS: [Order; 6] =
    [Order::Given, Order::Reversed, Order::Rising, Order::Falling, Order::BySign, Order::Shuffled];
const SHAPES: [Shape; 5] = [Shape::Chain, Shape::Chain, Shape::Blocks(2), Shape::Blocks(5), Shape::Pairs];
const OFTEN: [Often; 3] = [Often::Never, Often::Sometimes, Often::Always];

impl Habits {
    /// Habits at random.
    pub(super) fn drawn(choices: &mut Choices) -> Self {
        Self {
            push: one_of(choices, &PUSHES),
            rounding: one_of(choices, &ROUNDINGS),
            wide_is_single: choices.random(),
            order: one_of(choices, &ORDERS),
            shape: one_of(choices, &SHAPES),
            fuses: one_of(choices, &OFTEN),
            flushes: one_of(choices, &OFTEN),
            turns_zeros: one_of(choices, &OFTEN),
            reads_otherwise: one_of(choices, &OFTEN),
            other_algorithm: one_of(choices, &OFTEN),
        }
    }
}

fn one_of<T: Copy>(choices: &mut Choices, all: &[T]) -> T {
    *all.choose(choices).expect("none of the lists is empty")
}
