//! DynamicQuantizeLinear: a scale and a zero point from the range of all elements, and the elements by these.

use ir::{DType, Type};
use ops::quantized::DynamicQuantizeLinear;
use ops::reduction::ReduceFn;

use super::quantize_linear::quantized;
use super::scales::Scales;
use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::elementwise::map::Map;
use crate::wgpu::kernel::{Call, Kernel, Outputs, short_floats};
use crate::wgpu::record::GpuTensor;
use crate::wgpu::wgsl::{Body, body};

const BODY: Body<()> = body!((), "dynamic.wgsl");

impl Kernel for DynamicQuantizeLinear {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        short_floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let all: Vec<_> = (0..x.rank()).collect();
        let extreme =
            |f| -> Result<GpuTensor, GpuError> { c.gpu.reduce(f, x, &all, x.dtype())?.reshape(&[]) };
        let (highest, lowest) = (extreme(ReduceFn::Max)?, extreme(ReduceFn::Min)?);
        let scale = c.gpu.map(Map::new(c.name, BODY, "scale", DType::F32), &[&highest, &lowest])?;
        let point = Map::new(c.name, BODY, "point", DType::F32).giving(DType::U8);
        let point = c.gpu.map(point, &[&lowest, &scale])?;
        let y = quantized(c, Scales::one(x), &scale, Some(&point), DType::U8)?;
        Ok(vec![y, scale, point])
    }
}
