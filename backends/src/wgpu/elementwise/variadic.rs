//! Max, Min, Sum and Mean of any number of tensors: two at a time, sums in a dtype that loses nothing.

use ir::{DType, Type};
use ops::elementwise::{Variadic, VariadicFn};

use super::map::Map;
use crate::support::Support;
use crate::wgpu::device::{Gpu, GpuError};
use crate::wgpu::kernel::{Call, Kernel, Outputs, numbers, one};
use crate::wgpu::record::GpuTensor;
use crate::wgpu::wgsl::{Body, accumulator, body, params};

params! {
    /// What a mean is divided by.
    struct Mean {
        operands: f32,
    }
}

const BODY: Body<()> = body!((), "variadic.wgsl");
const MEAN: Body<Mean> = body!(Mean, "mean.wgsl");

impl Kernel for Variadic {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        numbers(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let operands = c.all()?;
        let [first, rest @ ..] = &operands[..] else { return Err(c.refuse("it has no operand")) };
        let dtype = first.dtype();
        match self.0 {
            VariadicFn::Min => one(fold(c.gpu, "Min", dtype, first, rest)),
            VariadicFn::Max => one(fold(c.gpu, "Max", dtype, first, rest)),
            VariadicFn::Sum => {
                let sum = fold(c.gpu, "Sum", accumulator(dtype), first, rest)?;
                one(c.gpu.cast(&sum, dtype))
            }
            VariadicFn::Mean => {
                let sum = fold(c.gpu, "Sum", accumulator(dtype), first, rest)?;
                let mean = Mean { operands: operands.len() as f32 };
                one(c.gpu.map(Map::with(c.name, MEAN, "mean", dtype, mean), &[&sum]))
            }
        }
    }
}

fn fold(
    gpu: &Gpu,
    function: &'static str,
    dtype: DType,
    first: &GpuTensor,
    rest: &[&GpuTensor],
) -> Result<GpuTensor, GpuError> {
    let step = |so_far: GpuTensor, next: &&GpuTensor| {
        gpu.map(Map::new(function, BODY, function, dtype), &[&so_far, next])
    };
    rest.iter().try_fold(gpu.cast(first, dtype)?, step)
}

impl Gpu {
    /// The larger of each two elements, or NaN.
    pub(crate) fn larger(&self, a: &GpuTensor, b: &GpuTensor) -> Result<GpuTensor, GpuError> {
        fold(self, "Max", a.dtype(), a, &[b])
    }

    /// The smaller of each two elements, or NaN.
    pub(crate) fn smaller(&self, a: &GpuTensor, b: &GpuTensor) -> Result<GpuTensor, GpuError> {
        fold(self, "Min", a.dtype(), a, &[b])
    }
}
