//! Models that are text: every command that takes a model takes them, and `show` prints them.

mod program;

use std::fs;
use std::path::Path;

use program::onnxsmith;

fn printed(folder: &Path, args: &[&str]) -> String {
    let output = onnxsmith(folder, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// A branch that a constant decides, so that the program leads somewhere without any inputs.
const BRANCH: &str = r#"<ir_version: 10, opset_import: ["" : 21]>
branch (float[2] x) => (float[2] y) <
  bool c = {1}
> {
  y = If(c) <
    then_branch = positive () => (float[2] a) {
      a = Relu(x)
    },
    else_branch = negative () => (float[2] n) {
      n = Neg(x)
    }
  >
}
"#;

#[test]
fn a_model_that_is_text_is_a_model_like_any_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("branch.onnxtxt"), BRANCH).expect("a file");
    assert_eq!(printed(at, &["show", "branch.onnxtxt"]), BRANCH, "a model says less than the program");
    let model = printed(at, &["show", "branch.onnxtxt", "--as", "model"]);
    assert!(model.contains("Relu(%0)") && !model.contains("Neg"), "{model}");
    assert!(printed(at, &["show", "branch.onnxtxt", "--as", "dot"]).starts_with("digraph"));
    let run: serde_json::Value =
        serde_json::from_str(&printed(at, &["run", ".", "--on", "cpu", "--json"])).expect("one JSON object");
    assert_eq!((&run["cases"], &run["backends"]["cpu:default"]["pass"]), (&1.into(), &1.into()), "{run}");

    printed(at, &["show", "branch.onnxtxt", "--out", "case"]);
    assert!(at.join("case/model.onnx").is_file());
    assert_eq!(printed(at, &["show", "case", "--as", "program"]), BRANCH);
}

#[test]
fn a_flat_model_is_shown_flat_unless_the_program_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let flat =
        "<ir_version: 10, opset_import: [\"\" : 21]>\nflat (float[2] x) => (float[2] y) {\n  y = Abs(x)\n}\n";
    fs::write(folder.path().join("flat.onnxtxt"), flat).expect("a file");
    let shown = printed(folder.path(), &["show", "flat.onnxtxt"]);
    assert!(shown.starts_with("onnxsmith 1 opset 21\n") && shown.contains("Abs(%0)"), "{shown}");
    assert_eq!(printed(folder.path(), &["show", "flat.onnxtxt", "--as", "program"]), flat);
}

#[test]
fn a_model_whose_sizes_nobody_said_is_shown_as_it_is_written_or_with_some_that_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let open =
        "<ir_version: 10, opset_import: [\"\" : 21]>\nopen (float[N] x) => (float[N] y) {\n  y = Abs(x)\n}\n";
    fs::write(folder.path().join("open.onnxtxt"), open).expect("a file");
    assert_eq!(printed(folder.path(), &["show", "open.onnxtxt"]), open);
    let output = onnxsmith(folder.path(), &["show", "open.onnxtxt", "--as", "model"]);
    let [shown, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("a text"));
    assert!(shown.contains("Abs(%0)") && said.contains("sizes drawn: N="), "{shown}{said}");
}

#[test]
fn a_text_that_is_no_model_is_pointed_at() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("wrong.onnxtxt"), BRANCH.replace("Relu(x)", "Relu x")).expect("a file");
    fs::write(folder.path().join("bytes.onnxtxt"), [0xff]).expect("a file");
    let rows = [("wrong.onnxtxt", "line 7, column 16: expected `(`, found `x`"), ("bytes.onnxtxt", "utf-8")];
    for (file, wanted) in rows {
        let output = onnxsmith(folder.path(), &["show", file]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2));
        assert!(said.contains(wanted) && said.contains(file), "{said}");
    }
}
