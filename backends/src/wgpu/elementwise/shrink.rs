//! Shrink.

use ir::Type;
use ops::elementwise::Shrink;

use super::map::Map;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one, short_floats};
use crate::wgpu::wgsl::{Body, body, params};

params! {
    /// Its attributes.
    struct Attributes {
        bias: f32,
        lambd: f32,
    }
}

const BODY: Body<Attributes> = body!(Attributes, "shrink.wgsl");

impl Kernel for Shrink {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        short_floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let attributes = Attributes { bias: self.bias, lambd: self.lambd };
        one(c.gpu.map(Map::with(c.name, BODY, "shrink", x.dtype(), attributes), &[x]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgpu::Functions;
    use ir::DType;

    #[test]
    fn the_kernel_reads_well() {
        let map = Map::with("Shrink", BODY, "shrink", DType::BF16, Attributes { bias: 0.0, lambd: 0.5 });
        insta::assert_snapshot!(map.shader(&[DType::BF16]).parts().source(Functions::Own));
    }
}
