//! Matrix products and other sums of products, and determinants.

pub mod det;
pub mod einsum;
pub mod equation;
pub mod gemm;
pub mod matmul;

pub use det::Det;
pub use einsum::Einsum;
pub use gemm::Gemm;
pub use matmul::MatMul;

use ndarray::{ArrayView1, ArrayView2};

use crate::arith::Arith;
use crate::plain;

/// The product of matrices of integers; its elements wrap when they are stored.
fn int_product<A: Arith>(arith: &A, a: &ArrayView2<'_, A::Z>, b: &ArrayView2<'_, A::Z>) -> Vec<A::Z> {
    let step = |[sum, x, y]: [i128; 3]| Some(plain::plus(sum, plain::times(x, y)));
    let mut out = Vec::with_capacity(a.nrows() * b.ncols());
    for x in a.rows() {
        let dot = |y: ArrayView1<'_, A::Z>| {
            x.iter().zip(y).fold(arith.int(0), |sum, (&x, &y)| arith.exact([sum, x, y], step))
        };
        out.extend(b.columns().into_iter().map(dot));
    }
    out
}
