//! LayerNormalization. Its first stage runs in f32 whatever `stash_type` says: a shorter stage may only be less exact.

use ir::{DType, Type};
use ops::nn::LayerNorm;

use super::normalize::{Statistics, affine, centred};
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats};

impl Kernel for LayerNorm {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let axes: Vec<_> = (c.axis(self.axis, x.rank())?..x.rank()).collect();
        let [mean, deviation] = centred(c, x, &axes, DType::F32)?;
        let statistics = Statistics::of(c, deviation, &axes)?;
        let normalized = statistics.standardized(c, self.epsilon)?;
        let mut outputs = vec![affine(c, &normalized, c.get(1)?, c.opt(2), x.dtype())?];
        if c.outputs.len() > 1 {
            outputs.push(c.gpu.cast(&mean, self.stash)?);
        }
        if c.outputs.len() > 2 {
            outputs.push(statistics.inverse_deviation(c, self.epsilon, self.stash)?);
        }
        Ok(outputs)
    }
}
