//! Clip: the smaller of the upper bound and of max(x, lower bound). If the bounds cross, the upper one wins.

use ir::Type;
use ops::elementwise::Clip;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, numbers, one};

impl Kernel for Clip {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        numbers(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let mut x = c.get(0)?.clone();
        if let Some(low) = c.opt(1) {
            x = c.gpu.larger(&x, low)?;
        }
        if let Some(high) = c.opt(2) {
            x = c.gpu.smaller(&x, high)?;
        }
        one(Ok(x))
    }
}
