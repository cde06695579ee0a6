//! `Compress`: which slices stay, is known when the condition is; a place in the result depends on all before it.

use ir::Type;
use ops::movement::Compress;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs};

const WHY: &str = "there is no kernel yet that counts what stays";

impl Kernel for Compress {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::No(WHY)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        Err(c.refuse(WHY))
    }
}
