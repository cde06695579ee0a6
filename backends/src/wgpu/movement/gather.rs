//! Gather: the slices of `x` along an axis that an index tensor names.

use ir::{DType, Type};
use ops::movement::Gather;

use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Element, Shader, body, params};

params! {
    /// `x` seen as `[outer, extent, inner]`.
    struct Axis {
        inner: u32,
        /// How many indices there are.
        indices: u32,
        extent: u32,
    }
}

const BODY: Body<Axis> = body!(Axis, "gather.wgsl", "index.wgsl");

impl Kernel for Gather {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, indices) = (c.get(0)?, c.get(1)?);
        let axis = c.axis(self.axis, x.rank())?;
        let extent = x.shape()[axis];
        if extent == 0 && !indices.is_empty() {
            return Err(c.refuse(format!("axis {axis} of {:?} is empty", x.shape())));
        }
        let inner: usize = x.shape()[axis + 1..].iter().product();
        let shape = [&x.shape()[..axis], indices.shape(), &x.shape()[axis + 1..]].concat();
        let output = c.gpu.alloc(x.dtype(), &shape)?;
        let shader = Shader::mover(c.name, BODY, x.dtype()).reads("indices", index(c, indices.dtype())?);
        let axis = Axis { inner: inner as u32, indices: indices.len() as u32, extent: extent as u32 };
        c.gpu.launch(&Launch::new(&shader, &[x, indices], axis, &output))?;
        one(Ok(output))
    }
}

/// How an index tensor is read.
pub(super) fn index(c: &Call<'_>, dtype: DType) -> Result<Element, GpuError> {
    match dtype {
        DType::I32 | DType::I64 => Ok(Element::Low(dtype)),
        _ => Err(GpuError::dtype(c.name, dtype, "indices are i32 or i64")),
    }
}
