//! Processes that die of what an earlier case left behind, or after their last one.
#![cfg(unix)]

mod program;

use std::process::Output;

use program::onnxsmith;

/// Our CPU kernels, which answer each case twice: the next one finds the process unusable.
const TWICE: &str = concat!("cmd:'", env!("CARGO_BIN_EXE_onnxsmith"), "' worker chaos twice=100");

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_dies_after_its_answer_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = ["gen", "--ops", "Softmax", "--nodes", "1", "--count", "2", "--out", "cases"];
    assert!(onnxsmith(folder.path(), &made).status.success());
    let run = ["run", "cases", "--on", TWICE, "--jobs", "1", "--quiet"];
    let told = text(&onnxsmith(folder.path(), &run));
    assert!(told.contains("chaos: 1 × garbage that no case has in a fresh process"), "{told}");
    let told = text(&onnxsmith(folder.path(), &[&run[..], &["--json"]].concat()));
    let told: serde_json::Value = serde_json::from_str(&told).expect("one JSON object");
    assert_eq!(told["late_faults"]["chaos"]["garbage"], 1, "{told}");
    assert_eq!(told["backends"]["chaos:default"]["pass"], 2, "{told}");
}
