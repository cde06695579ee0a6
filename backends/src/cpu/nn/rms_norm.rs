//! RMSNormalization, in the operand's working type whatever `stash_type` allows.

use ops::nn::RmsNorm;

use super::layer_norm::combine;
use crate::cpu::call::Call;
use crate::cpu::element::{Float, Number, Numeric, Real, dispatch_float, dispatch_real};
use crate::cpu::error::Outputs;
use crate::cpu::lanes::sum_of;
use crate::cpu::strided::axis_index;

pub(crate) fn run(op: RmsNorm, c: &Call<'_>) -> Outputs {
    dispatch_real!(c.dtype(0)?, T => rms_norm::<T>(op, c))
}

fn rms_norm<T: Float>(op: RmsNorm, c: &Call<'_>) -> Outputs {
    let (mut y, shape) = (c.loaded::<T>(0)?, c.shape(0)?);
    let lane: usize = shape[axis_index(op.axis, shape.len())?..].iter().product();
    let epsilon = <T::Work as Number>::from_attribute(op.epsilon);
    for lane in y.chunks_exact_mut(lane.max(1)) {
        let mean_square = sum_of(lane, |x| x.mul(x)).div(Number::from_count(lane.len()));
        let root = mean_square.add(epsilon).sqrt();
        for x in lane.iter_mut() {
            *x = x.div(root);
        }
    }
    combine(c, 1, &mut y, Number::mul)?;
    // The result has the dtype of the scale.
    dispatch_float!(c.dtype(1)?, U => {
        c.only(y.into_iter().map(|v| U::store(Real::from_f64(v.to_f64()))).collect::<Vec<U>>())
    })
}
