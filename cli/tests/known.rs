//! `known accept` writes what a campaign has found to a list, and a campaign with that list finds nothing new.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A campaign that finds something.
const FUZZ: &[&str] = &[
    "fuzz",
    "--on",
    "rten:all",
    "--ops",
    "Sign,Relu,Add",
    "--dtypes",
    "f32",
    "--nodes",
    "2",
    "--cases",
    "80",
];

fn onnxsmith(folder: &Path, args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_onnxsmith");
    let quiet = Command::new(program).args(args).arg("--quiet").current_dir(folder).output();
    quiet.expect("the program starts")
}

#[test]
fn what_was_accepted_is_known_and_what_stood_in_the_list_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let found = onnxsmith(at, &[FUZZ, &["--out", "first"]].concat());
    assert_eq!(found.status.code(), Some(1), "{}", String::from_utf8_lossy(&found.stderr));

    let nothing = onnxsmith(at, &["known", "accept", "first", "--only", "rten | Relu *"]);
    let said = String::from_utf8_lossy(&nothing.stderr).into_owned();
    assert!(nothing.status.code() == Some(2) && said.contains("rten | Relu *"), "{said}");
    assert!(!at.join("known.toml").exists());

    let mine =
        "# Mine.\n\n[[known]]\nsignature = 'rten | Relu *'\nfinding = 'here'\nexpires = '2099-01-01'\n";
    fs::write(at.join("known.toml"), mine).expect("a list");
    let accepted = onnxsmith(at, &["known", "accept", "first", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&accepted.stdout).expect("one JSON object");
    assert_eq!(json["accepted"], serde_json::json!(["rten | Sign f32 dense | mismatch gross"]));
    let list = fs::read_to_string(at.join("known.toml")).expect("a list");
    assert!(list.starts_with(mine) && list.contains("versions = '="), "{list}");

    let known = onnxsmith(at, &[FUZZ, &["--out", "second", "--known", "known.toml"]].concat());
    assert_eq!(known.status.code(), Some(0), "{}", String::from_utf8_lossy(&known.stdout));
    let again = onnxsmith(at, &["known", "accept", "second", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&again.stdout).expect("one JSON object");
    assert_eq!(json["accepted"], serde_json::json!([]));
}
