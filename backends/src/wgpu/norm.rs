//! Softmax and the normalisations, composed of reductions and elementwise kernels with `f32` (or `f64`) in between.

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::map::Map;
use super::reduce::{Reduce, accumulator};
use super::tensor::GpuTensor;
use super::wgsl::Class;
use super::window::{Pool, Window};

/// What the normalisations know of a tensor, with the axes they run over kept as 1.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// The mean over the axes.
    pub mean: GpuTensor,
    /// The elements less the mean, or the elements themselves where they are not centred.
    pub deviation: GpuTensor,
    /// The mean of the squares of `deviation`.
    pub variance: GpuTensor,
}

/// The square root for a dtype.
pub(super) fn root(dtype: DType) -> &'static str {
    if dtype == DType::F64 { "sqrt" } else { "f_sqrt" }
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

    /// Mean and variance over some axes, in `precision` (`F32` or `F64`). Without `center`, the variance is the mean
    /// square, as `RMSNormalization` has it.
    pub fn statistics(
        &self,
        x: &GpuTensor,
        axes: &[usize],
        center: bool,
        precision: DType,
    ) -> Result<Statistics, GpuError> {
        if !x.dtype().is_float() {
            return Err(GpuError::dtype("Normalization", x.dtype(), "it is defined for floats"));
        }
        let x = self.cast(x, precision)?;
        let mean = self.reduce(Reduce::Mean, &x, axes, true)?;
        let deviation = if center {
            self.map(&Map { name: "a - b", expr: "a - b", dtype: precision, params: &[] }, &[&x, &mean])?
        } else {
            x
        };
        let square =
            self.map(&Map { name: "a * a", expr: "a * a", dtype: precision, params: &[] }, &[&deviation])?;
        let variance = self.reduce(Reduce::Mean, &square, axes, true)?;
        Ok(Statistics { mean, deviation, variance })
    }

    /// The deviations over the root of the variance plus `epsilon`.
    pub fn standardize(&self, s: &Statistics, epsilon: f32) -> Result<GpuTensor, GpuError> {
        let dtype = s.deviation.dtype();
        let expr = format!("a / {}(b + T(q0))", root(dtype));
        self.map(
            &Map { name: "standardize", expr: &expr, dtype, params: &[epsilon] },
            &[&s.deviation, &s.variance],
        )
    }

    /// One over the root of the variance plus `epsilon`, as `LayerNormalization` gives it out.
    pub fn inverse_deviation(&self, s: &Statistics, epsilon: f32, to: DType) -> Result<GpuTensor, GpuError> {
        let expr = format!("T(1) / {}(T(a) + T(q0))", root(to));
        self.map(
            &Map { name: "inverse deviation", expr: &expr, dtype: to, params: &[epsilon] },
            &[&s.variance],
        )
    }

    /// `x · scale + bias`, in the dtype of the result; scale and bias broadcast to `x`.
    pub fn affine(
        &self,
        x: &GpuTensor,
        scale: Option<&GpuTensor>,
        bias: Option<&GpuTensor>,
        to: DType,
    ) -> Result<GpuTensor, GpuError> {
        let (name, expr) = match (scale, bias) {
            (Some(_), Some(_)) => ("scale and bias", "T(a) * T(b) + T(c)"),
            (Some(_), None) => ("scale", "T(a) * T(b)"),
            (None, Some(_)) => ("bias", "T(a) + T(b)"),
            (None, None) => return self.cast(x, to),
        };
        let operands: Vec<_> = [Some(x), scale, bias].into_iter().flatten().collect();
        let result = self.map(&Map { name, expr, dtype: to, params: &[] }, &operands)?;
        if result.shape() != x.shape() {
            return Err(GpuError::arguments(name, format!("they do not broadcast to {:?}", x.shape())));
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
        let expr = format!("(a - T(d)) / {}(T(e) + T(q0)) * T(b) + T(c)", root(dtype));
        let map = Map { name, expr: &expr, dtype, params: &[epsilon] };
        self.map(&map, &[x, &scale?, &bias?, &mean?, &variance?])
    }

    /// ONNX `LpNormalization`: every lane along an axis over its norm; a lane of zeros stays.
    pub fn lp_normalization(&self, x: &GpuTensor, axis: usize, taxicab: bool) -> Result<GpuTensor, GpuError> {
        let dtype = x.dtype();
        let f = if taxicab { Reduce::L1 } else { Reduce::L2 };
        let norm = self.reduce_to(f, x, &[axis], true, accumulator(dtype))?;
        let expr = "select(a / b, T(0), b == T(0))";
        self.map(&Map { name: "LpNormalization", expr, dtype, params: &[] }, &[x, &norm])
    }

    /// ONNX `MeanVarianceNormalization`, which adds 1e-9 to the root and not to the variance.
    pub fn mean_variance_normalization(&self, x: &GpuTensor, axes: &[usize]) -> Result<GpuTensor, GpuError> {
        let precision = accumulator(x.dtype());
        let s = self.statistics(x, axes, true, precision)?;
        let expr = format!("a / ({}(b) + T(q0))", root(precision));
        let map = Map { name: "MeanVarianceNormalization", expr: &expr, dtype: x.dtype(), params: &[1e-9] };
        self.map(&map, &[&s.deviation, &s.variance])
    }

    /// ONNX `LRN`: x over `(bias + alpha · mean square of neighbouring channels) ^ beta`. The neighbours' mean is an
    /// average pool over the channel axis with its padding counted.
    pub fn local_response_normalization(
        &self,
        x: &GpuTensor,
        size: usize,
        [alpha, beta, bias]: [f32; 3],
    ) -> Result<GpuTensor, GpuError> {
        let name = "LRN";
        let dtype = x.dtype();
        if Class::of(dtype) != Class::Float {
            return Err(GpuError::dtype(name, dtype, "WGSL has powers for f32 and shorter only"));
        }
        let [batch, channels, rest @ ..] = x.shape() else {
            return Err(GpuError::arguments(name, format!("{:?} has no channel axis", x.shape())));
        };
        let square = self.map(&Map { name: "a * a", expr: "a * a", dtype: DType::F32, params: &[] }, &[x])?;
        let inner = rest.iter().product();
        let window = Window {
            kernel: vec![size, 1],
            strides: vec![1, 1],
            dilations: vec![1, 1],
            pads_begin: vec![size.saturating_sub(1) / 2, 0],
            pads_end: vec![size / 2, 0],
            output: vec![*channels, inner],
        };
        let square = square.reshape(&[*batch, 1, *channels, inner])?;
        let mean = self.pool(Pool::AverageWithPadding, &square, &window)?.reshape(x.shape())?;
        let expr = "a / f_pow(q2 + q0 * b, q1)";
        self.map(&Map { name, expr, dtype, params: &[alpha, beta, bias] }, &[x, &mean])
    }
}
