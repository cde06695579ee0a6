//! Cast from floats of 16 and 32 bits to each other, to `f64` and to integers. Whatever is converted is an `f32` in
//! between, which loses nothing of a shorter one.

use half::{bf16, f16};
use ir::DType;

use super::each;
use crate::cpu::call::Call;
use crate::cpu::error::Outputs;
use crate::cpu::vector::halves::{of_bf16, of_f16, to_bf16, to_f16};

/// A kernel for every dtype that an `f32` may become.
macro_rules! from {
    ($to:expr, $c:expr, $x:ident: $t:ty => $wide:expr) => {
        Some(match $to {
            DType::F16 => each!($c, $x: $t => to_f16($wide)),
            DType::BF16 => each!($c, $x: $t => to_bf16($wide)),
            DType::F32 => each!($c, $x: $t => $wide),
            DType::F64 => each!($c, $x: $t => f64::from($wide)),
            DType::I32 => each!($c, $x: $t => $wide as i32),
            DType::I64 => each!($c, $x: $t => $wide as i64),
            DType::I8 => each!($c, $x: $t => $wide as i8),
            DType::U8 => each!($c, $x: $t => $wide as u8),
            DType::Bool => each!($c, $x: $t => $wide != 0.0),
            _ => return None,
        })
    };
}

pub(crate) fn run(to: DType, c: &Call<'_>) -> Option<Outputs> {
    match c.dtype(0).ok()? {
        DType::F32 => from!(to, c, x: f32 => x),
        DType::F16 => from!(to, c, x: f16 => of_f16(x)),
        DType::BF16 => from!(to, c, x: bf16 => of_bf16(x)),
        _ => None,
    }
}
