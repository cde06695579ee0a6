//! IsNaN and IsInf.

use ir::{DType, Type};
use ops::elementwise::Predicate;

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

const IS_NAN: Body<()> = body!((), "is_nan.wgsl");
const IS_INF: Body<Signs> = body!(Signs, "is_inf.wgsl");

impl Kernel for Predicate {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let dtype = x.dtype();
        match *self {
            Self::IsNaN => {
                one(c.gpu.map(Map::new(c.name, IS_NAN, "is_not_a_number", dtype).giving(DType::Bool), &[x]))
            }
            Self::IsInf { detect_negative, detect_positive } => {
                let signs = Signs { negative: detect_negative.into(), positive: detect_positive.into() };
                let function = if dtype == DType::F64 { "of_doubles" } else { "of_floats" };
                one(c.gpu.map(Map::with(c.name, IS_INF, function, dtype, signs).giving(DType::Bool), &[x]))
            }
        }
    }
}
