//! Compiled kernels, each compiled once: what one takes is the larger part of what short runs take, and it is nearly the same for
//! every kernel, so that what counts is how many there are.

use std::collections::HashMap;
use std::sync::Arc;

use crate::wgpu::device::{Gpu, GpuError, lock};
use crate::wgpu::wgsl::{Functions, Parts};

/// A compiled kernel.
pub(crate) struct Pipeline {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
}

/// What is compiled, by what its text follows from, which is quickly said, and by the text itself: kernels of many
/// dtypes have one.
#[derive(Default)]
pub(crate) struct Pipelines {
    by_key: HashMap<(Functions, String), Arc<Pipeline>>,
    by_text: HashMap<String, Arc<Pipeline>>,
}

impl Pipelines {
    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Gpu {
    /// How many kernels have been compiled.
    pub fn compiled(&self) -> usize {
        lock(&self.pipelines).by_text.len()
    }

    /// The kernel, compiled if no kernel with its text has been.
    pub(super) fn pipeline(&self, shader: &Parts) -> Result<Arc<Pipeline>, GpuError> {
        let key = (self.functions, shader.key());
        if let Some(found) = lock(&self.pipelines).by_key.get(&key) {
            return Ok(Arc::clone(found));
        }
        let (name, source) = (shader.name(), self.source(shader));
        let known = lock(&self.pipelines).by_text.get(&source).map(Arc::clone);
        let pipeline = match known {
            Some(known) => known,
            None => Arc::new(self.guarded(name, || self.compile(name, &source, shader.arity()))?),
        };
        let mut pipelines = lock(&self.pipelines);
        pipelines.by_text.insert(source, Arc::clone(&pipeline));
        pipelines.by_key.insert(key, Arc::clone(&pipeline));
        Ok(pipeline)
    }

    /// A shader as it comes to the device.
    pub(super) fn source(&self, shader: &Parts) -> String {
        let source = shader.source(self.functions);
        match &self.rewriting {
            Some(rewriting) => rewriting(source),
            None => source,
        }
    }

    fn compile(&self, name: &str, source: &str, inputs: usize) -> Pipeline {
        let entry = |binding: usize, read_only: bool| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let entries: Vec<_> = (0..inputs + 2).map(|i| entry(i, i <= inputs)).collect();
        let layout = self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(name),
            entries: &entries,
        });
        let pipeline_layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(name),
            bind_group_layouts: &[Some(&layout)],
            ..Default::default()
        });
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(name),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        Pipeline { pipeline, layout }
    }
}
