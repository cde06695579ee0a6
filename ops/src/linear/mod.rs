//! Matrix products, and determinants.

pub mod det;
pub mod gemm;
pub mod matmul;

pub use det::Det;
pub use gemm::Gemm;
pub use matmul::MatMul;

use ndarray::ArrayViewD;

use crate::arith::Arith;
use crate::lanes::Lanes;

/// The products of the matrices of `a` `[…, M, K]` with those of `b` `[…, K, N]`, whose leading axes are the same: `dots`
/// has one element for each row and column, in the order of the product `[…, M, N]`.
fn products<T: Clone, U>(
    a: &ArrayViewD<'_, T>,
    b: &ArrayViewD<'_, T>,
    mut dots: impl FnMut(&Lanes<'_, T>, &Lanes<'_, T>) -> Vec<U>,
) -> Vec<U> {
    let rank = a.ndim();
    let (m, n) = (a.shape()[rank - 2], b.shape()[rank - 1]);
    let batch: usize = a.shape()[..rank - 2].iter().product();
    let (rows, columns) = (Lanes::of(a, &[rank - 1]), Lanes::of(b, &[rank - 2]));
    let mut made =
        (0..batch).map(|i| dots(&rows.part(i * m..(i + 1) * m), &columns.part(i * n..(i + 1) * n)));
    let mut out = made.next().unwrap_or_default();
    made.for_each(|product| out.extend(product));
    out
}

/// The sums of products of integers; they wrap when they are stored.
fn int_dots<A: Arith>(a: &A, rows: &Lanes<'_, A::Z>, columns: &Lanes<'_, A::Z>) -> Vec<A::Z> {
    let step = |[sum, x, y]: [i128; 3]| Some(sum.wrapping_add(x.wrapping_mul(y)));
    let dot =
        |x: &[A::Z], y: &[A::Z]| x.iter().zip(y).fold(a.int(0), |sum, (&x, &y)| a.exact([sum, x, y], step));
    rows.iter().flat_map(|x| columns.iter().map(move |y| dot(x, y))).collect()
}
