//! QuantizeLinear to the integers of 8 and 16 bits, divided in f32.

use ir::{DType, Type};
use ops::quantized::QuantizeLinear;

use super::scales::Scales;
use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{Call, Kernel, NOT_STORED, Outputs, one};
use crate::wgpu::record::{GpuTensor, Launch};
use crate::wgpu::wgsl::{Body, Class, Element, Shader, body, is_stored, params};

params! {
    /// The scales, and the least and the largest integer.
    struct Steps {
        scales: Scales,
        has_point: u32,
        low: i32,
        high: i32,
    }
}

const BODY: Body<Steps> = body!(Steps, "quantize_linear.wgsl", "scales.wgsl");

impl Kernel for QuantizeLinear {
    fn support(&self, x: &Type, operands: &[Option<&Type>]) -> Support {
        let point = operands.get(2).copied().flatten().map(|point| point.dtype);
        let to = point.or(self.output_dtype).unwrap_or(DType::U8);
        let is_double = |dtype| Class::of(dtype) == Class::Double;
        if !is_stored(to) {
            Support::No(NOT_STORED)
        } else if is_double(x.dtype) || self.precision.is_some_and(is_double) {
            Support::No("it divides in f32")
        } else {
            Support::Yes
        }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let scales = Scales::new(self.granularity, c)?;
        one(quantized(c, scales, c.get(1)?, c.opt(2), c.output()?.dtype))
    }
}

/// Operand 0 in steps of a scale from a zero point on.
pub(super) fn quantized(
    c: &Call<'_>,
    scales: Scales,
    scale: &GpuTensor,
    point: Option<&GpuTensor>,
    to: DType,
) -> Result<GpuTensor, GpuError> {
    let (x, Some((low, high))) = (c.get(0)?, to.int_range().filter(|_| to.bits() <= 16)) else {
        return Err(GpuError::dtype(c.name, to, "its result is of integers of 8 or 16 bits"));
    };
    if point.is_some_and(|point| point.dtype() != to || point.len() != scale.len()) {
        return Err(c.refuse("the zero points are not those of the scales"));
    }
    let output = c.gpu.alloc(to, x.shape())?;
    let shader = Shader::new(c.name, BODY, DType::F32, Element::Number(to))
        .alias("Y", Element::Number(to))
        .reads("x", Element::Number(x.dtype()))
        .reads("scale", Element::Number(scale.dtype()))
        .reads("point", Element::Number(to));
    let params = Steps { scales, has_point: point.is_some().into(), low: low as i32, high: high as i32 };
    // Nothing is read of what stands for no zero points.
    c.gpu.launch(&Launch::new(&shader, &[x, scale, point.unwrap_or(scale)], params, &output))?;
    Ok(output)
}
