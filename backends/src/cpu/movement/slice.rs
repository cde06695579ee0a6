//! Slice: a walk that starts within the operand and takes longer, perhaps backward, steps.

use ops::movement::Slice;

use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{Rows, axis_index, dense};

pub(crate) fn run(op: &Slice, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let mut strides = dense(shape);
    let mut start = 0;
    for (i, &from) in op.starts.iter().enumerate() {
        let axis = match &op.axes {
            Some(axes) => *axes.get(i).ok_or(CpuError::Invalid("it has more starts than axes"))?,
            None => i as i64,
        };
        let axis = axis_index(axis, shape.len())?;
        let step = op.steps.as_ref().and_then(|s| s.get(i)).copied().unwrap_or(1);
        start += first(from, step, shape[axis]) * strides[axis] as usize;
        strides[axis] *= step as isize;
    }
    c.walk(start, &Rows::new(&c.output(0)?.extents(), &[strides]))
}

/// The first element taken from an axis; of no importance where none is.
fn first(start: i64, step: i64, size: usize) -> usize {
    let start = if start < 0 { start.saturating_add(size as i64) } else { start };
    let last = (size as i64 - i64::from(step < 0)).max(0);
    start.clamp(0, last) as usize
}
