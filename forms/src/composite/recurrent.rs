//! Recurrent networks.

use super::piece::Piece;
use super::{Composite, REALS};

pub(super) const ALL: &[Composite] = &[
    Composite::new("RNN", 13, REALS, |p| network(p, 1, 1)),
    Composite::new("GRU", 13, REALS, |p| network(p, 3, 1)),
    Composite::new("LSTM", 13, REALS, |p| network(p, 4, 2)),
];

/// Functions that cells may have, of those without parameters.
const FUNCTIONS: [&str; 3] = ["Relu", "Tanh", "Sigmoid"];

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
        p.integers(ir::DType::I32, &[batch], &vec![steps; batch as usize]);
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
    let all = (0..each * directions).map(|_| p.choose(&FUNCTIONS)).collect::<Option<Vec<_>>>()?;
    p.texts("activations", &all);
    Some(())
}
