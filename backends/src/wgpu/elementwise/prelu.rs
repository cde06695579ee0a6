//! PRelu.

use ir::Type;
use ops::elementwise::PRelu;

use super::map::Map;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, numbers, one};
use crate::wgpu::wgsl::{Body, body};

const BODY: Body<()> = body!((), "prelu.wgsl");

impl Kernel for PRelu {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        numbers(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let [x, slope] = c.alike()?;
        one(c.gpu.map(Map::new(c.name, BODY, "prelu", x.dtype()), &[x, slope]))
    }
}
