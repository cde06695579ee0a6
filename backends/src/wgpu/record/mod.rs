//! Recording launches into one command buffer, and submitting it.
//!
//! | module | holds |
//! |---|---|
//! | `pipeline` | compiled kernels, each compiled once |
//! | `tensor` | device memory, and the way there and back |
//! | `readback` | the results of a submission, in one piece |
//! | `trace` | launches for others to repeat |
//! | `view` | broadcasting and striding as data |
//!
//! A launch binds one struct of params, the inputs and one output. Shapes and attributes are data in the params, so one
//! pipeline serves every shape. Nothing runs until [`Gpu::flush`] or a download, so a graph is one submission and its
//! intermediates never leave the device.

mod pipeline;
mod readback;
mod tensor;
mod trace;
mod view;

use super::device::{Gpu, GpuError, lock};
use super::wgsl::{Param, Parts, Shader, WORKGROUP};

pub(crate) use pipeline::Pipelines;
pub use tensor::GpuTensor;
pub use trace::Launched;
pub(crate) use view::{View, broadcast_shape, strides, view_params};

/// Bytes of params one submission can hold. A full arena submits what is recorded.
const ARENA: usize = 1 << 18;

/// A submission this long is worth starting: it bounds the memory that dropped intermediates still hold.
const MAX_LAUNCHES: usize = 256;

/// One launch of a kernel: an invocation per element of `count`.
pub(crate) struct Launch<'a, P> {
    /// The kernel.
    pub(crate) shader: &'a Shader<P>,
    /// What it reads, in the shader's order.
    pub(crate) inputs: &'a [&'a GpuTensor],
    /// What it is told.
    pub(crate) params: P,
    /// Which elements of the inputs it reads, from [`view_params`], if its shader has views.
    pub(crate) views: Vec<u32>,
    /// What it writes. It must not be one of the inputs.
    pub(crate) output: &'a GpuTensor,
    /// The number of invocations.
    pub(crate) count: usize,
}

impl<'a, P: Param> Launch<'a, P> {
    /// A launch without views, of an invocation per element of the output.
    pub(crate) fn new(
        shader: &'a Shader<P>,
        inputs: &'a [&'a GpuTensor],
        params: P,
        output: &'a GpuTensor,
    ) -> Self {
        Self { shader, inputs, params, views: Vec::new(), output, count: output.len() }
    }

    /// All words of the parameters, in the order of the struct that the shader declares.
    fn words(&self) -> Vec<u32> {
        let mut words = vec![0, self.count as u32];
        self.params.push(&mut words);
        words.extend(&self.views);
        words
    }
}

/// Work recorded and not yet submitted.
#[derive(Default)]
pub(crate) struct Recorder {
    // The pass borrows from the encoder, so it is declared first and dropped first.
    pass: Option<wgpu::ComputePass<'static>>,
    encoder: Option<wgpu::CommandEncoder>,
    params: Vec<u8>,
    arena: Option<wgpu::Buffer>,
    alignment: usize,
    launches: usize,
}

impl Recorder {
    pub(crate) fn new(device: &wgpu::Device, limits: &wgpu::Limits) -> Self {
        let arena = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("params"),
            size: ARENA as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let alignment = limits.min_storage_buffer_offset_alignment as usize;
        Self { arena: Some(arena), alignment, ..Self::default() }
    }

    fn encoder(&mut self, device: &wgpu::Device) -> &mut wgpu::CommandEncoder {
        self.pass = None;
        self.encoder
            .get_or_insert_with(|| device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()))
    }

    fn pass(&mut self, device: &wgpu::Device) -> &mut wgpu::ComputePass<'static> {
        if self.pass.is_none() {
            let pass = self.encoder(device).begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            self.pass = Some(pass.forget_lifetime());
        }
        // The branch above filled it; `get_or_insert_with` cannot borrow the encoder as well.
        self.pass.as_mut().unwrap_or_else(|| unreachable!("the pass was just opened"))
    }

    /// Copies params into the arena's next aligned slot and returns its offset and size in bytes.
    fn push_params(&mut self, words: &[u32]) -> (usize, usize) {
        let start = self.params.len().next_multiple_of(self.alignment.max(4));
        self.params.resize(start, 0);
        for word in words {
            self.params.extend_from_slice(&word.to_le_bytes());
        }
        (start, self.params.len() - start)
    }

    /// Forgets what is recorded.
    fn discard(&mut self) {
        self.pass = None;
        self.encoder = None;
        self.params.clear();
        self.launches = 0;
    }

    fn submit(&mut self, gpu: &Gpu) {
        self.pass = None;
        let Some(encoder) = self.encoder.take() else { return };
        if let Some(arena) = &self.arena {
            gpu.queue.write_buffer(arena, 0, &self.params);
        }
        self.params.clear();
        self.launches = 0;
        gpu.queue.submit([encoder.finish()]);
    }
}

impl Gpu {
    /// Records one launch.
    pub(crate) fn launch<P: Param>(&self, launch: &Launch<'_, P>) -> Result<(), GpuError> {
        let count = launch.count;
        self.launch_words(launch.shader.parts(), &launch.words(), launch.inputs, launch.output, count)
    }

