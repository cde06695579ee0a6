//! LpNormalization: every lane along an axis over its norm; a lane of zeros stays.

use ir::Type;
use ops::nn::LpNorm;
use ops::reduction::ReduceFn;

use crate::support::Support;
use crate::wgpu::elementwise::map::Map;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};
use crate::wgpu::wgsl::{Body, accumulator, body};

const BODY: Body<()> = body!((), "lp_norm.wgsl");

impl Kernel for LpNorm {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let axis = c.axis(self.axis, x.rank())?;
        let f = if self.taxicab { ReduceFn::L1 } else { ReduceFn::L2 };
        let norm = c.gpu.reduce(f, x, &[axis], accumulator(x.dtype()))?;
        one(c.gpu.map(Map::new(c.name, BODY, "over_norm", x.dtype()), &[x, &norm]))
    }
}
