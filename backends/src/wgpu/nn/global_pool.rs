//! Global pools: reductions over the spatial axes.

use ir::Type;
use ops::nn::{GlobalPool, GlobalPoolFn};
use ops::reduction::ReduceFn;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, answer, one};
use crate::wgpu::reduction::reduce::has;

fn reduction(op: GlobalPool) -> ReduceFn {
    match op.0 {
        GlobalPoolFn::Average => ReduceFn::Mean,
        GlobalPoolFn::Max => ReduceFn::Max,
    }
}

impl Kernel for GlobalPool {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        answer(has(reduction(*self), x.dtype), x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let axes: Vec<_> = (2..x.rank()).collect();
        one(c.gpu.reduce(reduction(*self), x, &axes, x.dtype()))
    }
}
