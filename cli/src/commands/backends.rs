//! `onnxsmith backends`

use backends::wgpu::{AdapterInfo, Gpu, Which, adapters};
use backends::worker::Limits;
use campaign::target::{self, REFERENCE};
use serde::Serialize;

use crate::Exit;
use crate::args::Common;
use crate::screen;

/// What is known of a backend.
#[derive(Serialize)]
struct Backend {
    name: &'static str,
    version: Option<String>,
    levels: Vec<String>,
    /// The dtypes it takes, and what it computes each in where that differs.
    dtypes: Vec<String>,
    trouble: Option<String>,
}

/// A GPU adapter and its self-test.
#[derive(Serialize)]
struct Adapter {
    adapter: String,
    self_test: String,
}

/// Lists the backends and the GPU adapters.
pub(crate) fn run(common: Common) -> anyhow::Result<Exit> {
    let names = std::iter::once(&REFERENCE).chain(backends::engines::all());
    let found: Vec<Backend> = names.map(|name| describe(name)).collect();
    let adapters: Vec<Adapter> = adapters().iter().enumerate().map(|(i, info)| test(i, info)).collect();
    if common.json {
        screen::json(&serde_json::json!({ "backends": found, "adapters": adapters }))?;
    } else {
        screen::text(&text(&found, &adapters))?;
    }
    Ok(Exit::Clean)
}

fn describe(name: &'static str) -> Backend {
    let nothing =
        |trouble| Backend { name, version: None, levels: vec![], dtypes: vec![], trouble: Some(trouble) };
    let targets = match target::open(name, &Limits::default()) {
        Ok(targets) => targets,
        Err(e) => return nothing(e.to_string()),
    };
    let Some(description) = targets.first().map(|t| t.description().clone()) else {
        return nothing("it has no optimisation level".to_owned());
    };
    let dtype = |(has, computes): (String, String)| {
        if has == computes { has } else { format!("{has} as {computes}") }
    };
    Backend {
        name,
        version: Some(description.version),
        levels: description.levels,
        dtypes: description.dtypes.into_iter().map(dtype).collect(),
        trouble: None,
    }
}

fn test(index: usize, info: &AdapterInfo) -> Adapter {
    let self_test = match Gpu::open(&Which::Index(index)) {
        Ok(gpu) => gpu.self_test().to_string(),
        Err(e) => e.to_string(),
    };
    Adapter { adapter: info.to_string(), self_test }
}

fn text(backends: &[Backend], adapters: &[Adapter]) -> String {
    let mut out = String::new();
    for b in backends {
        match (&b.version, &b.trouble) {
            (Some(version), _) => {
                out += &format!(
                    "{} {version}\n  levels: {}\n  dtypes: {}\n",
                    b.name,
                    b.levels.join(", "),
                    b.dtypes.join(", ")
                );
            }
            (None, trouble) => {
                out += &format!("{}: {}\n", b.name, trouble.as_deref().unwrap_or("not available"));
            }
        }
    }
    if adapters.is_empty() {
        out += "no GPU adapter: install a driver (a software one such as lavapipe will do)\n";
    }
    for a in adapters {
        out += &format!("adapter {}\n  self-test: {}\n", a.adapter, a.self_test);
    }
    out
}
