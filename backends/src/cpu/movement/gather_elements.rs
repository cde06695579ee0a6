//! GatherElements: a walk over the data in the shape of the indices that stands still on the axis, where the index
//! leads on.

use ops::movement::GatherElements;

use super::gather::positions;
use crate::cpu::call::Call;
use crate::cpu::cells::{Cell, dispatch_cell};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{Rows, axis_index, dense};

pub(crate) fn run(op: GatherElements, c: &Call<'_>) -> Outputs {
    dispatch_cell!(c.dtype(0)?, C => gather::<C>(op, c))
}

fn gather<C: Cell>(op: GatherElements, c: &Call<'_>) -> Outputs {
    let x = c.cells::<C>(0)?;
    c.only_cells(places(op.axis, c)?.into_iter().map(|place| x[place]).collect())
}

/// The place of the first operand that each index, of operand 1, leads to along the axis.
pub(super) fn places(axis: i64, c: &Call<'_>) -> Result<Vec<usize>, CpuError> {
    let shape = c.shape(0)?;
    let axis = axis_index(axis, shape.len())?;
    let mut strides = dense(shape);
    let along = std::mem::take(&mut strides[axis]) as usize;
    let rows = Rows::new(c.shape(1)?, &[strides]);
    let mut positions = positions(c, 1, shape[axis])?.into_iter();
    let mut places = Vec::with_capacity(positions.len());
    for [start] in rows.starts() {
        let row = (0..rows.len).map(|k| rows.nth(0, start, k));
        places.extend(row.zip(positions.by_ref()).map(|(at, position)| at + position * along));
    }
    Ok(places)
}
