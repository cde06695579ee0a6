//! Kernels that combine along axes.

pub(super) mod reduce;
