//! MatMul: a matrix product at each place of the leading axes, along which operands may stand still.

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, dispatch_work};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::gemm::{Matrix, multiply_add};
use crate::cpu::strided::{Rows, broadcast};

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    dispatch_work!(c.dtype(0)?, T => matmul::<T>(c))
}

fn matmul<T: Numeric>(c: &Call<'_>) -> Outputs {
    let Products { sizes: [m, k, n], starts } = products(c)?;
    let (x, w) = (c.loaded::<T>(0)?, c.loaded::<T>(1)?);
    let mut out = vec![<T::Work as Number>::ZERO; starts.len() * m * n];
    for (product, [i, j]) in out.chunks_exact_mut((m * n).max(1)).zip(starts) {
        multiply_add([m, k, n], Matrix::dense(&x[i..], k), Matrix::dense(&w[j..], n), product);
    }
    c.only_numbers::<T>(out)
}

/// What is multiplied: matrices of `m` × `k` and of `k` × `n`.
struct Products {
    sizes: [usize; 3],
    /// Where those of each product start.
    starts: Vec<[usize; 2]>,
}

fn products(c: &Call<'_>) -> Result<Products, CpuError> {
    let (a, b, y) = (c.shape(0)?, c.shape(1)?, c.output(0)?.extents());
    let invalid = || CpuError::Invalid("its operands are no matrices that can be multiplied");
    let (left, m, k) = match a {
        [] => return Err(invalid()),
        [k] => (&[][..], 1, *k),
        [batch @ .., m, k] => (batch, *m, *k),
    };
    let (right, l, n) = match b {
        [] => return Err(invalid()),
        [l] => (&[][..], *l, 1),
        [batch @ .., l, n] => (batch, *l, *n),
    };
    let matrix_axes = usize::from(a.len() > 1) + usize::from(b.len() > 1);
    let batch = y.len().checked_sub(matrix_axes).map(|rank| &y[..rank]).filter(|_| k == l);
    let batch = batch.ok_or_else(invalid)?;
    let strides = |from: &[usize], size: usize| -> Result<Vec<isize>, CpuError> {
        Ok(broadcast(from, batch)?.into_iter().map(|s| s * size as isize).collect())
    };
    // Of empty matrices there may be billions.
    if m * n == 0 {
        return Ok(Products { sizes: [m, k, n], starts: Vec::new() });
    }
    let rows = Rows::new(batch, &[strides(left, m * k)?, strides(right, l * n)?]);
    let mut starts = Vec::with_capacity(batch.iter().product());
    for [i, j] in rows.starts() {
        starts.extend((0..rows.len).map(|place| [rows.nth(0, i, place), rows.nth(1, j, place)]));
    }
    Ok(Products { sizes: [m, k, n], starts })
}
