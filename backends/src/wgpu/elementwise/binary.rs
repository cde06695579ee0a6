//! Functions of two elements: the function of the same name in `binary.wgsl`.

use ir::{DType, Type};
use ops::elementwise::{Binary, BinaryFn};

use super::map::Map;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, answer, one};
use crate::wgpu::wgsl::{Body, Class, body};

const BODY: Body<()> = body!((), "binary.wgsl");

impl Kernel for Binary {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        answer(has(self.0, x.dtype), x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let [a, b] = c.alike()?;
        one(c.gpu.map(Map::new(c.name, BODY, c.name, a.dtype()), &[a, b]))
    }
}

fn has(f: BinaryFn, dtype: DType) -> bool {
    let class = Class::of(dtype);
    match f {
        BinaryFn::Add | BinaryFn::Sub | BinaryFn::Mul | BinaryFn::Div => class != Class::Bool,
        BinaryFn::And | BinaryFn::Or | BinaryFn::Xor => class == Class::Bool,
        BinaryFn::BitwiseAnd | BinaryFn::BitwiseOr | BinaryFn::BitwiseXor => class.is_integer(),
    }
}
