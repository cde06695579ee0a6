//! Workers whose runs are timed.

use std::path::Path;
use std::time::Duration;

use ir::Datum;
use onnxsmith_backends::engines::{self, ORT_LIBRARY};
use worker::{EngineSpec, Limits, Outcome, Worker, set_variable};

use super::problems::Case;

/// The repository's root.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The level of ONNX Runtime that others are measured by: as it ships.
const LEVEL: &str = "all";

/// An engine at a level.
pub(crate) struct Timed {
    name: String,
    level: String,
    threads: usize,
    worker: Worker,
}

impl Timed {
    /// Starts a worker for a built-in engine, perhaps `:` and a level; else at its first one.
    pub(crate) fn start(name: &str, threads: usize) -> Result<Self, String> {
        let (engine, level) = name.split_once(':').unwrap_or((name, ""));
        let program = env!("CARGO_BIN_EXE_engine-worker").into();
        let spec = EngineSpec { name: engine.to_owned(), program, args: vec![engine.into()] };
        Self::of(spec, name, level, threads)
    }

    fn of(spec: EngineSpec, name: &str, level: &str, threads: usize) -> Result<Self, String> {
        // Software GPUs take long for what is none of their business.
        let limits =
            Limits { threads, timeout: Duration::from_mins(5), memory: Some(16 << 30), ..Limits::default() };
        let worker = Worker::start(spec, limits).map_err(|e| e.to_string())?;
        let first = worker.description().levels.first().cloned().unwrap_or_default();
        let level = if level.is_empty() { first } else { level.to_owned() };
        Ok(Self { name: name.to_owned(), level, threads, worker })
    }

    /// What it was asked for as.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How many threads it may use.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The version that the engine states.
    pub(crate) fn version(&self) -> String {
        self.worker.description().version.clone()
    }

    /// The seconds that the engine took to load and run a model.
    pub(crate) fn seconds(&mut self, case: &Case) -> Result<f64, String> {
        let case = worker::Case {
            model: worker::Source::Message(&case.model),
            level: &self.level,
            inputs: &Datum::of_tensors(&case.inputs),
            outputs: &case.outputs,
        };
        let run = self.worker.run(&case).map_err(|e| e.to_string())?;
        match run.outcome {
            Outcome::Outputs(_) => Ok(run.engine_seconds),
            Outcome::Unsupported { why } | Outcome::Rejected { message: why, .. } => Err(why),
            Outcome::Fault(fault) => Err(fault.to_string()),
        }
    }
}

/// ONNX Runtime, built in or as Python's package; `None` where neither is there.
pub(crate) fn onnx_runtime(threads: usize) -> Option<Timed> {
    find_library();
    let built_in = engines::all().contains(&"ort").then(|| Timed::start("ort:all", threads).ok());
    built_in.flatten().or_else(|| {
        let spec = EngineSpec::adapter(Path::new(ROOT), "onnxruntime").ok()?;
        Timed::of(spec, "onnxruntime:all", LEVEL, threads).ok()
    })
}

/// Tells workers where `scripts/python-env` put the library, unless the environment already does.
fn find_library() {
    if std::env::var_os(ORT_LIBRARY).is_some() {
        return;
    }
    if let Some(library) = engines::ort_library(Path::new(ROOT)) {
        set_variable(ORT_LIBRARY, library);
    }
}
