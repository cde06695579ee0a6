//! Kernels that move elements without looking at them.

pub(crate) mod concat;
pub(crate) mod expand;
pub(crate) mod gather;
pub(crate) mod one_hot;
pub(crate) mod pad;
pub(crate) mod reshape;
pub(crate) mod slice;
pub(crate) mod split;
pub(crate) mod transpose;
pub(crate) mod trilu;
