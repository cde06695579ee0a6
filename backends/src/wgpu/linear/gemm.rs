//! Gemm: `alpha · A' · B' + beta · C`, with `C` broadcast to the result.

use ir::Type;
use ops::linear::Gemm;

use super::matmul::{Matrices, product};
use crate::support::Support;
use crate::wgpu::elementwise::map::Map;
use crate::wgpu::kernel::{Call, Kernel, Outputs, numbers, one};
use crate::wgpu::wgsl::{Body, accumulator, body, params};

params! {
    struct Alpha {
        alpha: f32,
    }
}

params! {
    struct Factors {
        alpha: f32,
        beta: f32,
    }
}

const SCALE: Body<Alpha> = body!(Alpha, "gemm_scale.wgsl");
const ADD: Body<Factors> = body!(Factors, "gemm_add.wgsl");

impl Kernel for Gemm {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        if x.dtype.is_float() || is_whole(self.alpha) && is_whole(self.beta) {
            numbers(x.dtype)
        } else {
            Support::No("alpha and beta are not whole and the operands are integers")
        }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (a, b) = (c.get(0)?, c.get(1)?);
        let dtype = a.dtype();
        let (left, right) = (Matrices::new(c, a, self.trans_a)?, Matrices::new(c, b, self.trans_b)?);
        let product = product(c, &left, &right, accumulator(dtype))?;
        let function = if dtype.is_float() { "of_floats" } else { "of_integers" };
        let Some(addend) = c.opt(2) else {
            let scale = Map::with(c.name, SCALE, function, dtype, Alpha { alpha: self.alpha });
            return one(c.gpu.map(scale, &[&product]));
        };
        let factors = Factors { alpha: self.alpha, beta: self.beta };
        let result = c.gpu.map(Map::with(c.name, ADD, function, dtype, factors), &[&product, addend])?;
        if result.shape() != product.shape() {
            return Err(c.refuse(format!("C {:?} does not broadcast to the product", addend.shape())));
        }
        one(Ok(result))
    }
}

/// Whether a factor of integers is one that `i32` holds.
fn is_whole(factor: f32) -> bool {
    factor == factor.trunc() && factor.abs() < 1e6
}
