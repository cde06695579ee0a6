//! BatchNormalization: the mean subtracted, then one multiplication and one addition.

use ir::Tensor;
use ops::nn::BatchNorm;

use super::normalize::{Moments, parameter};
use crate::cpu::call::Call;
use crate::cpu::element::{Float, Number, Real, dispatch_float, dispatch_real};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(op: BatchNorm, c: &Call<'_>) -> Outputs {
    if op.training_mode {
        dispatch_float!(c.dtype(0)?, T => trained::<T>(op, c))
    } else {
        dispatch_real!(c.dtype(0)?, T => batch_norm::<T>(op, c))
    }
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

/// With the statistics of the operand itself, towards which those given move.
fn trained<T: Float>(op: BatchNorm, c: &Call<'_>) -> Outputs {
    let (x, shape) = (c.elements::<T>(0)?, c.shape(0)?);
    let (scale, bias) = (parameter::<T::Work>(c, 1)?, parameter::<T::Work>(c, 2)?);
    let (mut mean, mut variance) = (parameter::<f64>(c, 3)?, parameter::<f64>(c, 4)?);
    let channels = shape.get(1).copied().unwrap_or(1);
    if [scale.len(), bias.len(), mean.len(), variance.len()] != [channels; 4] {
        return Err(CpuError::Invalid("it has not one parameter for each channel"));
    }
    let area: usize = shape.iter().skip(2).product();
    let of = |element: usize| element / area.max(1) % channels.max(1);
    let mut lanes = vec![Vec::new(); channels];
    for (i, x) in x.iter().enumerate() {
        lanes[of(i)].push(x.load());
    }
    let momentum = f64::from(op.momentum);
    let moved = |before: f64, now: T::Work| before * momentum + now.to_f64() * (1.0 - momentum);
    let mut moments = Vec::with_capacity(channels);
    for (channel, lane) in lanes.iter().enumerate() {
        let of = Moments::of(lane, op.epsilon);
        mean[channel] = moved(mean[channel], of.mean);
        variance[channel] = moved(variance[channel], of.variance);
        moments.push(of);
    }
    let one = |(i, x): (usize, &T)| {
        let channel = of(i);
        T::store(moments[channel].standardize(x.load()).mul(scale[channel]).add(bias[channel]))
    };
    let y = c.store(0, x.iter().enumerate().map(one).collect())?;
    let kept = |i: usize, numbers: &[f64]| Ok(Tensor::from_f64_fn(c.output(i)?, |channel| numbers[channel]));
    Ok(vec![y, kept(1, &mean)?, kept(2, &variance)?])
}
