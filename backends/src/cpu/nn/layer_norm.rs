//! LayerNormalization, in the operand's working type whatever `stash_type` allows.

use half::bf16;
use ir::{DType, Tensor};
use ops::nn::LayerNorm;

use super::normalize::{Moments, parameter};
use crate::cpu::call::Call;
use crate::cpu::element::{Float, Number, Numeric, Real, dispatch_real};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{Rows, axis_index, broadcast, dense};

pub(crate) fn run(op: LayerNorm, c: &Call<'_>) -> Outputs {
    dispatch_real!(c.dtype(0)?, T => layer_norm::<T>(op, c))
}

fn layer_norm<T: Float>(op: LayerNorm, c: &Call<'_>) -> Outputs {
    let (mut y, shape) = (c.loaded::<T>(0)?, c.shape(0)?);
    let lane: usize = shape[axis_index(op.axis, shape.len())?..].iter().product();
    let mut all = Vec::new();
    for lane in y.chunks_exact_mut(lane.max(1)) {
        let moments = Moments::of(lane, op.epsilon);
        for x in lane.iter_mut() {
            *x = moments.standardize(*x);
        }
        all.push(moments);
    }
    combine(c, 1, &mut y, Number::mul)?;
    if c.opt(2).is_some() {
        combine(c, 2, &mut y, Number::add)?;
    }
    let mut outputs = vec![c.store::<T>(0, y.into_iter().map(T::store).collect())?];
    for i in 1..c.outputs.len() {
        let saved = all.iter().map(|m| if i == 1 { m.mean } else { m.inverse });
        outputs.push(save(c, i, saved)?);
    }
    Ok(outputs)
}

/// Changes each element by that of a parameter that broadcasts to it.
pub(super) fn combine<R: Real>(
    c: &Call<'_>,
    operand: usize,
    y: &mut [R],
    f: impl Fn(R, R) -> R,
) -> Result<(), CpuError> {
    let (shape, parameters) = (c.shape(0)?, parameter::<R>(c, operand)?);
    let rows = Rows::new(shape, &[dense(shape), broadcast(c.shape(operand)?, shape)?]);
    for [i, j] in rows.starts() {
        for (place, y) in y[i..i + rows.len].iter_mut().enumerate() {
            *y = f(*y, parameters[rows.nth(1, j, place)]);
        }
    }
    Ok(())
}

/// An output in the dtype of the first stage.
fn save<R: Real>(c: &Call<'_>, output: usize, values: impl Iterator<Item = R>) -> Result<Tensor, CpuError> {
    let values = values.map(Real::to_f64);
    match c.output(output)?.dtype {
        DType::BF16 => c.store::<bf16>(output, values.map(|v| bf16::store(v as f32)).collect()),
        _ => c.store::<f32>(output, values.map(|v| v as f32).collect()),
    }
}
