//! GlobalLpPool, for the norms of sums and of squares: reductions over the spatial axes.

use ir::Type;
use ops::nn::GlobalLpPool;
use ops::reduction::ReduceFn;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};

impl Kernel for GlobalLpPool {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        match self.p {
            1 | 2 => floats(x.dtype),
            _ => Support::No("kernels exist for p = 1 and p = 2"),
        }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let axes: Vec<_> = (2..x.rank()).collect();
        let function = if self.p == 1 { ReduceFn::L1 } else { ReduceFn::L2 };
        one(c.gpu.reduce(function, x, &axes, x.dtype()))
    }
}
