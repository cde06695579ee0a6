//! BatchNormalization, as at inference: the mean subtracted, then one multiplication and one addition.

use ops::nn::BatchNorm;

use super::normalize::parameter;
use crate::cpu::call::Call;
use crate::cpu::element::{Float, Number, Real, dispatch_float};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(op: BatchNorm, c: &Call<'_>) -> Outputs {
    dispatch_float!(c.dtype(0)?, T => batch_norm::<T>(op, c))
}

fn batch_norm<T: Float>(op: BatchNorm, c: &Call<'_>) -> Outputs {
    let (x, shape) = (c.elements::<T>(0)?, c.shape(0)?);
    let all = |i| parameter::<T::Work>(c, i);
    let (scale, bias, mean, variance) = (all(1)?, all(2)?, all(3)?, all(4)?);
    let channels = shape.get(1).copied().unwrap_or(1);
    if [&scale, &bias, &mean, &variance].iter().any(|p| p.len() != channels) {
        return Err(CpuError::Invalid("it has not one parameter for each channel"));
    }
    let epsilon = <T::Work as Number>::from_attribute(op.epsilon);
    let slopes: Vec<T::Work> =
        scale.iter().zip(&variance).map(|(s, &v)| s.div(v.add(epsilon).sqrt())).collect();
    let area: usize = shape.iter().skip(2).product();
    let mut y = Vec::with_capacity(x.len());
    for (i, image) in x.chunks_exact(area.max(1)).enumerate() {
        let (slope, bias, mean) = (slopes[i % channels], bias[i % channels], mean[i % channels]);
        y.extend(image.iter().map(|x| T::store(x.load().sub(mean).mul(slope).add(bias))));
    }
    c.only(y)
}
