//! BitShift.

use ir::Type;
use ops::elementwise::{BitShift, Direction};

use super::map::Map;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, answer, one};
use crate::wgpu::wgsl::{Body, Class, body};

const BODY: Body<()> = body!((), "bit_shift.wgsl");

impl Kernel for BitShift {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        answer(Class::of(x.dtype).is_integer(), x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let [a, b] = c.alike()?;
        let function = match self.direction {
            Direction::Left => "left",
            Direction::Right => "right",
        };
        one(c.gpu.map(Map::new(c.name, BODY, function, a.dtype()), &[a, b]))
    }
}
