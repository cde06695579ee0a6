//! `onnxsmith worker`: the child's side of the worker protocol.

use std::time::Instant;

use backends::engines::models::OnModels;
use harness::reference::REFERENCE;
use harness::reference::Reference;
use worker::{Engine, serve};

use campaign::Exit;

/// The engine that misbehaves.
const CHAOS: &str = "chaos";

/// Serves an engine until standard input is closed.
pub(crate) fn run(name: &str, rates: &[String]) -> anyhow::Result<Exit> {
    if name == CHAOS {
        return chaos(rates);
    }
    if let Some(word) = rates.first() {
        anyhow::bail!("`{word}` means nothing to {name}; only {CHAOS} takes rates");
    }
    let started = Instant::now();
    let mut engine: Box<dyn Engine> =
        if name == REFERENCE { Box::new(OnModels::new(Reference)) } else { backends::engines::open(name)? };
    serve(engine.as_mut(), started.elapsed())?;
    Ok(Exit::Clean)
}

#[cfg(unix)]
fn chaos(rates: &[String]) -> anyhow::Result<Exit> {
    use worker::chaos::{self, Rates};
    chaos::serve(&mut backends::cpu::CpuEngine::default(), &Rates::parse(rates)?)?;
    Ok(Exit::Clean)
}

#[cfg(not(unix))]
fn chaos(_: &[String]) -> anyhow::Result<Exit> {
    anyhow::bail!("{CHAOS} needs Unix")
}
