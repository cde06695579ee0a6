//! DepthToSpace and SpaceToDepth: a transpose of axes that are split.

use ir::Type;
use ops::movement::{DepthToSpace, SpaceToDepth};

use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::GpuTensor;

impl Kernel for DepthToSpace {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    /// The channel's number splits into the place in the block and the depth, in either order.
    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, side) = (c.get(0)?, self.blocksize.max(1) as usize);
        let [n, channels, h, w] = images(c, x)?;
        let depth = channels / (side * side);
        let (split, perm) = if self.depth_first {
            ([n, depth, side, side, h, w], [0, 1, 4, 2, 5, 3])
        } else {
            ([n, side, side, depth, h, w], [0, 3, 4, 1, 5, 2])
        };
        one(c.gpu.transpose(&x.reshape(&split)?, &perm)?.reshape(&c.output()?.extents()))
    }
}

impl Kernel for SpaceToDepth {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    /// The channel's number is the place in the block, then the depth, or the other way round.
    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, side) = (c.get(0)?, self.blocksize.max(1) as usize);
        let [n, depth, h, w] = images(c, x)?;
        let split = x.reshape(&[n, depth, h / side, side, w / side, side])?;
        let perm = if self.depth_first { [0, 1, 3, 5, 2, 4] } else { [0, 3, 5, 1, 2, 4] };
        one(c.gpu.transpose(&split, &perm)?.reshape(&c.output()?.extents()))
    }
}

fn images(c: &Call<'_>, x: &GpuTensor) -> Result<[usize; 4], GpuError> {
    <[usize; 4]>::try_from(x.shape()).map_err(|_| c.refuse("it needs four axes"))
}
