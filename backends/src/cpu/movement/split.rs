//! Split: for each place around the axis, a run of elements to each output.

use ops::movement::Split;

use crate::cpu::call::Call;
use crate::cpu::cells::{Cell, dispatch_cell};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{axis_index, sizes, split_at};

pub(crate) fn run(op: &Split, c: &Call<'_>) -> Outputs {
    dispatch_cell!(c.dtype(0)?, C => split::<C>(op, c))
}

fn split<C: Cell>(op: &Split, c: &Call<'_>) -> Outputs {
    let (x, shape) = (c.cells::<C>(0)?, c.shape(0)?);
    let axis = axis_index(op.axis, shape.len())?;
    let (_, size, inside) = split_at(shape, axis);
    let parts = sizes(&op.split);
    if parts.iter().sum::<usize>() != size || parts.len() != c.outputs.len() {
        return Err(CpuError::Invalid("its parts do not make up the axis"));
    }
    let mut first = 0;
    let mut outputs = Vec::with_capacity(parts.len());
    for (i, size_here) in parts.into_iter().enumerate() {
        let run = first * inside..(first + size_here) * inside;
        // Chunks need a length even where there is nothing to cut.
        let places = x.chunks_exact((size * inside).max(1));
        let mut part = Vec::with_capacity(places.len() * run.len());
        for place in places {
            part.extend_from_slice(&place[run.clone()]);
        }
        outputs.push(c.store_cells(i, part)?);
        first += size_here;
    }
    Ok(outputs)
}
