//! InstanceNormalization and GroupNormalization: scale and bias of each channel (axis 1).

use ir::{DType, Type};
use ops::nn::{GroupNorm, InstanceNorm};

use super::normalize::{Statistics, affine};
use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};
use crate::wgpu::record::GpuTensor;
use crate::wgpu::wgsl::accumulator;

impl Kernel for InstanceNorm {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let axes: Vec<_> = (2..x.rank()).collect();
        let statistics = Statistics::new(c, x, &axes, accumulator(x.dtype()))?;
        one(per_channel(c, &statistics.standardized(c, self.epsilon)?))
    }
}

impl Kernel for GroupNorm {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let groups = usize::try_from(self.num_groups).unwrap_or(0);
        let [batch, channels, rest @ ..] = x.shape() else { return Err(c.refuse("it needs a channel axis")) };
        if groups == 0 || channels % groups != 0 {
            return Err(c.refuse(format!("{channels} channels in {groups} groups")));
        }
        let together = channels / groups * rest.iter().product::<usize>();
        let grouped = x.reshape(&[*batch, groups, together])?;
        let statistics = Statistics::new(c, &grouped, &[2], DType::F32)?;
        one(per_channel(c, &statistics.standardized(c, self.epsilon)?.reshape(x.shape())?))
    }
}

/// Times the scale and plus the bias of each channel.
fn per_channel(c: &Call<'_>, normalized: &GpuTensor) -> Result<GpuTensor, GpuError> {
    let mut shape = vec![1; normalized.rank().saturating_sub(1)];
    if let Some(channels) = shape.first_mut() {
        *channels = normalized.shape()[1];
    }
    let (scale, bias) = (c.get(1)?.reshape(&shape)?, c.get(2)?.reshape(&shape)?);
    affine(c, normalized, &scale, Some(&bias), c.output()?.dtype)
}
