//! Functions of one `f32`.

use ir::DType;
use ops::elementwise::UnaryFn;

use super::of_each;
use crate::cpu::call::Call;
use crate::cpu::error::Outputs;
use crate::cpu::vector::functions::{erf, exp, ln, ln_1p, select, sigmoid, tanh};

pub(crate) fn run(function: UnaryFn, c: &Call<'_>) -> Option<Outputs> {
    if c.dtype(0) != Ok(DType::F32) {
        return None;
    }
    Some(match function {
        UnaryFn::Abs => of_each(c, f32::abs),
        UnaryFn::Neg => of_each(c, #[inline(always)] |x| -x),
        UnaryFn::Relu => of_each(c, #[inline(always)] |x| select((x > 0.0) | x.is_nan(), x, 0.0)),
        UnaryFn::Floor => of_each(c, f32::floor),
        UnaryFn::Ceil => of_each(c, f32::ceil),
        UnaryFn::Round => of_each(c, f32::round_ties_even),
        UnaryFn::Reciprocal => of_each(c, #[inline(always)] |x| 1.0 / x),
        UnaryFn::Sqrt => of_each(c, f32::sqrt),
        UnaryFn::Exp => of_each(c, exp),
        UnaryFn::Log => of_each(c, ln),
        UnaryFn::Tanh => of_each(c, tanh),
        UnaryFn::Erf => of_each(c, erf),
        UnaryFn::Sigmoid => of_each(c, sigmoid),
        UnaryFn::Softplus => of_each(c, #[inline(always)] |x| select(x > 40.0, x, ln_1p(exp(select(x > 40.0, 40.0, x))))),
        UnaryFn::Mish => of_each(c, mish),
        UnaryFn::Softsign => of_each(c, #[inline(always)] |x| x / (1.0 + x.abs())),
        UnaryFn::HardSwish => of_each(c, hard_swish),
        UnaryFn::Identity
        | UnaryFn::Sign
        | UnaryFn::Sin
        | UnaryFn::Cos
        | UnaryFn::Tan
        | UnaryFn::Asin
        | UnaryFn::Acos
        | UnaryFn::Atan
        | UnaryFn::Sinh
        | UnaryFn::Cosh
        | UnaryFn::Asinh
        | UnaryFn::Acosh
        | UnaryFn::Atanh
        | UnaryFn::Not
        | UnaryFn::BitwiseNot => return None,
    })
}

/// x·tanh(ln(1 + eˣ)), which is x·(e² + 2e) / (e² + 2e + 2) with e = eˣ; x where that is 1 but for rounding.
#[inline(always)]
#[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
fn mish(x: f32) -> f32 {
    let e = exp(select(x > 40.0, 40.0, x));
    let n = e * (e + 2.0);
    select(x > 40.0, x, x * (n / (n + 2.0)))
}

/// x·clamp(x/6 + ½, 0, 1)
#[inline(always)]
#[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
fn hard_swish(x: f32) -> f32 {
    let line = x * (1.0 / 6.0) + 0.5;
    let line = select(line < 0.0, 0.0, line);
    x * select(line > 1.0, 1.0, line)
}
