//! Reading a strided view into a new tensor, which is what most movement is; and the places along an axis as a tensor.

use ir::{DType, Tensor, Type};

use crate::wgpu::device::{Gpu, GpuError};
use crate::wgpu::record::{GpuTensor, Launch, View, view_params};
use crate::wgpu::wgsl::{Body, Shader, body};

const BODY: Body<()> = body!((), "strided.wgsl");

impl Gpu {
    /// Reads a strided view into a new tensor.
    pub(crate) fn copy_view(
        &self,
        name: &'static str,
        view: &View<'_>,
        shape: &[usize],
    ) -> Result<GpuTensor, GpuError> {
        let dtype = view.tensor.dtype();
        let shader = Shader::mover(name, BODY, dtype).views(1);
        let output = self.alloc(dtype, shape)?;
        let views = view_params(shape, std::slice::from_ref(view));
        self.launch(&Launch { views, ..Launch::new(&shader, &[view.tensor], (), &output) })?;
        Ok(output)
    }

    /// 0, 1, 2, … along one axis of a tensor of that rank; the other axes are 1.
    pub(crate) fn places(
        &self,
        dtype: DType,
        rank: usize,
        axis: usize,
        n: usize,
    ) -> Result<GpuTensor, GpuError> {
        let mut shape = vec![1i64; rank];
        shape[axis] = n as i64;
        self.upload(&Tensor::from_i128_fn(&Type::new(dtype, shape), |i| i as i128))
    }

    /// One number.
    pub(crate) fn scalar(&self, dtype: DType, value: i128) -> Result<GpuTensor, GpuError> {
        self.upload(&Tensor::from_i128_fn(&Type::new(dtype, []), |_| value))
    }
}
