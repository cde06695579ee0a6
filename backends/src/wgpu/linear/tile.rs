//! Squares of a matrix of sums of products, each computed by a workgroup: `tile.wgsl`. It takes both operands into memory that it
//! shares, so that each element is loaded once for 32 sums. Such a kernel takes the software drivers most machines test
//! with a quarter of a second to compile.

use crate::wgpu::device::{Gpu, Teamwork};

/// The rows and columns of a square.
const TILE: usize = 32;

/// The fewest rows and columns of a matrix for which squares are used. With fewer, most of a square would lie
/// beyond the matrix.
const LEAST: usize = 12;

/// The fewest products that are worth one. On lavapipe squares save about a tenth of a second of so many, and take
/// longer than that to compile; on an H100 they take half as long for sixteen times as many, and longer for half as
/// many (docs/gpu.md).
const WORTH: usize = 1 << 26;

/// Whether a matrix of sums of so many products each is computed in squares.
pub(crate) fn is_tiled(gpu: &Gpu, rows: usize, columns: usize, each: usize) -> bool {
    let products = rows.saturating_mul(columns).saturating_mul(each);
    match gpu.teamwork() {
        Teamwork::Always => true,
        Teamwork::ByAdapter => rows.min(columns) >= LEAST && products >= WORTH,
        Teamwork::Never => false,
    }
}

/// How many squares it takes.
pub(crate) fn tiles(rows: usize, columns: usize) -> usize {
    rows.div_ceil(TILE) * columns.div_ceil(TILE)
}
