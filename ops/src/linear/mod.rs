//! Matrix products, and determinants.

pub mod det;
pub mod gemm;
pub mod matmul;

pub use det::Det;
pub use gemm::Gemm;
pub use matmul::MatMul;

use ndarray::ArrayD;

use crate::arith::Arith;
use crate::lanes::Lanes;

/// One element for every row of `a` `[…, M, K]` and column of `b` `[…, K, N]`, in the order of the product
/// `[…, M, N]`; the leading axes are the same.
fn products<T: Clone, U>(a: &ArrayD<T>, b: &ArrayD<T>, mut dot: impl FnMut(&[T], &[T]) -> U) -> Vec<U> {
    let rank = a.ndim();
    let (m, n) = (a.shape()[rank - 2], b.shape()[rank - 1]);
    let batch: usize = a.shape()[..rank - 2].iter().product();
    let (rows, columns) = (Lanes::new(a, &[rank - 1]), Lanes::new(b, &[rank - 2]));
    let (rows, columns): (Vec<&[T]>, Vec<&[T]>) = (rows.iter().collect(), columns.iter().collect());
    let mut out = Vec::with_capacity(batch * m * n);
    for i in 0..batch {
        for row in &rows[i * m..(i + 1) * m] {
            out.extend(columns[i * n..(i + 1) * n].iter().map(|column| dot(row, column)));
        }
    }
    out
}

/// The sum of products of real numbers.
fn real_dot<A: Arith>(a: &A, x: &[A::R], y: &[A::R]) -> A::R {
    a.dot(x.iter().copied().zip(y.iter().copied()))
}

/// The sum of products of integers; it wraps when it is stored.
fn int_dot<A: Arith>(a: &A, x: &[A::Z], y: &[A::Z]) -> A::Z {
    let step = |[sum, x, y]: [i128; 3]| Some(sum.wrapping_add(x.wrapping_mul(y)));
    x.iter().zip(y).fold(a.int(0), |sum, (&x, &y)| a.exact([sum, x, y], step))
}
