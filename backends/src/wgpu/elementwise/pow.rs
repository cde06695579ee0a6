//! Pow. Operands may differ in dtype; the result has that of the base.

use ir::{DType, Type};
use ops::elementwise::Pow;

use super::map::Map;
use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{ARITHMETIC_ONLY, Call, Kernel, Outputs, answer, one};
use crate::wgpu::record::GpuTensor;
use crate::wgpu::wgsl::{Body, Class, body};

const BODY: Body<()> = body!((), "pow.wgsl");

impl Kernel for Pow {
    /// Of two dtypes, integers compute as one that holds both, and short floats as f32.
    fn support(&self, x: &Type, operands: &[Option<&Type>]) -> Support {
        let Some(y) = operands.get(1).copied().flatten() else { return Support::No("it has no exponent") };
        let (base, exponent) = (x.dtype, y.dtype);
        let integers = base.is_int() && exponent.is_int();
        let short = Class::of(base) == Class::Float && exponent != DType::F64;
        if base == exponent {
            answer(function(base).is_some(), base)
        } else if integers || short {
            Support::Yes
        } else {
            Support::No(ARITHMETIC_ONLY)
        }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (base, exponent) = (c.get(0)?, c.get(1)?);
        let dtype = base.dtype();
        if dtype == exponent.dtype() {
            return one(power(c, base, exponent));
        }
        let both = [dtype, exponent.dtype()];
        // Not every adapter has 64 bits.
        let is_short = both.iter().all(|dtype| dtype.bits() < 32 || *dtype == DType::I32);
        let wide = match both.iter().all(|dtype| dtype.is_int()) {
            false => DType::F32,
            true if is_short => DType::I32,
            true => DType::I64,
        };
        let is_integer = exponent.dtype().is_int();
        let (base, wide_exponent) = (c.gpu.cast(base, wide)?, c.gpu.cast(exponent, wide)?);
        let power = if wide == DType::F32 && is_integer {
            let map = Map::new(c.name, BODY, "of_float_and_integer", wide);
            c.gpu.map(map, &[&base, &wide_exponent, exponent])?
        } else {
            power(c, &base, &wide_exponent)?
        };
        one(c.gpu.cast(&power, dtype))
    }
}

fn function(dtype: DType) -> Option<&'static str> {
    match Class::of(dtype) {
        Class::Float => Some("of_floats"),
        Class::Int | Class::Uint | Class::Long | Class::Ulong => Some("of_integers"),
        Class::Bool | Class::Double => None,
    }
}

fn power(c: &Call<'_>, base: &GpuTensor, exponent: &GpuTensor) -> Result<GpuTensor, GpuError> {
    let dtype = base.dtype();
    let function = function(dtype).ok_or_else(|| GpuError::dtype(c.name, dtype, ARITHMETIC_ONLY))?;
    c.gpu.map(Map::new(c.name, BODY, function, dtype), &[base, exponent])
}
