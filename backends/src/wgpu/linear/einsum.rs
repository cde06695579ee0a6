//! Einsum: any number of operands with any axes in common.

use ir::Type;
use ops::linear::Einsum;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs};

const WHY: &str = "there is no kernel yet that walks operands by the letters of an equation";

impl Kernel for Einsum {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::No(WHY)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        Err(c.refuse(WHY))
    }
}
