//! Where.

use ir::{DType, Type};
use ops::elementwise::Where;

use super::map::Map;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::wgsl::{Body, body};

const BODY: Body<()> = body!((), "select.wgsl");

impl Kernel for Where {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (condition, x, y) = (c.get(0)?, c.get(1)?, c.get(2)?);
        if condition.dtype() != DType::Bool || y.dtype() != x.dtype() {
            let why = format!("operands are {}, {} and {}", condition.dtype(), x.dtype(), y.dtype());
            return Err(c.refuse(why));
        }
        one(c.gpu.map(Map::new(c.name, BODY, "where_true", x.dtype()), &[condition, x, y]))
    }
}
