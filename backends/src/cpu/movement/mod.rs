//! Kernels that move elements without looking at them.

pub(crate) mod compress;
pub(crate) mod concat;
pub(crate) mod depth_space;
pub(crate) mod expand;
pub(crate) mod eye_like;
pub(crate) mod gather;
pub(crate) mod gather_elements;
pub(crate) mod gather_nd;
pub(crate) mod non_zero;
pub(crate) mod one_hot;
pub(crate) mod pad;
pub(crate) mod reshape;
pub(crate) mod reverse_sequence;
pub(crate) mod scatter;
pub(crate) mod shape;
pub(crate) mod slice;
pub(crate) mod split;
pub(crate) mod tile;
pub(crate) mod transpose;
pub(crate) mod trilu;
