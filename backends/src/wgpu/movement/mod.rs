//! Operators that move elements, or make them from nothing but their places.

mod compress;
mod concat;
mod depth_space;
mod expand;
mod eye_like;
mod gather;
mod gather_elements;
mod gather_nd;
mod non_zero;
mod one_hot;
mod pad;
mod ranks;
mod reshape;
mod reverse_sequence;
mod scatter;
mod shape;
pub(super) mod slice;
mod split;
pub(super) mod strided;
mod tile;
pub(super) mod transpose;
mod trilu;
