//! Kernels of linear algebra.

pub(crate) mod det;
pub(crate) mod einsum;
pub(crate) mod gemm;
pub(crate) mod matmul;
