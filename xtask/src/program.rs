//! The program itself, as tasks run it: a binary that is given, or one that is built here.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::checked_in::root;

/// How the program is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Build {
    /// To be run for long.
    Release,
    /// To be run briefly: in the profile of tests, though what all packages share is built with fewer features than for these.
    Test,
}

/// The `onnxsmith` binary: the given one, or else one that is built with these cargo features.
pub(crate) fn onnxsmith(given: Option<&Path>, build: Build, features: &[&str]) -> Result<PathBuf> {
    if let Some(program) = given {
        return program.canonicalize().with_context(|| format!("there is no {}", program.display()));
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root()).args(["build", "--quiet", "--package", "onnxsmith"]);
    command.args((build == Build::Release).then_some("--release"));
    command.args(["--features", &features.join(","), "--message-format", "json"]);
    let output = command.output().context("cannot run cargo")?;
    ensure!(output.status.success(), "onnxsmith does not build: {}", String::from_utf8_lossy(&output.stderr));
    let messages = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<serde_json::Value>();
    let executables = messages.flatten().filter_map(|m| Some(m.get("executable")?.as_str()?.into()));
    executables.last().context("cargo names no executable")
}
