//! EyeLike: ones written into zeros.

use ir::tensor::Element;
use ops::movement::EyeLike;

use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(op: EyeLike, c: &Call<'_>) -> Outputs {
    ir::dispatch!(c.output(0)?.dtype, T => eye::<T>(op, c))
}

fn eye<T: Element>(op: EyeLike, c: &Call<'_>) -> Outputs {
    let &[rows, columns] = c.shape(0)? else { return Err(CpuError::Invalid("its operand is no matrix")) };
    let mut y = vec![T::from_i128(0); rows * columns];
    // The diagonal starts on the first row or, below the main one, on the first column.
    let offset = op.k.unsigned_abs() as usize;
    let (row, column) = if op.k < 0 { (offset, 0) } else { (0, offset) };
    for (i, j) in (row..rows).zip(column..columns) {
        y[i * columns + j] = T::from_i128(1);
    }
    c.only(y)
}
