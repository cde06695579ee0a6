//! 16-bit floats, converted many at once: by the bits, without a branch, so that it vectorises.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
#![allow(
    clippy::redundant_closure,
    reason = "a closure is inlined where it is told to, what stands for a function is not"
)]

use half::{bf16, f16};
use ir::{DType, Tensor, Type};

use super::room::map;
use crate::cpu::call::Call;
use crate::cpu::error::CpuError;

/// 16-bit floats as `f32`; `None` for others.
pub(in crate::cpu) fn widened(c: &Call<'_>, x: &Tensor) -> Option<Tensor> {
    let elements = match x {
        Tensor::F16(x) => map(
            c.threads(),
            x.as_slice()?,
            #[inline(always)]
            |x| of_f16(x),
        ),
        Tensor::BF16(x) => map(
            c.threads(),
            x.as_slice()?,
            #[inline(always)]
            |x| of_bf16(x),
        ),
        _ => return None,
    };
    Tensor::from_elements(&x.ty().shape, elements).ok()
}

/// `f32` as what the output is declared to be.
pub(in crate::cpu) fn narrowed(c: &Call<'_>, y: Tensor, ty: &Type) -> Result<Tensor, CpuError> {
    let (Tensor::F32(wide), DType::F16 | DType::BF16) = (&y, ty.dtype) else { return Ok(y) };
    let wide = wide.as_slice().ok_or(CpuError::Invalid("its result is not dense"))?;
    let narrow = match ty.dtype {
        DType::F16 => Tensor::from_elements(
            &ty.shape,
            map(
                c.threads(),
                wide,
                #[inline(always)]
                |x| to_f16(x),
            ),
        ),
        _ => Tensor::from_elements(
            &ty.shape,
            map(
                c.threads(),
                wide,
                #[inline(always)]
                |x| to_bf16(x),
            ),
        ),
    };
    narrow.map_err(|_| CpuError::Invalid("its operands do not fill its output"))
}

/// A binary16 as `f32`, which has them all.
#[inline(always)]
pub(super) fn of_f16(v: f16) -> f32 {
    let bits = u32::from(v.to_bits());
    // With the exponent of binary16 in the place of that of binary32 a number is too small by 2¹¹², denormals among them.
    let magnitude = (bits & 0x7fff) << 13;
    let number = f32::from_bits(magnitude) * f32::from_bits(0x7780_0000);
    let is_finite = bits & 0x7c00 != 0x7c00;
    let magnitude = if is_finite { number.to_bits() } else { magnitude | 0x7f80_0000 };
    f32::from_bits(magnitude | (bits & 0x8000) << 16)
}

/// A bfloat16 as `f32`, which has them all.
#[inline(always)]
pub(super) fn of_bf16(v: bf16) -> f32 {
    f32::from_bits(u32::from(v.to_bits()) << 16)
}

/// The nearest binary16, of two equally near ones the even one.
#[inline(always)]
pub(super) fn to_f16(v: f32) -> f16 {
    let bits = v.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // Half a unit less one bit, and that bit where the unit is odd: what carries has been rounded. Carrying beyond the largest
    // number gives the infinity.
    let rounded = magnitude.wrapping_add(0xfff + (magnitude >> 13 & 1)).wrapping_sub(0x3800_0000) >> 13;
    // In the sum with ½, the unit in the last place is the least number of binary16.
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let half = if magnitude < 0x3880_0000 { denormal } else { rounded };
    let half = if magnitude < 0x4780_0000 { half } else { 0x7c00 };
    let half = if magnitude > 0x7f80_0000 { 0x7e00 | (magnitude >> 13 & 0x3ff) } else { half };
    f16::from_bits((half | bits >> 16 & 0x8000) as u16)
}

/// The nearest bfloat16, of two equally near ones the even one.
#[inline(always)]
pub(super) fn to_bf16(v: f32) -> bf16 {
    let bits = v.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let is_nan = bits & 0x7fff_ffff > 0x7f80_0000;
    bf16::from_bits((if is_nan { bits >> 16 | 0x40 } else { rounded }) as u16)
}

#[cfg(test)]
mod tests {
    use ir::tensor::Element;

    use super::*;

    #[test]
    fn all_binary16_become_the_same_number() {
        for bits in 0..=u16::MAX {
            let (v, wide) = (f16::from_bits(bits), of_f16(f16::from_bits(bits)));
            assert!(wide.is_nan() && v.is_nan() || f64::from(wide) == v.to_f64(), "{bits:#x}");
            assert_eq!(to_f16(wide).is_nan(), v.is_nan());
            assert!(v.is_nan() || to_f16(wide).to_bits() == bits, "{bits:#x}");
            let v = bf16::from_bits(bits);
            assert!(v.is_nan() || to_bf16(v.to_f32()).to_bits() == bits, "{bits:#x}");
        }
    }

    #[test]
    fn numbers_are_rounded_as_everywhere() {
        // Ties, and what lies beside them, are among the first patterns; the others are all over.
        let near_ties = (0..=u16::MAX).flat_map(|high| {
            [0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001].map(|low| u32::from(high) << 16 | low)
        });
        for bits in near_ties.chain((0..=u32::MAX).step_by(65_521)) {
            let v = f32::from_bits(bits);
            let (right, found): (f16, _) = (Element::from_f64(f64::from(v)), to_f16(v));
            assert!(right.is_nan() && found.is_nan() || right == found, "{v:e}");
            assert!(right.is_nan() || right.to_bits() == found.to_bits(), "{v:e}");
            let (right, found): (bf16, _) = (Element::from_f64(f64::from(v)), to_bf16(v));
            assert!(right.is_nan() && found.is_nan() || right.to_bits() == found.to_bits(), "{v:e}");
        }
    }
}
