//! Launches as another implementation of WebGPU can repeat them: the shader, and all memory that it reads and writes.

use ir::{Tensor, Type};

use super::{GpuTensor, tensor};
use crate::wgpu::device::{Gpu, GpuError, lock};
use crate::wgpu::wgsl::Parts;

/// A launch that has run, and what it did.
#[derive(Clone, PartialEq, Debug)]
pub struct Launched {
    /// The kernel's name: its operator's.
    pub kernel: &'static str,
    /// The shader in WGSL. Its entry point is `main`.
    pub source: String,
    /// The workgroups along each dimension.
    pub workgroups: [u32; 3],
    /// What is bound for reading, in group 0 from binding 0 on: the params, then the inputs.
    pub reads: Vec<Vec<u8>>,
    /// What is bound behind them for writing, as it was before.
    pub before: Vec<u8>,
    /// The same, as it is after.
    pub after: Vec<u8>,
    /// What is written.
    pub ty: Type,
}

impl Launched {
    /// The tensor in memory that another implementation has written.
    pub fn tensor(&self, memory: &[u8]) -> Result<Tensor, GpuError> {
        tensor::read(&self.ty, memory)
    }
}

/// A launch that is about to run.
pub(super) struct Traced(Launched);

impl Gpu {
    /// What `f` gives, and the launches in it. Each runs alone, and all that it reads and writes is copied back.
    pub fn traced<T>(&self, f: impl FnOnce() -> T) -> (T, Vec<Launched>) {
        *lock(&self.trace) = Some(Vec::new());
        let value = f();
        let launches = lock(&self.trace).take();
        (value, launches.unwrap_or_default())
    }

    /// The launch as it is before it runs; `None` if nobody asked for it.
    pub(super) fn trace(
        &self,
        shader: &Parts,
        words: &[u32],
        inputs: &[&GpuTensor],
        output: &GpuTensor,
        workgroups: [u32; 3],
    ) -> Result<Option<Traced>, GpuError> {
        if lock(&self.trace).is_none() {
            return Ok(None);
        }
        let buffers: Vec<_> = inputs.iter().map(|tensor| &tensor.buffer).chain([&output.buffer]).collect();
        let mut memory = self.memory(&buffers)?;
        let before = memory.pop().unwrap_or_default();
        let params = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(Some(Traced(Launched {
            kernel: shader.name(),
            source: shader.extensions().to_owned() + &self.source(shader),
            workgroups,
            reads: [params].into_iter().chain(memory).collect(),
            before,
            after: Vec::new(),
            ty: output.ty(),
        })))
    }

    /// Keeps a launch that has been recorded since [`Gpu::trace`].
    pub(super) fn keep(&self, Traced(launched): Traced, output: &GpuTensor) -> Result<(), GpuError> {
        let after = self.memory(&[&output.buffer])?.pop().unwrap_or_default();
        if let Some(trace) = &mut *lock(&self.trace) {
            trace.push(Launched { after, ..launched });
        }
        Ok(())
    }
}
