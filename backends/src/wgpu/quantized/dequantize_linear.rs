//! DequantizeLinear of integers, multiplied in f32.

use ir::Type;
use ops::quantized::DequantizeLinear;

use super::scales::Scales;
use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Class, Element, Shader, body, params};

params! {
    struct Steps {
        scales: Scales,
        has_point: u32,
    }
}

const BODY: Body<Steps> = body!(Steps, "dequantize_linear.wgsl", "scales.wgsl");

impl Kernel for DequantizeLinear {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        match Class::of(x.dtype) {
            Class::Int | Class::Uint => Support::Yes,
            Class::Bool | Class::Long | Class::Ulong | Class::Float | Class::Double => {
                Support::No("it multiplies integers of at most 32 bits")
            }
        }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, scale, point, to) = (c.get(0)?, c.get(1)?, c.opt(2), c.output()?.dtype);
        if Class::of(to) != Class::Float {
            return Err(GpuError::dtype(c.name, to, "its result is of floats of at most 32 bits"));
        }
        if point.is_some_and(|point| point.dtype() != x.dtype() || point.len() != scale.len()) {
            return Err(c.refuse("the zero points are not those of the scales"));
        }
        let output = c.gpu.alloc(to, x.shape())?;
        let number = Element::Number(x.dtype());
        let shader = Shader::new(c.name, BODY, to, Element::Number(to))
            .reads("x", number)
            .reads("scale", Element::Number(scale.dtype()))
            .reads("point", number);
        let scales = Scales::new(self.granularity, c)?;
        let params = Steps { scales, has_point: point.is_some().into() };
        // Nothing is read of what stands for no zero points.
        c.gpu.launch(&Launch::new(&shader, &[x, scale, point.unwrap_or(x)], params, &output))?;
        one(Ok(output))
    }
}
