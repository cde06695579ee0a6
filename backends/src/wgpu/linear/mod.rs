//! Matrix products, and determinants.

mod det;
mod gemm;
pub(super) mod matmul;
