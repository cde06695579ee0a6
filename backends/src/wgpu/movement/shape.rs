//! Shape and Size: what the host knows, as a tensor.

use ir::{DType, Tensor, Type};
use ops::movement::{Shape, Size};

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};

impl Kernel for Shape {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let shape = c.get(0)?.shape();
        let rank = shape.len() as i64;
        let clamp = |axis: i64| (if axis < 0 { axis + rank } else { axis }).clamp(0, rank) as usize;
        let (start, end) = (clamp(self.start), self.end.map_or(shape.len(), clamp));
        let sizes = shape.get(start..end).unwrap_or_default();
        let ty = Type::new(DType::I64, [sizes.len() as i64]);
        one(c.gpu.upload(&Tensor::from_i128_fn(&ty, |i| sizes[i] as i128)))
    }
}

impl Kernel for Size {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        one(c.gpu.scalar(DType::I64, c.get(0)?.len() as i128))
    }
}
