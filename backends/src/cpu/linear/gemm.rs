//! Gemm: the product of matrices that are transposed by exchanging their strides, then scaled and shifted.

use ops::linear::Gemm;

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, dispatch_work};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::gemm::{Matrix, multiply_add};
use crate::cpu::strided::{Rows, broadcast, dense};

pub(crate) fn run(op: Gemm, c: &Call<'_>) -> Outputs {
    dispatch_work!(c.dtype(0)?, T => gemm::<T>(op, c))
}

fn gemm<T: Numeric>(op: Gemm, c: &Call<'_>) -> Outputs {
    let (&[a_rows, a_columns], &[b_rows, b_columns]) = (c.shape(0)?, c.shape(1)?) else {
        return Err(CpuError::Invalid("its operands are no matrices"));
    };
    let (x, w) = (c.loaded::<T>(0)?, c.loaded::<T>(1)?);
    let (a, b) = (Matrix::dense(&x, a_columns), Matrix::dense(&w, b_columns));
    let (a, m, k) = if op.trans_a { (a.transposed(), a_columns, a_rows) } else { (a, a_rows, a_columns) };
    let (b, l, n) = if op.trans_b { (b.transposed(), b_columns, b_rows) } else { (b, b_rows, b_columns) };
    if k != l {
        return Err(CpuError::Invalid("its operands cannot be multiplied"));
    }
    let mut y = vec![Number::ZERO; m * n];
    multiply_add([m, k, n], a, b, &mut y);
    if op.alpha != 1.0 {
        let alpha = Number::from_attribute(op.alpha);
        for y in &mut y {
            *y = y.mul(alpha);
        }
    }
    if c.opt(2).is_some() {
        let (bias, beta) = (c.loaded::<T>(2)?, <T::Work as Number>::from_attribute(op.beta));
        let rows = Rows::new(&[m, n], &[dense(&[m, n]), broadcast(c.shape(2)?, &[m, n])?]);
        for [i, j] in rows.starts() {
            for (place, y) in y[i..i + rows.len].iter_mut().enumerate() {
                *y = y.add(beta.mul(bias[rows.nth(1, j, place)]));
            }
        }
    }
    c.only_numbers::<T>(y)
}
