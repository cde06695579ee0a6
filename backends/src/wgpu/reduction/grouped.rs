//! The form in which kernels combine elements along axes, in chunks that a driver's loops can hold.
//!
//! A tensor is brought into the form `[outer, n, inner] → [outer, inner]` (by a transpose when the axes are not
//! neighbours), then combined in stages: an invocation combines one chunk of `n`, the next stage combines the chunks. So
//! no invocation loops for longer than the driver allows, rounding errors grow with the chunk and not with `n`, and a
//! long reduction has parallel work.

use crate::wgpu::device::{Gpu, GpuError};
use crate::wgpu::record::GpuTensor;
use crate::wgpu::wgsl::params;

/// The longest chunk one invocation combines.
const CHUNK: usize = 1024;

params! {
    /// One stage: `[outer, n, inner]` to `[outer, chunks, inner]`.
    pub(super) struct Stage {
        n: u32,
        inner: u32,
        chunks: u32,
        /// The length of a chunk; the last may be shorter.
        length: u32,
    }
}

impl Stage {
    /// The stage that leaves so many chunks.
    pub(super) fn new(n: usize, inner: usize, chunks: usize) -> Self {
        let [length, n, inner, chunks] = [n.div_ceil(chunks), n, inner, chunks].map(|v| v as u32);
        Self { n, inner, chunks, length }
    }
}

/// A tensor seen as `[outer, n, inner]`, to be reduced over `n`.
pub(super) struct Grouped {
    pub(super) tensor: GpuTensor,
    pub(super) outer: usize,
    pub(super) n: usize,
    pub(super) inner: usize,
    /// The result's shape, with the reduced axes kept as 1.
    pub(super) kept: Vec<usize>,
}

impl Grouped {
    /// Brings a reduction over axes into the form of the stages.
    pub(super) fn new(gpu: &Gpu, name: &str, x: &GpuTensor, axes: &[usize]) -> Result<Self, GpuError> {
        let rank = x.rank();
        if axes.iter().any(|&a| a >= rank) {
            return Err(GpuError::arguments(name, format!("axes {axes:?} of a tensor of rank {rank}")));
        }
        let reduced = |a: &usize| axes.contains(a);
        let size = |axes: &mut dyn Iterator<Item = usize>| axes.map(|a| x.shape()[a]).product::<usize>();
        let kept = (0..rank).map(|a| if reduced(&a) { 1 } else { x.shape()[a] }).collect();
        let real: Vec<_> = (0..rank).filter(|a| reduced(a) && x.shape()[*a] != 1).collect();
        let (first, last) = (real.first().copied().unwrap_or(rank), real.last().map_or(rank, |l| l + 1));
        let n = size(&mut real.iter().copied());
        let neighbours = (first..last).all(|a| reduced(&a) || x.shape()[a] == 1);
        if neighbours {
            let (outer, inner) = (size(&mut (0..first)), size(&mut (last..rank)));
            return Ok(Self { tensor: x.clone(), outer, n, inner, kept });
        }
        let perm: Vec<_> = (0..rank).filter(|a| !reduced(a)).chain((0..rank).filter(reduced)).collect();
        let outer = size(&mut (0..rank).filter(|a| !reduced(a)));
        Ok(Self { tensor: gpu.transpose(x, &perm)?, outer, n, inner: 1, kept })
    }
}

/// The longest chunk that one invocation combines on a device.
pub(super) fn longest_chunk(gpu: &Gpu) -> usize {
    CHUNK.min(gpu.loop_limit())
}
