//! Kernels of linear algebra.

pub(super) mod gemm;
pub(super) mod matmul;
