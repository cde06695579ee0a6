//! `onnxsmith worker`: the child's side of the worker protocol.

use backends::engines::models::OnModels;
use backends::worker::{Engine, serve};
use campaign::reference::Reference;
use campaign::target::REFERENCE;

use crate::Exit;

/// Serves an engine until standard input is closed.
pub(crate) fn run(name: &str) -> anyhow::Result<Exit> {
    let mut engine: Box<dyn Engine> =
        if name == REFERENCE { Box::new(OnModels(Reference)) } else { backends::engines::open(name)? };
    serve(engine.as_mut())?;
    Ok(Exit::Clean)
}
