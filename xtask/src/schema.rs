//! ONNX's operator schemas, from the `onnx` package.
//!
//! The package is Python's, so a machine without it cannot generate them: the check says that it has compared nothing and
//! passes. `.ci/run` has no Python packages either way; whoever takes another version of the package runs this.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::checked_in::{Mode, bring_up_to_date, root};

/// What prints the schemas.
const SCRIPT: &str = "scripts/schemas.py";
/// Where they go.
const TARGET: &str = "ops/src/schema/schemas.txt";
/// The interpreter that has the package.
const PYTHON: &str = ".venv/bin/python";

/// Generates, then writes or checks.
pub(crate) fn run(mode: Mode) -> Result<()> {
    let root = root();
    if !root.join(PYTHON).exists() {
        match mode {
            Mode::Write => bail!("there is no {PYTHON}: scripts/python-env makes it"),
            Mode::Check => {
                eprintln!("there is no {PYTHON}, so {TARGET} was compared with nothing");
                return Ok(());
            }
        }
    }
    bring_up_to_date(&root, TARGET, &generate(&root)?, mode, "schema")
}

/// The text of the generated file.
fn generate(root: &Path) -> Result<String> {
    let output = Command::new(root.join(PYTHON))
        .arg(root.join(SCRIPT))
        .output()
        .with_context(|| format!("cannot run {SCRIPT}"))?;
    ensure!(output.status.success(), "{SCRIPT} fails: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).with_context(|| format!("{SCRIPT} prints no text"))
}
