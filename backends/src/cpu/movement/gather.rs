//! Gather: for each place around the axis and each index, a run of elements.

use ir::Tensor;
use ops::movement::Gather;

use crate::cpu::call::Call;
use crate::cpu::cells::{Cell, dispatch_cell};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{axis_index, split_at};

pub(crate) fn run(op: Gather, c: &Call<'_>) -> Outputs {
    dispatch_cell!(c.dtype(0)?, C => gather::<C>(op, c))
}

fn gather<C: Cell>(op: Gather, c: &Call<'_>) -> Outputs {
    let (x, shape) = (c.cells::<C>(0)?, c.shape(0)?);
    let (around, size, inside) = split_at(shape, axis_index(op.axis, shape.len())?);
    let indices = positions(c, 1, size)?;
    let mut out = Vec::with_capacity(around * indices.len() * inside);
    for place in 0..around {
        for i in &indices {
            let start = (place * size + i) * inside;
            out.extend_from_slice(&x[start..start + inside]);
        }
    }
    c.only_cells(out)
}

/// The indices that operand `i` holds into an axis of `size`, counted from its start.
pub(crate) fn positions(c: &Call<'_>, i: usize, size: usize) -> Result<Vec<usize>, CpuError> {
    indices(c, i)?.into_iter().map(|index| position(index, i, size)).collect()
}

/// The elements of an operand of indices.
pub(crate) fn indices(c: &Call<'_>, i: usize) -> Result<Vec<i64>, CpuError> {
    match c.tensor(i)? {
        Tensor::I32(_) => Ok(c.elements::<i32>(i)?.iter().map(|&v| i64::from(v)).collect()),
        _ => Ok(c.elements::<i64>(i)?.into_owned()),
    }
}

/// An index of operand `operand` into an axis of `size`, counted from its start.
pub(crate) fn position(index: i64, operand: usize, size: usize) -> Result<usize, CpuError> {
    let from_start = if index < 0 { index.checked_add(size as i64) } else { Some(index) };
    let position = from_start.and_then(|i| usize::try_from(i).ok()).filter(|&i| i < size);
    position.ok_or(CpuError::Index { operand, index, size })
}
