//! InstanceNormalization and GroupNormalization, in the operand's working type whatever `stash_type` allows.

use ops::nn::{GroupNorm, InstanceNorm};

use super::normalize::{Moments, parameter};
use crate::cpu::call::Call;
use crate::cpu::element::{Float, Number, dispatch_real};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn instance(op: InstanceNorm, c: &Call<'_>) -> Outputs {
    let channels = channels(c)?;
    dispatch_real!(c.dtype(0)?, T => grouped::<T>(c, channels, op.epsilon))
}

pub(crate) fn group(op: GroupNorm, c: &Call<'_>) -> Outputs {
    let groups = usize::try_from(op.num_groups).unwrap_or(0);
    dispatch_real!(c.dtype(0)?, T => grouped::<T>(c, groups, op.epsilon))
}

fn channels(c: &Call<'_>) -> Result<usize, CpuError> {
    c.shape(0)?.get(1).copied().ok_or(CpuError::Invalid("it has no channels"))
}

/// The channels of each image in groups that are standardised together.
fn grouped<T: Float>(c: &Call<'_>, groups: usize, epsilon: f32) -> Outputs {
    let (x, channels) = (c.loaded::<T>(0)?, channels(c)?);
    let (scale, bias) = (parameter::<T::Work>(c, 1)?, parameter::<T::Work>(c, 2)?);
    if scale.len() != channels || bias.len() != channels {
        return Err(CpuError::Invalid("it has not one scale and bias for each channel"));
    }
    let area: usize = c.shape(0)?.iter().skip(2).product();
    let together = channels.checked_div(groups).unwrap_or(0) * area;
    let mut y = Vec::with_capacity(x.len());
    for lane in x.chunks(together.max(1)) {
        let moments = Moments::of(lane, epsilon);
        for &x in lane {
            let channel = y.len() / area % channels;
            y.push(T::store(moments.standardize(x).mul(scale[channel]).add(bias[channel])));
        }
    }
    c.only(y)
}
