//! MatMul of floats: a matrix product at each place of the leading axes. Where the right matrix is one for all places, the left
//! ones are one matrix, too.

use ir::DType;
use ir::tensor::Element;

use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{Rows, broadcast};
use crate::cpu::vector::product::{Matrix, Product, multiply};
use crate::cpu::vector::room::zeros;

pub(crate) fn run(c: &Call<'_>) -> Option<Outputs> {
    match c.dtype(0).ok()? {
        DType::F32 => Some(matmul::<f32>(c)),
        DType::F64 => Some(matmul::<f64>(c)),
        _ => None,
    }
}

fn matmul<T: Element + Product>(c: &Call<'_>) -> Outputs {
    let (a, b, y) = (c.shape(0)?, c.shape(1)?, c.output(0)?.extents());
    let invalid = CpuError::Invalid("its operands are no matrices that can be multiplied");
    let (left, [m, k]) = match a {
        [batch @ .., m, k] => (batch, [*m, *k]),
        [k] => (&[][..], [1, *k]),
        [] => return Err(invalid),
    };
    let (right, [l, n]) = match b {
        [batch @ .., l, n] => (batch, [*l, *n]),
        [l] => (&[][..], [*l, 1]),
        [] => return Err(invalid),
    };
    // A vector's only axis is summed over, a matrix' other axis is the result's.
    let own = usize::from(a.len() > 1) + usize::from(b.len() > 1);
    let Some(batch) = y.len().checked_sub(own).map(|rank| &y[..rank]).filter(|_| k == l) else {
        return Err(invalid);
    };
    let (x, w, threads) = (c.elements::<T>(0)?, c.elements::<T>(1)?, c.threads());
    let mut out: Vec<T> = zeros(T::ZERO, y.iter().product());
    if out.is_empty() {
        return c.only(out);
    }
    if right.iter().all(|&size| size == 1) && left.len() == batch.len() {
        let m = m * batch.iter().product::<usize>();
        multiply(threads, [m, k, n], Matrix::dense(&x, k), Matrix::dense(&w, n), &mut out, false);
        return c.only(out);
    }
    let steps = |from: &[usize], size: usize| -> Result<Vec<isize>, CpuError> {
        Ok(broadcast(from, batch)?.into_iter().map(|step| step * size as isize).collect())
    };
    let places = Rows::new(batch, &[steps(left, m * k)?, steps(right, k * n)?]);
    let mut products = out.chunks_exact_mut(m * n);
    for [i, j] in places.starts() {
        for (place, product) in products.by_ref().take(places.len).enumerate() {
            let (i, j) = (places.nth(0, i, place), places.nth(1, j, place));
            let (a, b) = (Matrix::dense(&x[i..], k), Matrix::dense(&w[j..], n));
            multiply(threads, [m, k, n], a, b, product, false);
        }
    }
    c.only(out)
}
