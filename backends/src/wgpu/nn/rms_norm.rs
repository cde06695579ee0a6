//! RMSNormalization.

use ir::{DType, Type};
use ops::nn::RmsNorm;

use super::normalize::{Statistics, affine};
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};

impl Kernel for RmsNorm {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let axes: Vec<_> = (c.axis(self.axis, x.rank())?..x.rank()).collect();
        // The mean square stands for the variance: nothing is centred.
        let statistics = Statistics::of(c, c.gpu.cast(x, DType::F32)?, &axes)?;
        one(affine(c, &statistics.standardized(c, self.epsilon)?, c.get(1)?, None, c.output()?.dtype))
    }
}
