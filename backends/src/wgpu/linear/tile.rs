//! Squares of a matrix of sums of products, each computed by a workgroup: `tile.wgsl`. It takes both operands into memory that it
//! shares, which is faster on hardware, and slower on the software drivers most machines test with.

use crate::wgpu::device::Gpu;

/// The rows and columns of a square.
const TILE: usize = 32;

/// The fewest rows and columns that are worth a square, most of which would be beyond the matrix otherwise.
const LEAST: usize = 12;

/// Whether a matrix is computed in squares.
pub(crate) fn is_tiled(gpu: &Gpu, rows: usize, columns: usize) -> bool {
    gpu.is_team() && rows.min(columns) >= LEAST
}

/// How many squares it takes.
pub(crate) fn tiles(rows: usize, columns: usize) -> usize {
    rows.div_ceil(TILE) * columns.div_ceil(TILE)
}
