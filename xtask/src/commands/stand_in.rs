//! What `onnxsmith` and `cargo` are while the documents' commands run: the program that was built, with shorter campaigns.
//!
//! They are scripts that call `cargo xtask stand-in`, in a folder at the front of the `PATH`. Only budgets are changed, and
//! what was run is said. An error of the program stays one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

/// A command in the words of a document.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The program's name
    name: String,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// The programs that have a stand-in.
const STAND_INS: [&str; 2] = ["onnxsmith", "cargo"];

/// Budgets that a document's command may not exceed: the subcommand, its flag, and the most.
const BUDGETS: &[(&str, &str, u64)] =
    &[("fuzz", "--cases", 5), ("gen", "--count", 5), ("reduce", "--tries", 50)];

/// Where the stand-ins learn what they stand for.
const PROGRAM: &str = "XTASK_COMMANDS_PROGRAM";
const MAY_FIND: &str = "XTASK_COMMANDS_MAY_FIND";

/// What a command of a block runs in.
pub(super) struct Surroundings {
    /// The program that was built.
    pub(super) program: PathBuf,
    /// Whether exit code 1 is as good as 0.
    pub(super) may_find: bool,
}

impl Surroundings {
    /// Makes a shell see the stand-ins.
    pub(super) fn apply(&self, shell: &mut Command, folder: &Path) -> Result<()> {
        let bin = folder.join(".bin");
        if !bin.exists() {
            fs::create_dir(&bin).context("cannot make stand-ins")?;
            let xtask = std::env::current_exe().context("cannot find this program")?;
            let xtask = shlex::try_quote(xtask.to_str().context("the path of this program is not UTF-8")?)?
                .into_owned();
            for name in STAND_INS {
                let script = format!("#!/bin/sh\nexec {xtask} stand-in {name} \"$@\"\n");
                executable(&bin.join(name), &script)?;
            }
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path)))?;
        shell
            .env("PATH", path)
            .env(PROGRAM, &self.program)
            .env(MAY_FIND, u8::from(self.may_find).to_string());
        // Without a runtime folder Mesa complains each time adapters are listed.
        shell.env("XDG_RUNTIME_DIR", folder);
        // No Vulkan driver is found, so that a software one, which is slow, does not decide how long this takes.
        let nowhere = folder.join("no-driver.json");
        shell.env("VK_DRIVER_FILES", &nowhere).env("VK_ICD_FILENAMES", &nowhere);
        Ok(())
    }
}

fn executable(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Runs a command of a document.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let words = match arguments.name.as_str() {
        "cargo" => through_cargo(&arguments.arguments)?,
        _ => &arguments.arguments,
    };
    let words = shortened(words);
    eprintln!("$ onnxsmith {}", words.join(" "));
    let program = std::env::var_os(PROGRAM).with_context(|| format!("{PROGRAM} names no program"))?;
    let status = Command::new(program).args(&words).status().context("cannot run onnxsmith")?;
    let may_find = std::env::var_os(MAY_FIND).is_some_and(|value| value == "1");
    Ok(match status.code() {
        Some(0) => ExitCode::SUCCESS,
        Some(1) if may_find => ExitCode::SUCCESS,
        Some(code) => {
            eprintln!("`onnxsmith {}` exits with {code}", words.join(" "));
            ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
        }
        None => bail!("`onnxsmith {}` was killed: {status}", words.join(" ")),
    })
}

/// What `cargo run` gives to the program.
fn through_cargo(words: &[String]) -> Result<&[String]> {
    let rest = words.strip_prefix(&["run".to_owned()]);
    let rest = rest.map(|rest| rest.strip_prefix(&["--release".to_owned()]).unwrap_or(rest));
    let Some(words) = rest.and_then(|rest| rest.strip_prefix(&["--".to_owned()])) else {
        bail!("`cargo {}` is not run here: say before the block why", words.join(" "));
    };
    ensure!(!words.is_empty(), "`cargo run --` gives no command");
    Ok(words)
}

/// The command with a budget that is soon used up.
fn shortened(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    for (command, flag, most) in BUDGETS {
        if words.first().is_none_or(|first| first != command) {
            continue;
        }
        let given = words.iter().position(|word| word == flag);
        match given.and_then(|at| words.get_mut(at + 1)) {
            Some(value) if value.parse::<u64>().is_ok_and(|value| value <= *most) => {}
            Some(value) => *value = most.to_string(),
            None => words.extend([(*flag).to_owned(), most.to_string()]),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn budgets_are_shortened_and_nothing_else_is() {
        for (said, run) in [
            ("fuzz", "fuzz --cases 5"),
            ("fuzz --cases 1000000 --out a", "fuzz --cases 5 --out a"),
            ("gen --count 3 --nodes 20", "gen --count 3 --nodes 20"),
            ("run cases --on cpu", "run cases --on cpu"),
        ] {
            assert_eq!(shortened(&words(said)), words(run));
        }
    }

    #[test]
    fn cargo_runs_the_program_and_nothing_else() {
        assert_eq!(through_cargo(&words("run --release -- fuzz --on cpu")).unwrap(), words("fuzz --on cpu"));
        assert_eq!(through_cargo(&words("run -- ops")).unwrap(), words("ops"));
        assert!(through_cargo(&words("run --release --features ort -- fuzz")).is_err());
        assert!(through_cargo(&words("test --workspace")).is_err());
    }
}
