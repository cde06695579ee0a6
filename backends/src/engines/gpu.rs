//! Our GPU kernels as an engine.

use ir::{DTypes, Tensor};
use ops::Model;

use super::models::Runner;
use crate::wgpu::{Functions, Gpu, GpuError, Teamwork, Which};
use worker::{Description, EngineError};

/// The name under which the GPU backend is known.
pub const NAME: &str = "wgpu";

/// The level at which kernels call functions of our own.
const OWN: &str = "default";

/// The level at which they call the driver's, of which a campaign on our kernels would say little: what WGSL promises of them is
/// little.
const BUILTINS: &str = "builtins";

/// The level at which workgroups work together wherever there is a kernel in which they do, whatever suits the adapter: so a
/// machine with a software driver tests these kernels as well.
const TEAMS: &str = "teams";

/// What stands between the backend's name and that of an adapter.
pub(crate) const AT: char = '@';

/// The adapter that a backend's name stands for: the best of `wgpu`, that at a position of `wgpu@0`, the first of that name of
/// `wgpu@llvmpipe`. `None` if it is the name of another backend.
pub fn adapter(name: &str) -> Option<Which> {
    match name.strip_prefix(NAME)? {
        "" => Some(Which::Best),
        adapter => adapter.strip_prefix(AT).filter(|word| !word.is_empty()).map(Which::named),
    }
}

/// Whether a name asks for an adapter and leaves out which.
pub(super) fn names_no_adapter(name: &str) -> bool {
    name.strip_prefix(NAME).and_then(|rest| rest.strip_prefix(AT)).is_some_and(str::is_empty)
}

/// One open device.
#[derive(Debug)]
pub struct GpuRunner {
    gpu: Gpu,
    /// The backend's name, with the adapter's where one was asked for.
    name: String,
    /// Whether workgroups work together where no level asks for it.
    teamwork: Teamwork,
}

impl GpuRunner {
    /// Opens the adapter that is meant by a backend's name, which it has in its `hello`. A case may take as long as whoever asks for
    /// it waits: the process ends then, and with it what the device runs.
    pub fn open(name: &str, which: &Which) -> Result<Self, GpuError> {
        let mut gpu = Gpu::open(which)?;
        gpu.wait_at_most(None);
        Ok(Self::new(name, gpu))
    }

    /// An open device under a name.
    pub fn new(name: &str, gpu: Gpu) -> Self {
        Self { teamwork: gpu.teamwork(), gpu, name: name.to_owned() }
    }
}

impl Runner for GpuRunner {
    fn describe(&self) -> Description {
        let capabilities = self.gpu.capabilities();
        let dtypes = DTypes::IR4.iter().filter(|&d| capabilities.has(d));
        Description {
            engine: self.name.clone(),
            version: format!("{} on {}", env!("CARGO_PKG_VERSION"), self.gpu.info()),
            dtypes: dtypes.map(|d| (d.to_string(), d.to_string())).collect(),
            opset: Some(i64::from(*ir::graph::OPSETS.end())),
            levels: vec![OWN.to_owned()],
            on_request: [BUILTINS, TEAMS].map(str::to_owned).into(),
            profile: Some("wgsl".to_owned()),
            // Partial results are f32: `wgpu::wgsl::accumulator`.
            accumulators: [("f16", "f32"), ("bf16", "f32")].map(|(of, by)| (of.into(), by.into())).into(),
            repeats: true,
            ..Description::default()
        }
    }

    fn take_level(&mut self, level: &str) {
        self.gpu.call(if level == BUILTINS { Functions::Builtin } else { Functions::Own });
        self.gpu.team(if level == TEAMS { Teamwork::Always } else { self.teamwork });
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        self.run_on(model, &inputs.iter().collect::<Vec<_>>())
    }

    fn run_on(&mut self, model: &Model, inputs: &[&Tensor]) -> Result<Vec<Tensor>, EngineError> {
        self.gpu.run(model, inputs).map_err(|e| kind(&e.cause)(e.to_string()))
    }
}

/// What an error of the device says of a case. After some the device is of no use any more, and in none of these is the model to blame.
fn kind(error: &GpuError) -> fn(String) -> EngineError {
    match error {
        GpuError::Unsupported { .. } | GpuError::TooLarge { .. } => EngineError::Unsupported,
        GpuError::Arguments { .. } => EngineError::Run,
        GpuError::OutOfMemory { .. }
        | GpuError::Device { .. }
        | GpuError::Timeout { .. }
        | GpuError::NoAdapter { .. }
        | GpuError::Open { .. } => EngineError::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_is_named_behind_the_backend() {
        assert_eq!(adapter("wgpu"), Some(Which::Best));
        assert_eq!(adapter("wgpu@1"), Some(Which::Index(1)));
        assert_eq!(adapter("wgpu@llvmpipe"), Some(Which::Name("llvmpipe".to_owned())));
        for other in ["wgpu@", "wgpux", "cpu", "cpu@0", ""] {
            assert_eq!(adapter(other), None, "{other}");
        }
    }
}
