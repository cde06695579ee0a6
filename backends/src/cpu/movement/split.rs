//! Split: for each place around the axis, a run of elements to each output.

use ir::tensor::Element;
use ops::movement::Split;

use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{axis_index, sizes, split_at};

pub(crate) fn run(op: &Split, c: &Call<'_>) -> Outputs {
    ir::dispatch!(c.dtype(0)?, T => split::<T>(op, c))
}

fn split<T: Element>(op: &Split, c: &Call<'_>) -> Outputs {
    let (x, shape) = (c.elements::<T>(0)?, c.shape(0)?);
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
        outputs.push(c.store(i, places.flat_map(|place| &place[run.clone()]).copied().collect())?);
        first += size_here;
    }
    Ok(outputs)
}
