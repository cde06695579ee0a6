//! Split: a slice for each part.

use ir::Type;
use ops::movement::Split;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs};

impl Kernel for Split {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let axis = c.axis(self.axis, x.rank())?;
        let mut start = vec![0; x.rank()];
        let step = vec![1; x.rank()];
        let part = |ty: &Type| {
            let part = c.gpu.slice(x, &start, &step, &ty.extents());
            start[axis] += ty.shape.get(axis).copied().unwrap_or(0);
            part
        };
        c.outputs.iter().map(part).collect()
    }
}
