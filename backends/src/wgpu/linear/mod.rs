//! Matrix products, and determinants.

mod det;
mod einsum;
mod gemm;
pub(super) mod matmul;
mod tile;

pub(super) use tile::{is_tiled, tiles};
