//! Tile: a walk over twice as many axes, which stands still on those that count copies.

use ops::movement::Tile;

use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{Rows, dense, sizes};

pub(crate) fn run(op: &Tile, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let repeats = sizes(&op.repeats);
    if repeats.len() != shape.len() {
        return Err(CpuError::Invalid("it has not a count of copies for each axis"));
    }
    let axes: Vec<usize> = repeats.iter().zip(shape).flat_map(|(&n, &size)| [n, size]).collect();
    let strides = dense(shape).into_iter().flat_map(|s| [0, s]).collect();
    c.walk(0, &Rows::new(&axes, &[strides]))
}
