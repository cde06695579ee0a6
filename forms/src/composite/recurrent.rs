//! Recurrent networks.

use super::piece::Piece;
use super::{Composite, REALS};

pub(super) const ALL: &[Composite] = &[
    Composite::new("RNN", 13, REALS, |p| network(p, 1, 1)),
    Composite::new("GRU", 13, REALS, |p| network(p, 3, 1)),
    Composite::new("LSTM", 13, REALS, |p| network(p, 4, 2)),
];

/// A function that cells may have, with an alpha and a beta if it takes them.
#[derive(Clone, Copy)]
struct Function {
    name: &'static str,
    alpha: Option<f32>,
    beta: Option<f32>,
}

impl Function {
    const fn new(name: &'static str, alpha: Option<f32>, beta: Option<f32>) -> Self {
        Self { name, alpha, beta }
    }
}

/// The functions: in half of the draws one of the first three, which have no numbers. The numbers of the others
/// are not the ones that hold where none are given, so that it shows if they are not read.
const FUNCTIONS: [Function; 11] = [
    Function::new("Relu", None, None),
    Function::new("Tanh", None, None),
    Function::new("Sigmoid", None, None),
    Function::new("Softsign", None, None),
    Function::new("Softplus", None, None),
    Function::new("Elu", Some(0.75), None),
    Function::new("LeakyRelu", Some(0.25), None),
    Function::new("ThresholdedRelu", Some(0.5), None),
    Function::new("HardSigmoid", Some(0.25), Some(0.375)),
    Function::new("Affine", Some(0.5), Some(-0.25)),
    Function::new("ScaledTanh", Some(1.5), Some(0.5)),
];

/// How many of them are usual.
const USUAL: usize = 3;

/// A network whose cells have so many gates and so many states.
fn network(p: &mut Piece<'_>, gates: i64, states: usize) -> Option<()> {
    let dtype = p.dtype()?;
    let direction = p.word("direction", &["forward", "reverse", "bidirectional"])?;
    let directions = if direction == "bidirectional" { 2 } else { 1 };
    let batch_first = p.opset >= 14 && p.chance(0.3);
    let (steps, batch, inputs, hidden) = (p.size(1..=4), p.count(1..=3), p.size(1..=4), p.size(1..=4));
    let x = if batch_first { [batch, steps, inputs] } else { [steps, batch, inputs] };
    p.of(dtype, &x);
    p.of(dtype, &[directions, gates * hidden, inputs]);
    p.of(dtype, &[directions, gates * hidden, hidden]);
    p.perhaps(0.7, dtype, &[directions, 2 * gates * hidden]);
    if p.chance(0.3) {
        let lengths: Vec<i64> = (0..batch).map(|_| p.size(1..=steps)).collect();
        p.integers(ir::DType::I32, &[batch], &lengths);
    } else {
        p.absent();
    }
    let state = if batch_first { [batch, directions, hidden] } else { [directions, batch, hidden] };
    p.perhaps(0.5, dtype, &state);
    if states == 2 {
        p.perhaps(0.5, dtype, &state);
        p.perhaps(0.3, dtype, &[directions, 3 * hidden]);
    }
    p.int("hidden_size", hidden);
    if batch_first {
        p.int("layout", 1);
    }
    if gates == 3 {
        p.flag("linear_before_reset");
    }
    if gates == 4 && p.chance(0.2) {
        p.int("input_forget", 1);
    }
    if p.chance(0.2) {
        p.float("clip", 1.5);
    }
    if p.chance(0.35) {
        activations(p, gates, directions)?;
    }
    p.results = 1 + p.size(0..=states as i64) as usize;
    Some(())
}

/// The functions of a cell, of each direction by itself: one, or those of gates and of what comes of them.
fn activations(p: &mut Piece<'_>, gates: i64, directions: i64) -> Option<()> {
    let each = match gates {
        1 => 1,
        3 => 2,
        _ => 3,
    };
    let among = if p.chance(0.5) { &FUNCTIONS[..USUAL] } else { &FUNCTIONS };
    let all = (0..each * directions).map(|_| p.choose(among)).collect::<Option<Vec<_>>>()?;
    p.texts("activations", &all.iter().map(|function| function.name).collect::<Vec<_>>());
    // Each function that takes a number takes the next of them.
    let numbers: [(&str, Vec<f32>); 2] = [
        ("activation_alpha", all.iter().filter_map(|function| function.alpha).collect()),
        ("activation_beta", all.iter().filter_map(|function| function.beta).collect()),
    ];
    for (name, numbers) in numbers.iter().filter(|(_, numbers)| !numbers.is_empty()) {
        p.floats(name, numbers);
    }
    Some(())
}
