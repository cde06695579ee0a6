//! Softmax and the normalisations, composed of reductions and elementwise kernels with `f32` in between.

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::map::Map;
use super::reduce::{Reduce, accumulator};
use super::tensor::GpuTensor;
use super::wgsl::Class;

/// What [`Gpu::normalize`] does with the deviations from the mean.
#[derive(Clone, Copy, Debug)]
pub struct Normalize<'a> {
    /// The axes the mean and variance are taken over.
    pub axes: &'a [usize],
    /// Added to the variance.
    pub epsilon: f32,
    /// Whether the mean is subtracted; `RMSNormalization` does not.
    pub center: bool,
}

impl Gpu {
    /// ONNX `Softmax` (opset 13 and later) along one axis, or its logarithm.
    pub fn softmax(&self, x: &GpuTensor, axis: usize, logarithm: bool) -> Result<GpuTensor, GpuError> {
        let name = if logarithm { "LogSoftmax" } else { "Softmax" };
        let dtype = x.dtype();
        if Class::of(dtype) != Class::Float {
            return Err(GpuError::dtype(name, dtype, "WGSL has exp for f32 and shorter only"));
        }
        let wide = DType::F32;
        let max = self.reduce_to(Reduce::Max, x, &[axis], true, wide)?;
        let exp = self
            .map(&Map { name: "exp of a - b", expr: "f_exp(a - b)", dtype: wide, params: &[] }, &[x, &max])?;
        let sum = self.reduce_to(Reduce::Sum, &exp, &[axis], true, wide)?;
        if logarithm {
            let map = Map { name, expr: "a - b - f_log(c)", dtype, params: &[] };
            return self.map(&map, &[x, &max, &sum]);
        }
        self.map(&Map { name, expr: "a / b", dtype, params: &[] }, &[&exp, &sum])
    }

    /// Deviations from the mean over the root of the mean square deviation, times `scale`, plus `bias`: ONNX's
    /// `LayerNormalization`, `InstanceNormalization`, `GroupNormalization` and `RMSNormalization`, given axes, and scale
    /// and bias that broadcast to `x`.
    pub fn normalize(
        &self,
        x: &GpuTensor,
        how: Normalize<'_>,
        scale: Option<&GpuTensor>,
        bias: Option<&GpuTensor>,
    ) -> Result<GpuTensor, GpuError> {
        let name = "Normalization";
        let dtype = x.dtype();
        if !dtype.is_float() {
            return Err(GpuError::dtype(name, dtype, "it is defined for floats"));
        }
        let wide = accumulator(dtype);
        let deviation = if how.center {
            let mean = self.reduce_to(Reduce::Mean, x, how.axes, true, wide)?;
            self.map(&Map { name: "a - b", expr: "a - b", dtype: wide, params: &[] }, &[x, &mean])?
        } else {
            self.map(&Map { name: "widen", expr: "a", dtype: wide, params: &[] }, &[x])?
        };
        let square =
            self.map(&Map { name: "square", expr: "a * a", dtype: wide, params: &[] }, &[&deviation])?;
        let variance = self.reduce_to(Reduce::Mean, &square, how.axes, true, wide)?;
        let root = if wide == DType::F64 { "sqrt" } else { "f_sqrt" };
        let (mut expr, mut operands) = (format!("a / {root}(b + T(q0))"), vec![&deviation, &variance]);
        for (part, operator) in [(scale, "*"), (bias, "+")] {
            if let Some(part) = part {
                let operand = if operands.len() == 2 { "c" } else { "d" };
                expr = format!("{expr} {operator} T({operand})");
                operands.push(part);
            }
        }
        let params = [how.epsilon];
        let map = Map { name: &format!("normalize {expr}"), expr: &expr, dtype, params: &params };
        let result = self.map(&map, &operands)?;
        if result.shape() != x.shape() {
            return Err(GpuError::arguments(
                name,
                format!("scale or bias does not broadcast to {:?}", x.shape()),
            ));
        }
        Ok(result)
    }

    /// ONNX `BatchNormalization` in inference: scale, bias, mean and variance per channel (axis 1).
    pub fn batch_normalization(
        &self,
        x: &GpuTensor,
        [scale, bias, mean, variance]: [&GpuTensor; 4],
        epsilon: f32,
    ) -> Result<GpuTensor, GpuError> {
        let name = "BatchNormalization";
        let dtype = x.dtype();
        if !dtype.is_float() {
            return Err(GpuError::dtype(name, dtype, "it is defined for floats"));
        }
        // Without a channel axis there is one channel.
        let channels = x.shape().get(1).copied().unwrap_or(1);
        let mut per_channel = vec![1; x.rank().saturating_sub(2) + 1];
        per_channel[0] = channels;
        let [scale, bias, mean, variance] = [scale, bias, mean, variance].map(|t| t.reshape(&per_channel));
        let root = if dtype == DType::F64 { "sqrt" } else { "f_sqrt" };
        let expr = format!("(a - T(d)) / {root}(T(e) + T(q0)) * T(b) + T(c)");
        let map = Map { name, expr: &expr, dtype, params: &[epsilon] };
        self.map(&map, &[x, &scale?, &bias?, &mean?, &variance?])
    }
}
