//! MeanVarianceNormalization, which adds 1e-9 to the root and not to the variance.

use ir::Type;
use ops::nn::MeanVariance;

use super::normalize::Statistics;
use crate::support::Support;
use crate::wgpu::elementwise::map::Map;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};
use crate::wgpu::wgsl::{Body, accumulator, body, params};

params! {
    /// What is added to the root of the variance.
    struct Epsilon {
        epsilon: f32,
    }
}

const BODY: Body<Epsilon> = body!(Epsilon, "mean_variance.wgsl");

impl Kernel for MeanVariance {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        // No axes named means all of them, as for ONNX's ReduceMean, by which the operator is defined.
        let axes: Vec<_> = match self.axes.as_slice() {
            [] => (0..x.rank()).collect(),
            axes => axes.iter().map(|&a| c.axis(a, x.rank())).collect::<Result<_, _>>()?,
        };
        let s = Statistics::new(c, x, &axes, accumulator(x.dtype()))?;
        let map = Map::with(c.name, BODY, "normalized", x.dtype(), Epsilon { epsilon: 1e-9 });
        one(c.gpu.map(map, &[&s.deviation, &s.variance]))
    }
}
