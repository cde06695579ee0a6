//! The table of what is tested: one row for each backend and engine.

use backends::cpu::{self, CpuEngine, GraphRunner, Kernels};
use backends::engines::gpu::{self, GpuRunner};
use backends::engines::models::OnModels;
use backends::{Support, wgpu};
use ir::Type;
use ops::Op;
use worker::Engine;

/// A backend or an engine: how it is opened, what it lacks, what is known to be wrong with it.
pub struct Row {
    /// Its name among the engines that are built in.
    pub name: &'static str,
    /// Where it runs.
    pub host: Host,
    /// What it lacks.
    pub lacks: Lacks,
    /// The least number of operators of which elements must have been compared.
    pub operators: usize,
    /// The findings in `corpus/` that the problems show: these and no others.
    pub findings: &'static [&'static str],
}

/// Where an engine runs.
pub enum Host {
    /// In this process: kernels of our own.
    Here(fn() -> Result<Box<dyn Engine + Send>, String>),
    /// In a worker process: runtimes.
    Worker,
}

/// What a backend or an engine lacks, as data.
pub enum Lacks {
    /// What our own kernels say of each use of an operator, without running it.
    Kernels(fn(&Op, &[Option<&Type>]) -> Support),
    /// The text of a file that `onnxsmith backends --probe ENGINE --out FILE` has written. Whoever knows better corrects it.
    Forms(&'static str),
}

/// Our GPU kernels on the fastest adapter.
fn on_best_adapter() -> Result<Box<dyn Engine + Send>, String> {
    let runner = GpuRunner::open(gpu::NAME, &wgpu::Which::Best).map_err(|e| e.to_string())?;
    Ok(Box::new(OnModels::new(runner)))
}

/// Our GPU kernels at the level at which workgroups work together wherever they can.
pub const TEAMS: &str = "wgpu:teams";

/// The same, on the fastest adapter.
fn in_teams() -> Result<Box<dyn Engine + Send>, String> {
    let mut gpu = wgpu::Gpu::open(&wgpu::Which::Best).map_err(|e| e.to_string())?;
    gpu.team(wgpu::Teamwork::Always);
    Ok(Box::new(OnModels::new(GpuRunner::new(TEAMS, gpu))))
}

/// Our CPU kernels at the level that runs only where it is named.
pub const PLAIN: &str = "cpu:plain";

/// All rows, those included whose engine is not built in.
pub const ROWS: &[Row] = &[
    Row {
        name: "cpu",
        host: Host::Here(|| Ok(Box::new(CpuEngine::default()))),
        lacks: Lacks::Kernels(cpu::support),
        operators: 124,
        findings: &[],
    },
    Row {
        name: PLAIN,
        host: Host::Here(|| Ok(Box::new(OnModels::new(GraphRunner::new(PLAIN, Kernels::Plain))))),
        lacks: Lacks::Kernels(cpu::support),
        operators: 124,
        findings: &[],
    },
    Row {
        name: gpu::NAME,
        host: Host::Here(on_best_adapter),
        lacks: Lacks::Kernels(wgpu::support),
        operators: 124,
        findings: &[],
    },
    Row {
        name: TEAMS,
        host: Host::Here(in_teams),
        lacks: Lacks::Kernels(wgpu::support),
        operators: 124,
        findings: &[],
    },
    Row {
        name: "rten",
        host: Host::Worker,
        lacks: Lacks::Forms(include_str!("../engines/rten.toml")),
        operators: 100,
        findings: &[
            "corpus/rten-0.27/argmax-tie",
            "corpus/rten-0.27/argmin-tie",
            "corpus/rten-0.27/atanh-near-minus-one",
            "corpus/rten-0.27/batchnormalization-empty",
            "corpus/rten-0.27/cast-float-to-bool",
            "corpus/rten-0.27/conv-same-lower",
            "corpus/rten-0.27/conv-without-kernel-shape",
            "corpus/rten-0.27/reducel2-of-no-axes",
            "corpus/rten-0.27/reducemean-of-no-axes",
            "corpus/rten-0.27/sign-zero",
            "corpus/rten-0.27/slice-steps-without-axes",
            "corpus/rten-0.27/softplus-large",
        ],
    },
];

/// The row of a backend or an engine.
pub fn of(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}
