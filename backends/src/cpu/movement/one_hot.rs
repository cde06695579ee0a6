//! OneHot: a field of "off" values, into which "on" values are written.

use ir::tensor::Element;
use ops::movement::OneHot;

use crate::cpu::call::Call;
use crate::cpu::element::{Int, Real, dispatch_float, dispatch_int};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::axis_index;

pub(crate) fn run(op: OneHot, c: &Call<'_>) -> Outputs {
    let indices = indices(c)?;
    ir::dispatch!(c.dtype(1)?, T => one_hot::<T>(op, &indices, c))
}

/// The indices; floats truncate. What no `i64` holds is no index anyway.
fn indices(c: &Call<'_>) -> Result<Vec<i64>, CpuError> {
    dispatch_float!(
        c.dtype(0)?,
        T => Ok(c.loaded::<T>(0)?.into_iter().map(|x| Real::to_f64(x) as i64).collect()),
        other => dispatch_int!(other, T => Ok(c.loaded::<T>(0)?.into_iter().map(index).collect()))
    )
}

fn index<I: Int>(v: I) -> i64 {
    i64::try_from(Int::to_i128(v)).unwrap_or(i64::MAX)
}

fn one_hot<T: Element>(op: OneHot, indices: &[i64], c: &Call<'_>) -> Outputs {
    let &[off, on] = &*c.elements::<T>(1)? else {
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
    c.only(y)
}
