//! Cast between floats of 16 and 32 bits, and from them to `f64` and to integers. Whatever is converted is an `f32` in between, which
//! loses nothing of a shorter one.

use half::{bf16, f16};
use ir::DType;
use ir::tensor::Element;
use ops::elementwise::Rounding;

use crate::cpu::call::Call;
use crate::cpu::error::Outputs;
use crate::cpu::vector::halves::{of_f16, to_bf16, to_f16};
use crate::cpu::vector::room::map;

pub(crate) fn run(to: DType, _: Rounding, c: &Call<'_>) -> Option<Outputs> {
    match c.dtype(0).ok()? {
        DType::F32 => from(to, c, #[inline(always)] |x: f32| x),
        DType::F16 => from(to, c, of_f16),
        DType::BF16 => from(to, c, bf16::to_f32),
        _ => None,
    }
}

fn from<T: Element>(to: DType, c: &Call<'_>, wide: impl Fn(T) -> f32 + Sync) -> Option<Outputs> {
    Some(match to {
        DType::F16 => cast(c, #[inline(always)] |x: T| -> f16 { to_f16(wide(x)) }),
        DType::BF16 => cast(c, #[inline(always)] |x: T| -> bf16 { to_bf16(wide(x)) }),
        DType::F32 => cast(c, wide),
        DType::F64 => cast(c, #[inline(always)] |x: T| f64::from(wide(x))),
        DType::I32 => cast(c, #[inline(always)] |x: T| wide(x) as i32),
        DType::I64 => cast(c, #[inline(always)] |x: T| wide(x) as i64),
        DType::U8 => cast(c, #[inline(always)] |x: T| wide(x) as u8),
        DType::I8 => cast(c, #[inline(always)] |x: T| wide(x) as i8),
        DType::Bool => cast(c, #[inline(always)] |x: T| wide(x) != 0.0),
        _ => return None,
    })
}

fn cast<T: Element, U: Element>(c: &Call<'_>, f: impl Fn(T) -> U + Sync) -> Outputs {
    let y = map(c.threads(), &c.elements::<T>(0)?, f);
    c.only(y)
}
