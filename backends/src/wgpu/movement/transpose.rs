//! Transpose: axis `a` of the result is axis `perm[a]` of `x`.

use ir::Type;
use ops::movement::Transpose;

use crate::support::Support;
use crate::wgpu::device::{Gpu, GpuError};
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::{GpuTensor, View, strides};

impl Kernel for Transpose {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let perm: Vec<_> = match &self.perm {
            Some(perm) => perm.iter().map(|&a| c.axis(a, x.rank())).collect::<Result<_, _>>()?,
            None => (0..x.rank()).rev().collect(),
        };
        one(c.gpu.transpose(x, &perm))
    }
}

impl Gpu {
    /// The tensor with its axes in another order.
    pub(crate) fn transpose(&self, x: &GpuTensor, perm: &[usize]) -> Result<GpuTensor, GpuError> {
        let mut sorted = perm.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..x.rank()) {
            let why = format!("{perm:?} is no permutation of {} axes", x.rank());
            return Err(GpuError::arguments("Transpose", why));
        }
        let whole = strides(x.shape());
        let shape: Vec<_> = perm.iter().map(|&a| x.shape()[a]).collect();
        let view = View { tensor: x, offset: 0, strides: perm.iter().map(|&a| whole[a]).collect() };
        self.copy_view("Transpose", &view, &shape)
    }
}
