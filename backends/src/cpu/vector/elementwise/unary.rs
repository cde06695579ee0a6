//! Functions of one `f32`.

use ir::DType;
use ops::elementwise::UnaryFn;

use super::each;
use crate::cpu::call::Call;
use crate::cpu::error::Outputs;
use crate::cpu::vector::functions::{erf, exp, ln, ln_1p, select, sigmoid, tanh};

pub(crate) fn run(function: UnaryFn, c: &Call<'_>) -> Option<Outputs> {
    if c.dtype(0) != Ok(DType::F32) {
        return None;
    }
    Some(match function {
        UnaryFn::Abs => each!(c, x => x.abs()),
        UnaryFn::Neg => each!(c, x => -x),
        UnaryFn::Relu => each!(c, x => select((x > 0.0) | x.is_nan(), x, 0.0)),
        UnaryFn::Floor => each!(c, x => x.floor()),
        UnaryFn::Ceil => each!(c, x => x.ceil()),
        UnaryFn::Round => each!(c, x => x.round_ties_even()),
        UnaryFn::Reciprocal => each!(c, x => 1.0 / x),
        UnaryFn::Sqrt => each!(c, x => x.sqrt()),
        UnaryFn::Exp => each!(c, x => exp(x)),
        UnaryFn::Log => each!(c, x => ln(x)),
        UnaryFn::Tanh => each!(c, x => tanh(x)),
        UnaryFn::Erf => each!(c, x => erf(x)),
        UnaryFn::Sigmoid => each!(c, x => sigmoid(x)),
        UnaryFn::Softplus => each!(c, x => select(x > 40.0, x, ln_1p(exp(select(x > 40.0, 40.0, x))))),
        UnaryFn::Mish => each!(c, x => mish(x)),
        UnaryFn::Softsign => each!(c, x => x / (1.0 + x.abs())),
        UnaryFn::HardSwish => each!(c, x => hard_swish(x)),
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
