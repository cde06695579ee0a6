//! Cast and CastLike between every two dtypes.
//!
//! Integers wrap; floats truncate, saturate at the bounds of the target and give 0 for NaN (all of which drivers get
//! wrong left alone); any non-zero is `true`. Each value is rounded once: where a conversion passes through a shorter
//! float, it first makes the bits it will lose visible in one sticky bit. Between 32 bits and `f32` the driver
//! converts, which WGSL lets round to either neighbour: SwiftShader's is not always the nearest.

use ir::{DType, Type};
use ops::elementwise::{Cast, CastLike};

use super::map::Map;
use crate::support::Support;
use crate::wgpu::device::{Gpu, GpuError};
use crate::wgpu::kernel::{Call, Kernel, NOT_STORED, Outputs, one};
use crate::wgpu::record::GpuTensor;
use crate::wgpu::wgsl::{Body, Class, Constant, body, is_stored};

const BODY: Body<()> = body!((), "cast.wgsl");

impl Kernel for Cast {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        if is_stored(self.to) { Support::Yes } else { Support::No(NOT_STORED) }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        one(c.gpu.cast(c.get(0)?, c.output()?.dtype))
    }
}

impl Kernel for CastLike {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        one(c.gpu.cast(c.get(0)?, c.output()?.dtype))
    }
}

impl Gpu {
    /// Converts every element.
    pub(crate) fn cast(&self, x: &GpuTensor, to: DType) -> Result<GpuTensor, GpuError> {
        if x.dtype() == to {
            return Ok(x.clone());
        }
        let (function, constants) = conversion(x.dtype(), to);
        self.map(Map { constants, ..Map::new("Cast", BODY, function, to) }, &[x])
    }
}

/// The function of the text that converts, and the constants it is compiled with.
fn conversion(from: DType, to: DType) -> (&'static str, Vec<(&'static str, Constant)>) {
    let (source, target) = (Class::of(from), Class::of(to));
    let function = match (source, target) {
        (Class::Float, Class::Bool) => "truth_of_float",
        (_, Class::Bool) => "truth",
        (Class::Double, Class::Float) => "narrowed",
        (Class::Float | Class::Double, Class::Int | Class::Uint | Class::Long | Class::Ulong) => "saturated",
        (Class::Long | Class::Ulong, Class::Float) if to != DType::F32 => "shortened",
        (Class::Int, Class::Float) if to != DType::F32 => "rounded_signed",
        (Class::Uint, Class::Float) if to != DType::F32 => "rounded_unsigned",
        (Class::Int | Class::Bool, Class::Ulong) => "through_i64",
        (Class::Uint, Class::Long) => "through_u64",
        _ => "converted",
    };
    let constants = match function {
        "narrowed" => vec![("ODD", Constant::Bool(to != DType::F32))],
        "saturated" => {
            let (low, high) = to.int_range().unwrap_or((0, 1));
            // One above the highest value is a power of two; the lowest is minus a power of two, or zero.
            let real = |v: i128| Constant::Real(source.wgsl(), v as f64);
            vec![("ABOVE", real(high + 1)), ("BELOW", real(low))]
        }
        _ => Vec::new(),
    };
    (function, constants)
}
