//! Matrix products.

mod gemm;
pub(super) mod matmul;
