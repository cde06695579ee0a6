//! Documentation tables, made by the program itself from its code.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::checked_in::{Mode, root, settle};

/// The generated page and the command that prints it.
const OPERATORS: (&str, &[&str]) = ("docs/operators.md", &["ops", "--markdown"]);

/// Generates, then writes or checks.
pub(crate) fn run(mode: Mode) -> Result<()> {
    let root = root();
    let (file, arguments) = OPERATORS;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(&root).args(["run", "--quiet", "--package", "onnxsmith", "--"]).args(arguments);
    let output = command.output().context("cannot run cargo")?;
    ensure!(
        output.status.success(),
        "`onnxsmith {}` failed: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).context("the page is not UTF-8")?;
    settle(&root, file, &text, mode, "docs")
}
