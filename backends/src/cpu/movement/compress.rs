//! Compress: the runs of elements that stay, for each place around the axis.

use ops::movement::Compress;

use crate::cpu::call::Call;
use crate::cpu::cells::{Cell, dispatch_cell};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{axis_index, split_at};

pub(crate) fn run(op: Compress, c: &Call<'_>) -> Outputs {
    dispatch_cell!(c.dtype(0)?, C => compress::<C>(op, c))
}

fn compress<C: Cell>(op: Compress, c: &Call<'_>) -> Outputs {
    let (x, shape) = (c.cells::<C>(0)?, c.shape(0)?);
    let condition = c.elements::<bool>(1)?;
    let (around, size, inside) = match op.axis {
        Some(axis) => split_at(shape, axis_index(axis, shape.len())?),
        None => (1, x.len(), 1),
    };
    if condition.len() > size {
        return Err(CpuError::Invalid("its condition is longer than the axis"));
    }
    let mut y = Vec::new();
    for place in 0..around {
        for (i, _) in condition.iter().enumerate().filter(|(_, stays)| **stays) {
            let start = (place * size + i) * inside;
            y.extend_from_slice(&x[start..start + inside]);
        }
    }
    // Another number of what is true gives another number of elements, which is refused here.
    c.only_cells(y)
}
