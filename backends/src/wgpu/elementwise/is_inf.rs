//! IsInf.

use ir::{DType, Type};
use ops::elementwise::IsInf;

use super::map::Map;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};
use crate::wgpu::wgsl::{Body, body, params};

params! {
    /// Which infinities count.
    struct Signs {
        negative: u32,
        positive: u32,
    }
}

const BODY: Body<Signs> = body!(Signs, "is_inf.wgsl");

impl Kernel for IsInf {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let signs = Signs { negative: self.detect_negative.into(), positive: self.detect_positive.into() };
        let function = if x.dtype() == DType::F64 { "of_doubles" } else { "of_floats" };
        one(c.gpu.map(Map::with(c.name, BODY, function, x.dtype(), signs).giving(DType::Bool), &[x]))
    }
}
