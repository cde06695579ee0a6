//! Adapters: programs of a folder `adapters`, by the names of their engines.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_onnxsmith");

/// An adapter is a program of the folder `adapters`, wherever the user is.
#[test]
fn adapters_are_found_in_the_folder_that_the_variable_names() {
    let (folder, home) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let adapter = home.path().join("adapters/mine_runner");
    fs::create_dir(home.path().join("adapters")).expect("a folder");
    fs::write(&adapter, format!("#!/bin/sh\nexec '{PROGRAM}' worker cpu\n")).expect("a script");
    fs::set_permissions(&adapter, fs::Permissions::from_mode(0o755)).expect("an executable");
    let fuzz = |home: Option<&Path>| {
        let args = ["fuzz", "--on", "mine", "--ops", "Add", "--cases", "4", "--out", "out", "--quiet"];
        let mut command = Command::new(PROGRAM);
        command.args(args).current_dir(folder.path()).envs(home.map(|home| ("ONNXSMITH_HOME", home)));
        command.output().expect("the program starts")
    };
    let missing = fuzz(None);
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(missing.status.code() == Some(2) && said.contains("ONNXSMITH_HOME"), "{said}");
    let found = fuzz(Some(home.path()));
    assert_eq!(found.status.code(), Some(0), "{}", String::from_utf8_lossy(&found.stderr));
}
