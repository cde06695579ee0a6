//! What goes wrong on this side is told as that, and not as a fault of an engine.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_onnxsmith");

fn onnxsmith(folder: &Path, args: &[&str]) -> Output {
    Command::new(PROGRAM).args(args).current_dir(folder).output().expect("the program starts")
}

fn one_case(at: &Path) {
    let made = onnxsmith(at, &["gen", "--count", "1", "--nodes", "1", "--out", "cases", "--quiet"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// Runs the case, and gives what is counted, with the report for CI.
fn troubled(at: &Path, args: &[&str]) -> (serde_json::Value, String) {
    let all = [&["run", "cases", "--json", "--quiet", "--junit", "junit.xml"], args].concat();
    let ran = onnxsmith(at, &all);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("1 answers could not be had"), "{said}");
    let json = serde_json::from_slice(&ran.stdout).expect("one JSON object");
    (json, fs::read_to_string(at.join("junit.xml")).expect("a report"))
}

#[test]
fn outputs_that_cannot_be_written_are_no_crash() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    one_case(at);
    fs::create_dir(at.join("out")).expect("a folder");
    fs::write(at.join("out/case-000000"), "in the way").expect("a file");
    let (json, junit) = troubled(at, &["--on", "cpu", "--out", "out"]);
    let counts = &json["backends"]["cpu:default"];
    assert_eq!((&counts["trouble"], &counts["crash"]), (&1.into(), &0.into()), "{json}");
    assert!(junit.contains("failures=\"0\" errors=\"1\""), "{junit}");
}
