//! A reader that has had enough, `| head`: no error, nothing on standard error, and the exit code is that of the command.
#![cfg(unix)]

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_onnxsmith");

/// A pipe that nobody reads.
fn deaf() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

/// Runs the program with a standard output that nobody reads.
fn unheard(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(args).current_dir(folder).stdout(deaf()).stderr(Stdio::piped());
    command.output().expect("the program starts")
}

fn campaign(folder: &Path) {
    let args = [
        "fuzz",
        "--on",
        "cpu,rten:all",
        "--ops",
        "Sign,Add",
        "--dtypes",
        "f32",
        "--nodes",
        "1",
        "--cases",
        "40",
        "--out",
        "out",
        "--quiet",
    ];
    let ran = Command::new(PROGRAM).args(args).current_dir(folder).output().expect("the program starts");
    assert_eq!(ran.status.code(), Some(1), "there are findings: {}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    campaign(at);
    let found = Some(1);
    let rows: [(&[&str], Option<i32>); 13] = [
        (&["--help"], Some(0)),
        (&["fuzz", "--help"], Some(0)),
        (&["--version"], Some(0)),
        (&["backends"], Some(0)),
        (&["backends", "--json"], Some(0)),
        (&["gen", "--count", "1", "--quiet"], Some(0)),
        (&["gen", "--count", "3", "--out", "cases", "--json", "--quiet"], Some(0)),
        (&["show", "cases/case-000000"], Some(0)),
        (&["show", "cases/case-000000", "--json"], Some(0)),
        (&["run", "cases", "--on", "cpu", "--quiet"], Some(0)),
        (&["watch", "out"], Some(0)),
        (&["report", "out"], found),
        (&["report", "out", "--json"], found),
    ];
    for (args, code) in rows {
        let output = unheard(at, args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), code, "{args:?}: {said}");
        assert_eq!(said, "", "{args:?}");
    }
}

#[test]
fn a_closed_standard_error_stops_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let args =
        ["fuzz", "--on", "cpu", "--ops", "Add", "--dtypes", "f32", "--cases", "5", "--json", "--out", "out"];
    let mut command = Command::new(PROGRAM);
    let output =
        command.args(args).current_dir(folder.path()).stderr(deaf()).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(0), "{:?}", output.status);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(report["cases"], 5);
    // Of an error, the exit code is left.
    let failed =
        Command::new(PROGRAM).args(["show", "missing"]).stderr(deaf()).output().expect("the program starts");
    assert_eq!(failed.status.code(), Some(2));
}

/// A full disk is another matter.
#[cfg(target_os = "linux")]
#[test]
fn an_output_that_is_lost_is_an_error() {
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let output = Command::new(PROGRAM).arg("backends").stdout(full).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("No space left"), "{said}");
}

/// With Mesa's drivers, Wayland's library says so where adapters are listed and the variable is not set. (Without them,
/// this shows nothing.)
#[test]
fn drivers_do_not_complain_about_a_missing_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    for args in [&["backends"][..], &["fuzz", "--on", "cpu", "--ops", "Add", "--cases", "1", "--out", "out"]]
    {
        let mut command = Command::new(PROGRAM);
        command.args(args).current_dir(folder.path()).env_remove("XDG_RUNTIME_DIR");
        let output = command.output().expect("the program starts");
        let said =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !said.contains("XDG_RUNTIME_DIR"), "{args:?}: {said}");
    }
}

/// Only the commands that look for a device get a folder where there is none; what they start, and all others, see the
/// environment as it is.
#[test]
fn the_environment_of_a_runner_is_the_users() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "echo \"${XDG_RUNTIME_DIR-unset}\" > seen; exec \"$0\" worker cpu";
    let runner = format!("cmd:sh -c '{script}' '{PROGRAM}'");
    let mut command = Command::new(PROGRAM);
    command.args(["gen", "--count", "1", "--nodes", "1", "--out", "cases", "--quiet"]);
    assert!(command.current_dir(folder.path()).status().expect("the program starts").success());
    for (given, wanted) in [(None, "unset\n"), (Some("/run/mine"), "/run/mine\n")] {
        let mut command = Command::new(PROGRAM);
        command
            .args(["run", "cases", "--on", &runner, "--quiet"])
            .current_dir(folder.path())
            .env_remove("XDG_RUNTIME_DIR");
        let output =
            command.envs(given.map(|given| ("XDG_RUNTIME_DIR", given))).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(std::fs::read_to_string(folder.path().join("seen")).expect("a file"), wanted);
    }
}
