//! IsNaN.

use ir::{DType, Type};
use ops::elementwise::IsNaN;

use super::map::Map;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};
use crate::wgpu::wgsl::{Body, body};

const BODY: Body<()> = body!((), "is_nan.wgsl");

impl Kernel for IsNaN {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        one(c.gpu.map(Map::new(c.name, BODY, "is_not_a_number", x.dtype()).giving(DType::Bool), &[x]))
    }
}
