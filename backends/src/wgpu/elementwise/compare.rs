//! Comparisons. The result is bool whatever the operands are.

use ir::{DType, Type};
use ops::arith::Comparison;
use ops::elementwise::Compare;

use super::map::Map;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, numbers, one};
use crate::wgpu::wgsl::{Body, body};

const BODY: Body<()> = body!((), "compare.wgsl");

impl Kernel for Compare {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        match self.0 {
            Comparison::Equal => Support::Yes,
            Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => {
                numbers(x.dtype)
            }
        }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let [a, b] = c.alike()?;
        let map = Map::new(c.name, BODY, c.name, a.dtype());
        one(c.gpu.map(map.giving(DType::Bool), &[a, b]))
    }
}
