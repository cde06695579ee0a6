//! EyeLike: ones on a diagonal, zeros elsewhere.

use ir::{DType, Type};
use ops::movement::EyeLike;

use crate::support::Support;
use crate::wgpu::elementwise::map::Map;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::wgsl::{Body, body};

const BODY: Body<()> = body!((), "eye_like.wgsl");

impl Kernel for EyeLike {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let ty = c.output()?;
        let &[rows, columns] = &ty.extents()[..] else {
            return Err(c.refuse(format!("{ty} is no matrix")));
        };
        // A diagonal outside the matrix is nowhere, however far it is.
        let most = (rows + columns) as i64;
        let k = c.gpu.scalar(DType::I32, self.k.clamp(-most, most).into())?;
        let rows = c.gpu.places(DType::I32, 2, 0, rows)?;
        let columns = c.gpu.places(DType::I32, 2, 1, columns)?;
        one(c.gpu.map(Map::new(c.name, BODY, "diagonal", ty.dtype), &[&rows, &columns, &k]))
    }
}
