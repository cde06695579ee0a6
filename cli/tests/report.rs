//! `report` and `watch` read what `fuzz` has stored.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn onnxsmith(folder: &Path, args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_onnxsmith");
    Command::new(program).args(args).current_dir(folder).output().expect("the program starts")
}

#[test]
fn a_campaign_is_shown_in_every_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let fuzz = [
        "fuzz",
        "--on",
        "cpu",
        "--cases",
        "8",
        "--ops",
        "Add,Neg,Sign",
        "--jobs",
        "1",
        "--out",
        "out",
        "--quiet",
    ];
    let ran = onnxsmith(at, &fuzz);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));

    let forms =
        ["report", "out", "--html", "page.html", "--markdown", "issues", "--junit", "junit.xml", "--json"];
    let shown = onnxsmith(at, &forms);
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    let json: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("one JSON object");
    assert_eq!(json["cases"], 8);
    assert_eq!(json["groups"], serde_json::json!([]));
    assert_eq!(json["identity"]["targets"][0]["name"], "cpu:default");
    let page = fs::read_to_string(at.join("page.html")).expect("a page");
    assert!(page.contains("Nothing found") && page.ends_with("</html>"), "{page}");
    assert!(fs::read_to_string(at.join("junit.xml")).expect("a file").contains("8 cases ran"));

    let watched = onnxsmith(at, &["watch", "out"]);
    let text = String::from_utf8_lossy(&watched.stdout).into_owned();
    assert!(watched.status.success() && text.contains("8 cases") && text.contains("cpu:default"), "{text}");
}
