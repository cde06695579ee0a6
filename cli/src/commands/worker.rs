//! `onnxsmith worker`: the child's side of the worker protocol.

use anyhow::bail;
use backends::worker::{Engine, serve};
use campaign::reference::Reference;
use campaign::target::REFERENCE;

use crate::Exit;

/// Serves an engine until standard input is closed.
pub(crate) fn run(name: &str) -> anyhow::Result<Exit> {
    let mut engine: Box<dyn Engine> = if name == REFERENCE {
        Box::new(Reference)
    } else {
        match backends::engines::open(name) {
            Some(engine) => engine,
            None => bail!("no engine `{name}` is built in"),
        }
    };
    serve(engine.as_mut())?;
    Ok(Exit::Clean)
}
