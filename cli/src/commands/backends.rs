//! `onnxsmith backends`

mod further;

use backends::engines::gpu;
use backends::wgpu::{AdapterInfo, Gpu, Which, adapters};
use graphgen::Settings;
use harness::Support;
use harness::reference::REFERENCE;
use harness::support::{Lacking, LackingForm};
use harness::target;
use serde::Serialize;
use serde_json::{Value, json};
use worker::Limits;

use self::further::Further;
use super::{jobs, probe, writable_file};
use crate::args::{Backends, Common};
use crate::interrupts::Interrupts;
use crate::{destination, screen};
use campaign::Exit;

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
struct Device {
    /// As which backend it runs.
    backend: String,
    adapter: String,
    self_test: String,
}

/// Lists the backends, the engines behind adapters and the GPU adapters, or finds out what one has.
pub(crate) fn run(common: Common, args: &Backends) -> anyhow::Result<Exit> {
    match &args.probe {
        Some(engine) => find_out(common, engine, args),
        None => list(common),
    }
}

/// Finds out what an engine has.
fn find_out(common: Common, engine: &str, args: &Backends) -> anyhow::Result<Exit> {
    writable_file("--out", args.out.as_deref())?;
    // Whatever is drawn by default: a file may be used with any opset.
    let settings = Settings { opset: *ir::graph::OPSETS.end(), ..Settings::default() };
    let _interrupts = Interrupts::at_once()?;
    let support = probe::support(common, engine, &settings, jobs(args.jobs), &args.patience.limits())?;
    let text = support.to_toml();
    match &args.out {
        Some(file) => destination::write(file, &text)?,
        None if !common.json => screen::text(&text)?,
        None => {}
    }
    if common.json {
        screen::json(&told(&support))?;
    }
    Ok(Exit::Clean)
}

/// What an engine has, under the names that its file has.
fn told(support: &Support) -> Value {
    let lacking = |l: &Lacking| json!({ "operator": l.operator, "where": l.sentence(), "tried": l.tried, "said": l.said });
    let form = |l: &LackingForm| json!({ "form": l.form, "tried": l.tried, "said": l.said });
    json!({
        "engine": support.engine,
        "name": support.name,
        "version": support.version,
        "accuracy": support.profile.name,
        "opset": support.opset,
        "dtypes": support.dtypes.iter().map(ir::DType::name).collect::<Vec<_>>(),
        "functions": support.functions,
        "lacking": support.lacking().iter().map(lacking).collect::<Vec<_>>(),
        "lacking_forms": support.lacking_forms().iter().map(form).collect::<Vec<_>>(),
    })
}

fn list(common: Common) -> anyhow::Result<Exit> {
    let names = std::iter::once(&REFERENCE).chain(backends::engines::all());
    let found: Vec<Backend> = names.map(|name| describe(name)).collect();
    let adapters: Vec<Device> = adapters().iter().enumerate().map(|(i, info)| test(i, info)).collect();
    let further: Vec<Further> = further::all().collect();
    if common.json {
        screen::json(&json!({ "backends": found, "further": further, "adapters": adapters }))?;
    } else {
        screen::text(&text(&found, &further, &adapters))?;
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

fn test(index: usize, info: &AdapterInfo) -> Device {
    let self_test = match Gpu::open(&Which::Index(index)) {
        Ok(gpu) => gpu.self_test().to_string(),
        Err(e) => e.to_string(),
    };
    Device { backend: format!("{}@{index}", gpu::NAME), adapter: info.to_string(), self_test }
}

fn text(backends: &[Backend], further: &[Further], adapters: &[Device]) -> String {
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
    out.extend(further.iter().map(|engine| format!("{engine}\n")));
    if adapters.is_empty() {
        out += "no GPU adapter: install a driver (a software one such as lavapipe will do)\n";
    }
    for a in adapters {
        out += &format!("adapter {}: {}\n  self-test: {}\n", a.backend, a.adapter, a.self_test);
    }
    out
}
