//! Our GPU kernels as an engine.

use ir::{DType, DTypes, Tensor};
use ops::Model;

use super::models::Runner;
use crate::wgpu::{Capabilities, Gpu, GpuError, Which};
use worker::{Description, EngineError};

/// The name under which the GPU backend is known.
pub const NAME: &str = "wgpu";

/// One open device.
#[derive(Debug)]
pub struct GpuRunner {
    gpu: Gpu,
}

impl GpuRunner {
    /// Opens the best adapter.
    pub fn open() -> Result<Self, GpuError> {
        Ok(Self { gpu: Gpu::open(&Which::Best)? })
    }
}

/// Whether the device has the dtype.
fn has(capabilities: Capabilities, dtype: DType) -> bool {
    match dtype {
        DType::F16 => capabilities.f16,
        DType::F64 => capabilities.f64,
        DType::I64 | DType::U64 => capabilities.int64,
        _ => true,
    }
}

impl Runner for GpuRunner {
    fn describe(&self) -> Description {
        let capabilities = self.gpu.capabilities();
        let dtypes = DTypes::IR4.iter().filter(|&d| has(capabilities, d));
        Description {
            engine: NAME.to_owned(),
            version: format!("{} on {}", env!("CARGO_PKG_VERSION"), self.gpu.info()),
            dtypes: dtypes.map(|d| (d.to_string(), d.to_string())).collect(),
            opset: Some(i64::from(*ir::graph::OPSETS.end())),
            levels: vec!["default".to_owned()],
            profile: Some("wgsl".to_owned()),
            // Partial results are f32: `wgpu::wgsl::accumulator`.
            accumulators: [("f16", "f32"), ("bf16", "f32")].map(|(of, by)| (of.into(), by.into())).into(),
            repeats: true,
            ..Description::default()
        }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        self.gpu.run(model, &inputs).map_err(|e| match e.cause {
            GpuError::Unsupported { .. } | GpuError::TooLarge { .. } => {
                EngineError::Unsupported(e.to_string())
            }
            _ => EngineError::Run(e.to_string()),
        })
    }
}
