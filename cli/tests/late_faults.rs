//! Processes that die of what an earlier case left behind, or after their last one.
#![cfg(unix)]

mod program;

use std::process::Output;

use program::onnxsmith;

/// Our CPU kernels, which answer each case twice: the next one finds the process unusable.
const TWICE: &str = concat!("cmd:'", env!("CARGO_BIN_EXE_onnxsmith"), "' worker chaos twice=100");

/// The version that the engine tells: ours.
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_dies_after_its_answer_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = ["gen", "--ops", "Softmax", "--nodes", "1", "--count", "2", "--out", "cases"];
    assert!(onnxsmith(folder.path(), &made).status.success());
    let run = ["run", "cases", "--on", TWICE, "--jobs", "1", "--quiet"];
    let output = onnxsmith(folder.path(), &run);
    let told = text(&output);
    assert!(told.contains("chaos: 1 × garbage that no case has in a fresh process"), "{told}");
    let last: Vec<&str> = told.lines().rev().take(3).collect();
    assert_eq!((output.status.code(), last[2]), (Some(1), "chaos | after other cases | garbage"), "{told}");
    assert!(last[1].contains("met at cases/case-000001") && last[0].contains("--jobs 1"), "{told}");
    let told = text(&onnxsmith(folder.path(), &[&run[..], &["--json"]].concat()));
    let told: serde_json::Value = serde_json::from_str(&told).expect("one JSON object");
    assert_eq!(told["late_faults"]["chaos"]["garbage"], 1, "{told}");
    assert_eq!(told["late_cases"]["chaos"], serde_json::json!(["cases/case-000001"]), "{told}");
    assert_eq!(told["backends"]["chaos:default"]["pass"], 2, "{told}");
}

#[test]
fn a_campaign_in_which_a_process_dies_of_other_cases_fails_unless_that_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    // Trying operators takes longer than the test.
    let support = format!(
        "format = 1\nname = \"chaos\"\nengine = \"chaos\"\nversion = \"{VERSION}\"\naccuracy = \"tight\"\nopset = 21\n\
                           dtypes = [\"f32\"]\nfunctions = true\n"
    );
    std::fs::write(folder.path().join("chaos.toml"), support).expect("a file");
    let fuzz = |out: &str, more: &[&str]| {
        let args =
            ["fuzz", "--on", TWICE, "--ops", "Relu", "--dtypes", "f32", "--nodes", "1", "--cases", "4"];
        let output = onnxsmith(
            folder.path(),
            &[&args[..], &["--probed", "chaos.toml", "--jobs", "1", "--quiet", "--out", out], more].concat(),
        );
        (output.status.code(), text(&output))
    };
    let (code, told) = fuzz("first", &["--junit", "junit.xml"]);
    assert!(code == Some(1) && told.contains("findings: 0"), "{code:?} {told}");
    let last: Vec<&str> = told.lines().rev().take(3).collect();
    assert_eq!(last[2], "chaos | after other cases | garbage", "{told}");
    assert!(last[1].contains("met at case ") && last[0].contains("--jobs 1 --cases "), "{told}");
    let junit = std::fs::read_to_string(folder.path().join("junit.xml")).expect("a report");
    assert!(
        junit.contains("failures=\"1\"") && junit.contains("chaos | after other cases | garbage"),
        "{junit}"
    );

    let list =
        "[[known]]\nsignature = 'chaos | after other cases | *'\nfinding = 'mine'\nexpires = '2099-01-01'\n";
    std::fs::write(folder.path().join("known.toml"), list).expect("a list");
    let (code, told) = fuzz("second", &["--known", "known.toml", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told).expect("one JSON object");
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(told["late_known"]["chaos | after other cases | garbage"], "mine", "{told}");
    assert_eq!(told["known_unseen"], serde_json::json!([]), "{told}");
    assert!(told["late_cases"]["chaos"].as_array().is_some_and(|cases| !cases.is_empty()), "{told}");
}
