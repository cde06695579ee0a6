//! DequantizeLinear: the difference as an integer, the product in f32. Of floats there is no zero point.

use ir::{DType, Tensor};
use ops::quantized::DequantizeLinear;

use super::Scales;
use super::quantize_linear::floats;
use crate::cpu::call::Call;
use crate::cpu::element::{Numeric, dispatch_float};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(op: DequantizeLinear, c: &Call<'_>) -> Outputs {
    let (x, scale) = (c.tensor(0)?, floats(c.tensor(1)?));
    let scales = Scales::new(op.granularity, c)?;
    let y: Vec<f32> = if x.dtype().is_float() {
        floats(x).into_iter().enumerate().map(|(i, x)| x * scale[scales.of(i)]).collect()
    } else {
        let points = c.opt(2).map(Tensor::to_i128s);
        let one = |(i, &x): (usize, &i128)| {
            let of = scales.of(i);
            let point = points.as_ref().map_or(0, |points| points[of]);
            (x - point) as f32 * scale[of]
        };
        x.to_i128s().iter().enumerate().map(one).collect()
    };
    match c.output(0)?.dtype {
        DType::F64 => Err(CpuError::Invalid("its result is never f64")),
        to => dispatch_float!(to, T => {
            c.only(y.into_iter().map(|v| <T as Numeric>::store(crate::cpu::element::Real::from_f64(v.into()))).collect())
        }),
    }
}
