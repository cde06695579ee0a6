//! Softmax and LogSoftmax, less the maximum and with `f32` in between; Hardmax.

use ir::{DType, Type};
use ops::nn::{Softmax, SoftmaxFn};
use ops::reduction::{ArgFn, ReduceFn};

use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::elementwise::map::Map;
use crate::wgpu::kernel::{Call, Kernel, Outputs, numbers, one, short_floats};
use crate::wgpu::record::GpuTensor;
use crate::wgpu::wgsl::{Body, body};

const BODY: Body<()> = body!((), "softmax.wgsl");

impl Kernel for Softmax {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        match self.function {
            SoftmaxFn::Softmax | SoftmaxFn::LogSoftmax => short_floats(x.dtype),
            SoftmaxFn::Hardmax => numbers(x.dtype),
        }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let axis = c.axis(self.axis, x.rank())?;
        let map = |function| Map::new(c.name, BODY, function, x.dtype());
        match self.function {
            SoftmaxFn::Softmax => {
                let [_, exp, sum] = exponentials(c, x, axis)?;
                one(c.gpu.map(map("quotient"), &[&exp, &sum]))
            }
            SoftmaxFn::LogSoftmax => {
                let [max, _, sum] = exponentials(c, x, axis)?;
                one(c.gpu.map(map("logarithm"), &[x, &max, &sum]))
            }
            SoftmaxFn::Hardmax if x.is_empty() => one(Ok(x.clone())),
            // 1 at the first of the largest elements, 0 elsewhere.
            SoftmaxFn::Hardmax => {
                let positions = c.gpu.positions(x, axis, ArgFn::Max, false)?;
                let places = c.gpu.places(DType::U32, x.rank(), axis, x.shape()[axis])?;
                one(c.gpu.map(map("at_position"), &[&places, &positions]))
            }
        }
    }
}

/// The maximum along an axis, the exponentials of the elements less it, and their sum, in `f32`.
fn exponentials(c: &Call<'_>, x: &GpuTensor, axis: usize) -> Result<[GpuTensor; 3], GpuError> {
    let wide = DType::F32;
    let max = c.gpu.reduce(ReduceFn::Max, x, &[axis], wide)?;
    let exp = c.gpu.map(Map::new(c.name, BODY, "exponential", wide), &[x, &max])?;
    let sum = c.gpu.reduce(ReduceFn::Sum, &exp, &[axis], wide)?;
    Ok([max, exp, sum])
}
