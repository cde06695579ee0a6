//! Functions of one element, as a table: which class of dtypes each is computed in. What it computes is the function of
//! the same name in `unary.wgsl`.

use ir::{DType, Type};
use ops::elementwise::{Unary, UnaryFn};

use super::map::Map;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, answer, one};
use crate::wgpu::wgsl::{Body, Class, body};

const BODY: Body<()> = body!((), "unary.wgsl");

impl Kernel for Unary {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        answer(has(self.0, x.dtype), x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        match self.0 {
            UnaryFn::Identity => one(Ok(x.clone())),
            _ => one(c.gpu.map(Map::new(c.name, BODY, c.name, x.dtype()), &[x])),
        }
    }
}

/// Doubles have arithmetic only: drivers accept the transcendental functions of `f64` and return garbage.
fn has(f: UnaryFn, dtype: DType) -> bool {
    use UnaryFn as F;
    let class = Class::of(dtype);
    match f {
        F::Identity => true,
        F::Not => class == Class::Bool,
        F::BitwiseNot => class.is_integer(),
        F::Abs | F::Relu => class != Class::Bool,
        F::Neg => class.is_real() || class.is_signed_integer(),
        F::Sign => class == Class::Float || class.is_integer(),
        F::Ceil | F::Floor | F::Reciprocal | F::Softsign | F::Sqrt => class.is_real(),
        F::Acos
        | F::Acosh
        | F::Asin
        | F::Asinh
        | F::Atan
        | F::Atanh
        | F::Cos
        | F::Cosh
        | F::Erf
        | F::Exp
        | F::HardSwish
        | F::Log
        | F::Mish
        | F::Round
        | F::Sigmoid
        | F::Sin
        | F::Sinh
        | F::Softplus
        | F::Tan
        | F::Tanh => class == Class::Float,
    }
}