    fn launch_words(
        &self,
        shader: &Parts,
        words: &[u32],
        inputs: &[&GpuTensor],
        output: &GpuTensor,
        count: usize,
    ) -> Result<(), GpuError> {
        let name = shader.name();
        for dtype in shader.needs() {
            self.require(name, dtype)?;
        }
        if inputs.len() != shader.arity() {
            let why = format!("its kernel reads {} tensors, not {}", shader.arity(), inputs.len());
            return Err(GpuError::arguments(name, why));
        }
        if count == 0 {
            return Ok(());
        }
        let groups = self.workgroups(name, shader.workgroups(count))?;
        let traced = self.trace(shader, words, inputs, output, groups)?;
        self.record(shader, words, inputs, output, groups)?;
        traced.map_or(Ok(()), |traced| self.keep(traced, output))
    }

    /// Records a launch that is in order.
    fn record(
        &self,
        shader: &Parts,
        words: &[u32],
        inputs: &[&GpuTensor],
        output: &GpuTensor,
        groups: [u32; 3],
    ) -> Result<(), GpuError> {
        let name = shader.name();
        let pipeline = self.pipeline(shader)?;
        let mut recorder = lock(&self.recorder);
        let recorder = &mut *recorder;
        self.guarded(name, || {
            let room = recorder.params.len() + recorder.alignment + 4 * words.len();
            if room > ARENA || recorder.launches == MAX_LAUNCHES {
                recorder.submit(self);
            }
            let (offset, size) = recorder.push_params(words);
            let Some(arena) = recorder.arena.clone() else { return };
            let params = wgpu::BufferBinding {
                buffer: &arena,
                offset: offset as u64,
                size: wgpu::BufferSize::new(size as u64),
            };
            let buffers = inputs.iter().map(|t| &t.buffer).chain([&output.buffer]);
            let bound = std::iter::once(wgpu::BindingResource::Buffer(params))
                .chain(buffers.map(wgpu::Buffer::as_entire_binding));
            let entries: Vec<_> = bound
                .zip(0..)
                .map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource })
                .collect();
            let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.layout,
                entries: &entries,
            });
            let pass = recorder.pass(&self.device);
            pass.set_pipeline(&pipeline.pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(groups[0], groups[1], groups[2]);
            recorder.launches += 1;
        })
    }

    /// Submits what is recorded, without waiting for it.
    pub fn flush(&self) -> Result<(), GpuError> {
        let mut recorder = lock(&self.recorder);
        self.guarded("submission", || recorder.submit(self))
    }

    /// Forgets what is recorded and not yet submitted.
    pub(crate) fn discard(&self) {
        lock(&self.recorder).discard();
    }

    /// Spreads workgroups over three dimensions of at most the device's number each.
    fn workgroups(&self, what: &str, groups: usize) -> Result<[u32; 3], GpuError> {
        let most = self.limits.max_compute_workgroups_per_dimension as usize;
        let x = groups.min(most);
        let y = groups.div_ceil(x).min(most);
        let z = groups.div_ceil(x * y);
        // Element numbers are `u32` in the kernels, with room for the last, partly idle row of workgroups.
        let numbers = x * y * z * WORKGROUP as usize;
        if z > most || numbers > u32::MAX as usize {
            let what = format!("a launch of {what}");
            return Err(GpuError::TooLarge { what, needed: numbers as u64, limit: u64::from(u32::MAX) });
        }
        Ok([x as u32, y as u32, z as u32])
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use ir::{DType, Tensor, Type};
    use ops::Model;

    use super::*;
    use crate::wgpu::Which;

    #[test]
    fn nothing_is_left_to_run_of_a_model_that_fails() {
        let gpu = match Gpu::open(&Which::Best) {
            Ok(gpu) => gpu,
            Err(e) => {
                // Past the test harness, which shows nothing of a test that passes.
                let _ = writeln!(std::io::stderr(), "NOT TESTED: a model that fails: {e}");
                return;
            }
        };
        // 8 GiB, the most that a type may have.
        let text = "onnxsmith 1 opset 21 graph { %0: f32[1] = variable \"x\" %1: f32[1] = Relu(%0) \
                    %2: f32[32768, 65535] = Expand(%1) {shape = [32768, 65535]} return \"y\" = %2 }";
        let model: Model = text.parse().expect("it is in the text form");
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| -1.0);
        let failed = gpu.run(&model, &[&x]).expect_err("no device holds the result");
        assert!(matches!(failed.cause, GpuError::TooLarge { .. }), "{failed}");
        assert_eq!(gpu.compiled(), 1 + compiled_by_opening(), "the first node was recorded");
        let recorder = lock(&gpu.recorder);
        assert!(recorder.launches == 0 && recorder.encoder.is_none() && recorder.params.is_empty());
    }

    /// How many kernels the self-test compiles.
    fn compiled_by_opening() -> usize {
        Gpu::open(&Which::Best).map_or(0, |gpu| gpu.compiled())
    }
}
