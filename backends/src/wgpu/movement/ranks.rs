//! How many elements that are not zero come before each element: the place of the element once zeros are left out.

use ir::DType;

use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::Call;
use crate::wgpu::record::{GpuTensor, Launch};
use crate::wgpu::wgsl::{Body, Class, Element, Shader, body, params};

params! {
    /// The elements that a launch counts.
    struct Walk {
        start: u32,
        end: u32,
    }
}

const BODY: Body<Walk> = body!(Walk, "ranks.wgsl", "there.wgsl");

/// The function of `there.wgsl` that says whether an element is not zero.
pub(super) fn is_there(dtype: DType) -> &'static str {
    if Class::of(dtype) == Class::Float { "float_is_there" } else { "number_is_there" }
}

/// How many elements before each one are not zero.
pub(super) fn ranks(c: &Call<'_>, x: &GpuTensor) -> Result<GpuTensor, GpuError> {
    let output = c.gpu.alloc(DType::U32, x.shape())?;
    let shader = Shader::new(c.name, BODY, x.dtype(), Element::Low(DType::U32))
        .reads("x", Element::Number(x.dtype()))
        .means("is_there", is_there(x.dtype()));
    for stretch in c.stretches(x.len(), 1)? {
        let walk = Walk { start: stretch.start, end: stretch.end };
        c.gpu.launch(&Launch { count: 1, ..Launch::new(&shader, &[x], walk, &output) })?;
    }
    Ok(output)
}
