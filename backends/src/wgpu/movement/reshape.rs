//! Operators that give the same elements another shape: no data moves.

use ir::Type;
use ops::movement::{Flatten, Reshape, Squeeze, Unsqueeze};

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};

macro_rules! reshapes {
    ($($operator:ty),*) => {
        $(impl Kernel for $operator {
            fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
                Support::Yes
            }

            fn run(&self, c: &Call<'_>) -> Outputs {
                one(c.get(0)?.reshape(&c.output()?.extents()))
            }
        })*
    };
}

reshapes!(Reshape, Squeeze, Unsqueeze, Flatten);
