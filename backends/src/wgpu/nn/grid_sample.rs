//! GridSample: there are no kernels yet.

use ir::Type;
use ops::nn::GridSample;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs};

const WHY: &str = "there is no kernel yet that samples between elements";

impl Kernel for GridSample {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::No(WHY)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        Err(c.refuse(WHY))
    }
}
