//! ScatterElements and ScatterND: an element may be updated more than once, and devices add floats in no atomic step.

use ir::Type;
use ops::movement::{ScatterElements, ScatterNd};

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs};

const WHY: &str = "there is no kernel yet that lets updates meet at an element";

impl Kernel for ScatterElements {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::No(WHY)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        Err(c.refuse(WHY))
    }
}

impl Kernel for ScatterNd {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::No(WHY)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        Err(c.refuse(WHY))
    }
}
