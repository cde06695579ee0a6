//! The program, run as a user runs it.

use std::path::Path;
use std::process::{Command, Output};

/// Runs it in a folder.
pub(crate) fn onnxsmith(folder: &Path, args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_onnxsmith");
    Command::new(program).args(args).current_dir(folder).output().expect("the program starts")
}
