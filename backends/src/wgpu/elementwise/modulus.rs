//! Mod: the remainder with the sign of the divisor, or of the dividend with `fmod`.

use ir::{DType, Type};
use ops::elementwise::Mod;

use super::map::Map;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, answer, one};
use crate::wgpu::wgsl::{Body, Class, body};

const BODY: Body<()> = body!((), "modulus.wgsl");

/// The function of the text, if there is one for the dtype.
fn function(op: Mod, dtype: DType) -> Option<&'static str> {
    match Class::of(dtype) {
        Class::Float if op.fmod => Some("of_floats"),
        Class::Float => Some("floored_of_floats"),
        Class::Int | Class::Long if !op.fmod => Some("floored"),
        Class::Int | Class::Long | Class::Uint | Class::Ulong => Some("truncated"),
        Class::Bool | Class::Double => None,
    }
}

impl Kernel for Mod {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        answer(function(*self, x.dtype).is_some(), x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let [a, b] = c.alike()?;
        let function = function(*self, a.dtype()).ok_or_else(|| c.refuse("no such remainder"))?;
        one(c.gpu.map(Map::new(c.name, BODY, function, a.dtype()), &[a, b]))
    }
}
