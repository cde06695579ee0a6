//! Gelu, by the error function or by the hyperbolic tangent.

use ir::Type;
use ops::elementwise::Gelu;

use super::map::Map;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one, short_floats};
use crate::wgpu::wgsl::{Body, body};

const BODY: Body<()> = body!((), "gelu.wgsl");

impl Kernel for Gelu {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        short_floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let function = if self.tanh { "by_tanh" } else { "by_erf" };
        one(c.gpu.map(Map::new(c.name, BODY, function, x.dtype()), &[x]))
    }
}
