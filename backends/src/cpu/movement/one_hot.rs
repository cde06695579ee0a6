//! OneHot: a field of "off" values, into which "on" values are written.

use ops::movement::OneHot;

use crate::cpu::call::Call;
use crate::cpu::cells::{Cell, dispatch_cell};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::axis_index;

pub(crate) fn run(op: OneHot, c: &Call<'_>) -> Outputs {
    let indices = indices(c)?;
    dispatch_cell!(c.dtype(1)?, C => one_hot::<C>(op, &indices, c))
}

/// The indices; floats truncate. What no `i64` holds is no index anyway.
fn indices(c: &Call<'_>) -> Result<Vec<i64>, CpuError> {
    let x = c.tensor(0)?;
    if x.dtype().is_float() {
        return Ok(x.to_f64s().into_iter().map(|v| v as i64).collect());
    }
    Ok(x.to_i128s().into_iter().map(|v| i64::try_from(v).unwrap_or(i64::MAX)).collect())
}

fn one_hot<C: Cell>(op: OneHot, indices: &[i64], c: &Call<'_>) -> Outputs {
    let &[off, on] = &*c.cells::<C>(1)? else {
        return Err(CpuError::Invalid("it has not two values"));
    };
    let shape = c.shape(0)?;
    let axis = axis_index(op.axis, shape.len() + 1)?;
    let inside: usize = shape[axis..].iter().product();
    let depth = op.depth.max(0) as usize;
    let mut y = vec![off; indices.len() * depth];
    for (i, &index) in indices.iter().enumerate() {
        let place = if index < 0 { index.saturating_add(op.depth) } else { index };
        if let Some(place) = usize::try_from(place).ok().filter(|&p| p < depth) {
            y[(i / inside * depth + place) * inside + i % inside] = on;
        }
    }
    c.only_cells(y)
}
