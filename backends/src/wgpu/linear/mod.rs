//! Matrix products, and determinants.

mod det;
mod einsum;
mod gemm;
pub(super) mod matmul;
