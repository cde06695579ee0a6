//! Kernels that move elements without looking at them.

pub(super) mod transpose;
