//! Numbers as few integers: there are no kernels yet.

use ir::Type;
use ops::quantized::{DequantizeLinear, DynamicQuantizeLinear, QuantizeLinear};

use super::kernel::{Call, Kernel, Outputs};
use crate::support::Support;

const WHY: &str = "there is no kernel yet that rounds to integers of 8 and 16 bits";

impl Kernel for QuantizeLinear {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::No(WHY)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        Err(c.refuse(WHY))
    }
}

impl Kernel for DequantizeLinear {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::No(WHY)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        Err(c.refuse(WHY))
    }
}

impl Kernel for DynamicQuantizeLinear {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::No(WHY)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        Err(c.refuse(WHY))
    }
}
