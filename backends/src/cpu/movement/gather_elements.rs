//! GatherElements: a walk over the data in the shape of the indices that stands still on the axis, where the index
//! leads on.

use ir::tensor::Element;
use ops::movement::GatherElements;

use super::gather::positions;
use crate::cpu::call::Call;
use crate::cpu::error::Outputs;
use crate::cpu::strided::{Rows, axis_index, dense};

pub(crate) fn run(op: GatherElements, c: &Call<'_>) -> Outputs {
    ir::dispatch!(c.dtype(0)?, T => gather::<T>(op, c))
}

fn gather<T: Element>(op: GatherElements, c: &Call<'_>) -> Outputs {
    let (x, shape) = (c.elements::<T>(0)?, c.shape(0)?);
    let axis = axis_index(op.axis, shape.len())?;
    let positions = positions(c, 1, shape[axis])?;
    let mut strides = dense(shape);
    let along = std::mem::take(&mut strides[axis]) as usize;
    let rows = Rows::new(c.shape(1)?, &[strides]);
    let mut positions = positions.into_iter();
    let mut y = Vec::with_capacity(positions.len());
    for [start] in rows.starts() {
        let row = (0..rows.len).map(|k| rows.nth(0, start, k));
        y.extend(row.zip(positions.by_ref()).map(|(at, position)| x[at + position * along]));
    }
    c.only(y)
}
