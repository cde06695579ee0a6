//! BatchNormalization in inference: scale, bias, mean and variance per channel (axis 1).

use ir::Type;
use ops::nn::BatchNorm;

use crate::support::Support;
use crate::wgpu::elementwise::map::Map;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};
use crate::wgpu::wgsl::{Body, body, params};

params! {
    /// What is added to the variance.
    struct Epsilon {
        epsilon: f32,
    }
}

const TRAINING: &str = "there is no kernel for training";

const BODY: Body<Epsilon> = body!(Epsilon, "batch_norm.wgsl");

impl Kernel for BatchNorm {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        if self.training_mode { Support::No(TRAINING) } else { floats(x.dtype) }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        if self.training_mode {
            return Err(c.refuse(TRAINING));
        }
        let x = c.get(0)?;
        // Without a channel axis there is one channel.
        let mut shape = vec![1; x.rank().saturating_sub(2) + 1];
        shape[0] = x.shape().get(1).copied().unwrap_or(1);
        let part = |i| c.get(i)?.reshape(&shape);
        let (scale, bias, mean, variance) = (part(1)?, part(2)?, part(3)?, part(4)?);
        let map = Map::with(c.name, BODY, "normalized", x.dtype(), Epsilon { epsilon: self.epsilon });
        one(c.gpu.map(map, &[x, &scale, &bias, &mean, &variance]))
    }
}
