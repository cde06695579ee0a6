//! What the normalisations are composed of: statistics, standardising, scale and bias, with `f32` (or `f64`) in between.

use ir::DType;
use ops::reduction::ReduceFn;

use crate::wgpu::device::GpuError;
use crate::wgpu::elementwise::map::Map;
use crate::wgpu::kernel::Call;
use crate::wgpu::record::GpuTensor;
use crate::wgpu::wgsl::{Body, body, params};

params! {
    /// What is added to the variance.
    struct Epsilon {
        epsilon: f32,
    }
}

const BODY: Body<()> = body!((), "normalize.wgsl");
const STANDARDIZE: Body<Epsilon> = body!(Epsilon, "standardize.wgsl");

/// What the normalisations know of a tensor, with the axes they run over kept as 1.
pub(super) struct Statistics {
    /// What is standardised: the elements less their mean, or the elements themselves.
    pub(super) deviation: GpuTensor,
    /// The mean of the squares of `deviation`.
    pub(super) variance: GpuTensor,
}

/// The mean over some axes and the elements less it, in `precision` (`F32` or `F64`).
pub(super) fn centred(
    c: &Call<'_>,
    x: &GpuTensor,
    axes: &[usize],
    precision: DType,
) -> Result<[GpuTensor; 2], GpuError> {
    let x = c.gpu.cast(x, precision)?;
    let mean = c.gpu.reduce(ReduceFn::Mean, &x, axes, precision)?;
    let deviation = c.gpu.map(Map::new(c.name, BODY, "difference", precision), &[&x, &mean])?;
    Ok([mean, deviation])
}

impl Statistics {
    /// Of the elements less their mean.
    pub(super) fn new(
        c: &Call<'_>,
        x: &GpuTensor,
        axes: &[usize],
        precision: DType,
    ) -> Result<Self, GpuError> {
        let [_, deviation] = centred(c, x, axes, precision)?;
        Self::of(c, deviation, axes)
    }

    /// The standardisation of these deviations, in their own precision.
    pub(super) fn of(c: &Call<'_>, deviation: GpuTensor, axes: &[usize]) -> Result<Self, GpuError> {
        let precision = deviation.dtype();
        let variance = c.gpu.reduce(ReduceFn::Mean, &square(c, &deviation, precision)?, axes, precision)?;
        Ok(Self { deviation, variance })
    }

    /// The deviations over the root of the variance plus `epsilon`.
    pub(super) fn standardized(&self, c: &Call<'_>, epsilon: f32) -> Result<GpuTensor, GpuError> {
        let map = Map::with(c.name, STANDARDIZE, "standardized", self.deviation.dtype(), Epsilon { epsilon });
        c.gpu.map(map, &[&self.deviation, &self.variance])
    }

    /// One over the root of the variance plus `epsilon`, as `LayerNormalization` gives it out.
    pub(super) fn inverse_deviation(
        &self,
        c: &Call<'_>,
        epsilon: f32,
        to: DType,
    ) -> Result<GpuTensor, GpuError> {
        let map = Map::with(c.name, STANDARDIZE, "inverse_deviation", to, Epsilon { epsilon });
        c.gpu.map(map, &[&self.variance])
    }
}

/// Every element times itself, as `to`.
pub(super) fn square(c: &Call<'_>, x: &GpuTensor, to: DType) -> Result<GpuTensor, GpuError> {
    c.gpu.map(Map::new(c.name, BODY, "square", to), &[x])
}

/// `x · scale + bias`, in the dtype of the result; scale and bias broadcast to `x`.
pub(super) fn affine(
    c: &Call<'_>,
    x: &GpuTensor,
    scale: &GpuTensor,
    bias: Option<&GpuTensor>,
    to: DType,
) -> Result<GpuTensor, GpuError> {
    let result = match bias {
        Some(bias) => c.gpu.map(Map::new(c.name, BODY, "scaled_and_shifted", to), &[x, scale, bias])?,
        None => c.gpu.map(Map::new(c.name, BODY, "scaled", to), &[x, scale])?,
    };
    if result.shape() != x.shape() {
        return Err(c.refuse(format!("scale and bias do not broadcast to {:?}", x.shape())));
    }
    Ok(result)
}
