//! Files that are generated and checked in.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// What to do with a generated file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Write it where it differs.
    Write,
    /// Fail where it differs.
    Check,
}

impl Mode {
    /// The meaning of a `--check` flag.
    pub(crate) fn of(check: bool) -> Self {
        if check { Self::Check } else { Self::Write }
    }
}

/// The root of the repository this task was built from.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// Brings a file under the root to the wanted content, or checks that it has it. `task` names the remedy.
pub(crate) fn bring_up_to_date(root: &Path, file: &str, wanted: &str, mode: Mode, task: &str) -> Result<()> {
    let path = root.join(file);
    // Git may check text out with CRLF; that alone does not make a file stale.
    let found = fs::read_to_string(&path).map(|text| text.replace("\r\n", "\n"));
    if found.is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    match mode {
        Mode::Check => bail!("{file} is stale: run `cargo xtask {task}` and commit the result"),
        Mode::Write => {
            fs::write(&path, wanted).with_context(|| format!("cannot write {file}"))?;
            eprintln!("wrote {file}");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_finds_what_write_brings_up_to_date() {
        let dir = tempfile::tempdir().unwrap();
        let bring_up_to_date = |wanted, mode| bring_up_to_date(dir.path(), "a.txt", wanted, mode, "codegen");
        assert!(bring_up_to_date("one\n", Mode::Check).is_err());
        bring_up_to_date("one\n", Mode::Write).unwrap();
        bring_up_to_date("one\n", Mode::Check).unwrap();
        let stale = bring_up_to_date("two\n", Mode::Check).unwrap_err().to_string();
        assert!(stale.contains("cargo xtask codegen"), "{stale}");
        assert_eq!(fs::read_to_string(dir.path().join("a.txt")).unwrap(), "one\n");
    }
}
