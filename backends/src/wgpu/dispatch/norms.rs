//! Normalisations: from ONNX's operators to statistics and an affine map.

use ir::DType;
use ops::nn::{GroupNorm, InstanceNorm, LayerNorm, Lrn, MeanVariance, RmsNorm};

use super::Call;
use crate::wgpu::device::Gpu;
use crate::wgpu::error::GpuError;
use crate::wgpu::reduce::accumulator;
use crate::wgpu::tensor::GpuTensor;

impl Gpu {
    /// Its first stage runs in f32 whatever `stash_type` says: a shorter stage may only be less exact.
    pub(super) fn run_layer_norm(&self, op: &LayerNorm, c: &Call<'_>) -> Result<Vec<GpuTensor>, GpuError> {
        let x = c.get(0)?;
        let axes: Vec<_> = (c.axis(op.axis, x.rank())?..x.rank()).collect();
        let statistics = self.statistics(x, &axes, true, DType::F32)?;
        let normalized = self.standardize(&statistics, op.epsilon)?;
        let mut outputs = vec![self.affine(&normalized, Some(c.get(1)?), c.opt(2), x.dtype())?];
        if c.outputs.len() > 1 {
            outputs.push(self.cast(&statistics.mean, op.stash)?);
        }
        if c.outputs.len() > 2 {
            outputs.push(self.inverse_deviation(&statistics, op.epsilon, op.stash)?);
        }
        Ok(outputs)
    }

    pub(super) fn run_instance_norm(&self, op: InstanceNorm, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let x = c.get(0)?;
        let axes: Vec<_> = (2..x.rank()).collect();
        let normalized =
            self.standardize(&self.statistics(x, &axes, true, accumulator(x.dtype()))?, op.epsilon)?;
        self.per_channel(&normalized, c)
    }

    pub(super) fn run_group_norm(&self, op: &GroupNorm, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let x = c.get(0)?;
        let groups = usize::try_from(op.num_groups).unwrap_or(0);
        let [batch, channels, rest @ ..] = x.shape() else { return c.unsupported("it needs a channel axis") };
        if groups == 0 || channels % groups != 0 {
            return Err(GpuError::arguments(c.name, format!("{channels} channels in {groups} groups")));
        }
        let together = channels / groups * rest.iter().product::<usize>();
        let grouped = x.reshape(&[*batch, groups, together])?;
        let normalized = self.standardize(&self.statistics(&grouped, &[2], true, DType::F32)?, op.epsilon)?;
        self.per_channel(&normalized.reshape(x.shape())?, c)
    }

    /// Times the scale and plus the bias of each channel (axis 1).
    fn per_channel(&self, normalized: &GpuTensor, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let mut shape = vec![1; normalized.rank().saturating_sub(1)];
        if let Some(channels) = shape.first_mut() {
            *channels = normalized.shape()[1];
        }
        let (scale, bias) = (c.get(1)?.reshape(&shape)?, c.get(2)?.reshape(&shape)?);
        self.affine(normalized, Some(&scale), Some(&bias), c.output()?.dtype)
    }

    pub(super) fn run_rms_norm(&self, op: &RmsNorm, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let x = c.get(0)?;
        let axes: Vec<_> = (c.axis(op.axis, x.rank())?..x.rank()).collect();
        let normalized = self.standardize(&self.statistics(x, &axes, false, DType::F32)?, op.epsilon)?;
        self.affine(&normalized, Some(c.get(1)?), None, c.output()?.dtype)
    }

    pub(super) fn run_mean_variance(&self, op: &MeanVariance, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let x = c.get(0)?;
        let axes: Vec<_> = op.axes.iter().map(|&a| c.axis(a, x.rank())).collect::<Result<_, _>>()?;
        self.mean_variance_normalization(x, &axes)
    }

    pub(super) fn run_lrn(&self, op: &Lrn, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let size = usize::try_from(op.size).unwrap_or(0);
        self.local_response_normalization(c.get(0)?, size, [op.alpha, op.beta, op.bias])
    }
}
