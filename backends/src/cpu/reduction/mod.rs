//! Kernels that go along an axis and combine, compare or accumulate.

pub(crate) mod arg;
pub(crate) mod cumulative;
pub(crate) mod reduce;
pub(crate) mod top_k;
