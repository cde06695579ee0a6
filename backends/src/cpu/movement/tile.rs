//! Tile: a walk over twice as many axes, which stands still on those that count copies.

use ir::tensor::Element;
use ops::movement::Tile;

use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{Rows, copy, dense, sizes};

pub(crate) fn run(op: &Tile, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let repeats = sizes(&op.repeats);
    if repeats.len() != shape.len() {
        return Err(CpuError::Invalid("it has not a count of copies for each axis"));
    }
    let axes: Vec<usize> = repeats.iter().zip(shape).flat_map(|(&n, &size)| [n, size]).collect();
    let strides = dense(shape).into_iter().flat_map(|s| [0, s]).collect();
    let rows = Rows::new(&axes, &[strides]);
    ir::dispatch!(c.dtype(0)?, T => tile::<T>(c, &rows, axes.iter().product()))
}

fn tile<T: Element>(c: &Call<'_>, rows: &Rows<1>, count: usize) -> Outputs {
    c.only(copy(&c.elements::<T>(0)?, 0, rows, count))
}
