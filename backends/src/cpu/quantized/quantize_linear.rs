//! QuantizeLinear: divided in f32, as all floats that it takes fit into one.

use ir::narrow::{I2, I4, U2, U4};
use ir::{DType, Tensor};
use ops::quantized::QuantizeLinear;

use super::Scales;
use crate::cpu::call::Call;
use crate::cpu::elementwise::cast;
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(op: QuantizeLinear, c: &Call<'_>) -> Outputs {
    let (x, scale) = (floats(c.tensor(0)?), floats(c.tensor(1)?));
    let to = c.output(0)?.dtype;
    let scales = Scales::new(op.granularity, c)?;
    if to.is_float() {
        let quotients: Vec<f64> =
            x.iter().enumerate().map(|(i, &x)| f64::from(x / scale[scales.of(i)])).collect();
        return cast::shorten(&quotients, to, op.rounding, c);
    }
    let points = c.opt(2).map(Tensor::to_i128s);
    let point = |scale: usize| points.as_ref().map_or(0, |points| points[scale] as i64);
    let y = |low: i64, high: i64| {
        let one = |(i, &x): (usize, &f32)| {
            let of = scales.of(i);
            rounded(x / scale[of]).saturating_add(point(of)).clamp(low, high)
        };
        x.iter().enumerate().map(one).collect::<Vec<_>>()
    };
    match to {
        DType::I8 => c.only(y(-128, 127).into_iter().map(|v| v as i8).collect()),
        DType::U8 => c.only(y(0, 255).into_iter().map(|v| v as u8).collect()),
        DType::I16 => c.only(y(-32768, 32767).into_iter().map(|v| v as i16).collect()),
        DType::U16 => c.only(y(0, 65535).into_iter().map(|v| v as u16).collect()),
        DType::I4 => c.only(y(-8, 7).into_iter().map(|v| I4::wrapping(v.into())).collect()),
        DType::U4 => c.only(y(0, 15).into_iter().map(|v| U4::wrapping(v.into())).collect()),
        DType::I2 => c.only(y(-2, 1).into_iter().map(|v| I2::wrapping(v.into())).collect()),
        DType::U2 => c.only(y(0, 3).into_iter().map(|v| U2::wrapping(v.into())).collect()),
        _ => Err(CpuError::Invalid("its result is not of 16 bits or less")),
    }
}

/// A tensor's elements, each of which an f32 holds.
pub(super) fn floats(x: &Tensor) -> Vec<f32> {
    x.to_f64s().into_iter().map(|v| v as f32).collect()
}

/// The nearest integer, the even one of two; NaN is 0, and what is beyond an i64 its end.
pub(super) fn rounded(quotient: f32) -> i64 {
    quotient.round_ties_even() as i64
}
