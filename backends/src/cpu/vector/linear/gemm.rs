//! Gemm of `f32` and `f64`.

use ir::DType;
use ir::tensor::Element;
use ops::linear::Gemm;

use crate::cpu::call::Call;
use crate::cpu::element::Number;
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{Rows, broadcast};
use crate::cpu::vector::product::{Matrix, Product, multiply};
use crate::cpu::vector::room::zeros;

pub(crate) fn run(op: Gemm, c: &Call<'_>) -> Option<Outputs> {
    match c.dtype(0).ok()? {
        DType::F32 => Some(gemm::<f32>(op, c)),
        DType::F64 => Some(gemm::<f64>(op, c)),
        _ => None,
    }
}

fn gemm<T: Element + Product>(op: Gemm, c: &Call<'_>) -> Outputs {
    let (&[a_rows, a_columns], &[b_rows, b_columns]) = (c.shape(0)?, c.shape(1)?) else {
        return Err(CpuError::Invalid("its operands are no matrices"));
    };
    let ordered =
        |transposed: bool, rows, columns| if transposed { [columns, rows] } else { [rows, columns] };
    let [m, k] = ordered(op.trans_a, a_rows, a_columns);
    let [l, n] = ordered(op.trans_b, b_rows, b_columns);
    if k != l {
        return Err(CpuError::Invalid("its operands cannot be multiplied"));
    }
    let (x, w) = (c.elements::<T>(0)?, c.elements::<T>(1)?);
    let a = Matrix::dense(&x, a_columns).transposed_if(op.trans_a);
    let b = Matrix::dense(&w, b_columns).transposed_if(op.trans_b);
    let mut y: Vec<T> = zeros(T::ZERO, m * n);
    multiply(c.threads(), [m, k, n], a, b, &mut y, false);
    if op.alpha != 1.0 {
        let alpha = T::from_attribute(op.alpha);
        for y in &mut y {
            *y = y.mul(alpha);
        }
    }
    if c.opt(2).is_some() {
        add_scaled(c, T::from_attribute(op.beta), &mut y, [m, n])?;
    }
    c.only(y)
}

/// Adds the third operand, repeated to the shape of the product.
fn add_scaled<T: Element + Number>(
    c: &Call<'_>,
    beta: T,
    y: &mut [T],
    shape: [usize; 2],
) -> Result<(), CpuError> {
    let addend = c.elements::<T>(2)?;
    let rows = Rows::new(&shape, &[broadcast(c.shape(2)?, &shape)?]);
    for (row, [start]) in y.chunks_exact_mut(rows.len.max(1)).zip(rows.starts()) {
        if rows.step == [1] {
            row.iter_mut().zip(&addend[start..]).for_each(|(y, &x)| *y = y.add(beta.mul(x)));
        } else {
            let at = |place| addend[rows.nth(0, start, place)];
            row.iter_mut().enumerate().for_each(|(place, y)| *y = y.add(beta.mul(at(place))));
        }
    }
    Ok(())
}
