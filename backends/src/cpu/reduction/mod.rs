//! Kernels that go along an axis and combine, compare or accumulate.

pub(crate) mod arg;
pub(crate) mod cum_sum;
pub(crate) mod reduce;
pub(crate) mod top_k;
