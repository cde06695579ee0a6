//! How good value search is. What measures it is an example of `values`, so that it is built with what it needs and
//! optimised, as what it is to tell the time of.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::checked_in::root;

/// Runs the example.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root());
    command.args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "onnxsmith-values",
        "--example",
        "values",
        "--",
    ]);
    let status = command.args(arguments).status().context("cannot run cargo")?;
    ensure!(status.success(), "the measurement failed");
    Ok(())
}
