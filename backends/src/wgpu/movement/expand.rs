//! Expand: broadcasting in both directions, to the type that the type rule gives.

use ir::Type;
use ops::movement::Expand;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::{View, broadcast_shape};

impl Kernel for Expand {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let shape = broadcast_shape(c.name, &[x.shape(), &c.output()?.extents()])?;
        one(c.gpu.copy_view(c.name, &View::broadcast(c.name, x, &shape)?, &shape))
    }
}
