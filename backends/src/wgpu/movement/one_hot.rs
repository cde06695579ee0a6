//! OneHot: along a new axis, the second of `values` where an index points and the first elsewhere. Indices of any
//! numeric dtype are truncated, and count from the end if negative.

use ir::{DType, Type};
use ops::movement::OneHot;

use crate::support::Support;
use crate::wgpu::elementwise::map::Map;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::wgsl::{Body, body};

const BODY: Body<()> = body!((), "one_hot.wgsl");

impl Kernel for OneHot {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (gpu, indices, values) = (c.gpu, c.get(0)?, c.get(1)?);
        let axis = c.axis(self.axis, c.output()?.rank())?;
        let depth = self.depth.max(0) as usize;
        if axis > indices.rank() || values.shape() != [2] {
            let why = format!("axis {axis} for indices {:?}, values {:?}", indices.shape(), values.shape());
            return Err(c.refuse(why));
        }
        let mut shape = indices.shape().to_vec();
        shape.insert(axis, 1);
        // As signed numbers, the largest would count from the end. What saturates is beyond any axis.
        let (whole, function) = match indices.dtype() {
            unsigned @ (DType::U32 | DType::U64) => (unsigned, "of_unsigned"),
            DType::I64 => (DType::I64, "of_signed"),
            _ => (DType::I32, "of_signed"),
        };
        let indices = gpu.cast(indices, whole)?.reshape(&shape)?;
        let places = gpu.places(whole, shape.len(), axis, depth)?;
        let depth = gpu.scalar(whole, depth as i128)?;
        let value = |i| gpu.slice(values, &[i], &[1], &[1])?.reshape(&[]);
        let map = Map::new(c.name, BODY, function, values.dtype());
        one(gpu.map(map, &[&places, &indices, &value(0)?, &value(1)?, &depth]))
    }
}
