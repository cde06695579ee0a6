//! `onnxsmith reduce`: what it writes, says and refuses.

mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use program::onnxsmith;

fn json(output: &Output) -> serde_json::Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("one JSON object: {e}; {said}"))
}

/// A finding of rten that does not depend on its version, in a folder of its own.
fn finding(name: &str) -> (tempfile::TempDir, PathBuf) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/rten-0.27").join(name);
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join(name);
    fs::create_dir(&to).expect("a folder");
    fs::copy(from.join("finding.toml"), to.join("finding.toml")).expect("a finding that is text");
    (folder, to)
}

#[test]
fn a_finding_keeps_its_signature_and_replays() {
    let (folder, _) = finding("softplus-large");
    let output = onnxsmith(folder.path(), &["reduce", "softplus-large", "--on", "rten", "--json", "--quiet"]);
    assert_eq!(output.status.code(), Some(0));
    let report = json(&output);
    assert_eq!(report["out"], "softplus-large-reduced");
    assert_eq!(report["signature"], "rten | Softplus f32 dense | mismatch infinite");
    for (before, after) in [("nodes_before", "nodes_after"), ("elements_before", "elements_after")] {
        assert!(
            report[after].as_u64().is_some_and(|after| Some(after) <= report[before].as_u64()),
            "{report}"
        );
    }
    let output = onnxsmith(folder.path(), &["run", "softplus-large-reduced", "--on", "rten:all", "--json"]);
    assert_eq!(json(&output)["backends"]["rten:all"]["mismatch"], 1);
    // A result is a case like any other.
    let output = onnxsmith(
        folder.path(),
        &["reduce", "softplus-large-reduced", "--on", "rten", "--tries", "0", "--out", "again"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path().join("again/case.json").is_file());
}

/// A model of its own, wrong on large values alone, and such a value as NumPy saves it.
fn large_softplus() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let model =
        "<ir_version: 8, opset_import: [\"\" : 17]>\nm (float[n] x) => (float[n] y) { y = Softplus(x) }\n";
    fs::write(folder.path().join("m.onnxtxt"), model).expect("a model");
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n";
    let length = (header.len() as u16).to_le_bytes();
    let array = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &100f32.to_le_bytes()].concat();
    fs::write(folder.path().join("x.npy"), array).expect("a value");
    folder
}

#[test]
fn the_values_on_which_a_model_is_wrong_are_given_as_to_run() {
    let folder = large_softplus();
    let args = ["reduce", "m.onnxtxt", "--on", "rten", "--input", "x=x.npy", "--json", "--quiet"];
    let output = onnxsmith(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(json(&output)["signature"], "rten | Softplus f32 dense | mismatch infinite");
    let output =
        onnxsmith(folder.path(), &["reduce", "m.onnxtxt", "--on", "rten", "--dim", "m=3", "--quiet"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("no open size `m`"), "{said}");
}

/// A case that comes with data, on which nothing is wrong.
#[test]
fn a_value_takes_the_place_of_a_cases_own_in_every_command() {
    let folder = large_softplus();
    let ran = |command: &str, more: &[&str]| {
        let args = [&[command, "case"][..], more, &["--quiet"]].concat();
        let output = onnxsmith(folder.path(), &args);
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let made = onnxsmith(folder.path(), &["show", "m.onnxtxt", "--dim", "n=1", "--out", "case", "--quiet"]);
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    let given = |name: &'static str| ["--on", "rten:none", "--input", name];
    assert_eq!(ran("run", &given("x=x.npy")[..2]).0, Some(0));
    for command in ["run", "blame"] {
        let (code, said) = ran(command, &given("x=x.npy"));
        assert_eq!(code, Some(1), "{command}: {said}");
    }
    assert_eq!(ran("reduce", &given("x=x.npy")).0, Some(0));
    assert_eq!(ran("show", &["--input", "x=x.npy", "--out", "other"]).0, Some(0));
    let other = onnxsmith(folder.path(), &["run", "other", "--on", "rten:none", "--quiet"]);
    assert_eq!(other.status.code(), Some(1), "what is given is in the case that is written");
    for command in ["run", "blame", "reduce", "show"] {
        let on = if command == "show" { 2 } else { 0 };
        for (more, told) in [
            (given("nosuch=x.npy"), "no input `nosuch`; it has: x"),
            (["--on", "rten:none", "--dim", "n=1"], "the case has its own data"),
        ] {
            let (code, said) = ran(command, &more[on..]);
            assert!(
                code == Some(2) && said.contains(told) && !said.contains("cannot be used:"),
                "{command}: {said}"
            );
        }
    }
}

#[test]
fn where_nothing_is_wrong_it_says_what_to_give() {
    let folder = large_softplus();
    let said = |case: &str| {
        let output = onnxsmith(folder.path(), &["reduce", case, "--on", "cpu", "--quiet"]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said("m.onnxtxt").contains("--input NAME=FILE and --dim NAME=N"), "{}", said("m.onnxtxt"));
    let shown = ["show", "m.onnxtxt", "--input", "x=x.npy", "--out", "case", "--quiet"];
    assert_eq!(onnxsmith(folder.path(), &shown).status.code(), Some(0));
    assert!(folder.path().join("case/test_data_set_0/input_0.pb").is_file(), "what is given is in the case");
    assert!(said("case").contains("--on names the backend"), "{}", said("case"));
}

#[test]
fn a_finding_that_is_written_up_is_a_case_like_any_other() {
    let (folder, case) = finding("sign-zero");
    let run = |case: &str| {
        let output = onnxsmith(folder.path(), &["run", case, "--on", "rten:none,cpu", "--json", "--quiet"]);
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        json(&output)
    };
    let written_up = run(".");
    assert_eq!(written_up["cases"], 1);
    assert_eq!(written_up["backends"]["rten:none"]["mismatch"], 1);
    assert_eq!(written_up["backends"]["cpu:default"]["pass"], 1);

    let text = |case: &str| onnxsmith(folder.path(), &["show", case]).stdout;
    assert!(String::from_utf8_lossy(&text("sign-zero")).contains("= Sign(%0)"));
    let output = onnxsmith(folder.path(), &["show", "sign-zero", "--out", "onnx", "--json"]);
    assert_eq!(json(&output)["out"], "onnx");
    assert!(folder.path().join("onnx/test_data_set_0/output_0.pb").is_file());
    assert_eq!(text("onnx"), text("sign-zero"));
    assert_eq!(run("onnx")["backends"], written_up["backends"]);

    fs::write(case.join("finding.toml"), "says = '1'\nwhat = '0'\n").expect("a file");
    let output = onnxsmith(folder.path(), &["show", "sign-zero"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("finding.toml:2: unknown field `what`"), "{said}");
}

#[test]
fn what_shows_nothing_is_refused_and_named() {
    let (folder, case) = finding("softplus-large");
    fs::write(folder.path().join("notes"), "keep").expect("a file");
    let rows: &[(&[&str], &[&str])] = &[
        (&["reduce", "softplus-large"], &["--on"]),
        (
            &["reduce", "softplus-large", "--on", "interp"],
            &["no finding", "interp:reference", "outputs are right"],
        ),
        (&["reduce", "missing", "--on", "interp"], &["missing", "No such file"]),
        (&["reduce", "softplus-large", "--on", "nope"], &["`nope`"]),
        (&["reduce", "softplus-large", "--on", "rten", "--out", "notes"], &["notes", "not a case folder"]),
        (&["reduce", "softplus-large", "--on", "rten", "--budget", "x"], &["--budget", "10m"]),
    ];
    for (args, wanted) in rows {
        let output = onnxsmith(folder.path(), args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(wanted.iter().all(|part| said.contains(part)), "{args:?}: {said}");
        assert!(output.stdout.is_empty(), "{args:?} prints on standard output");
    }
    assert!(!case.with_file_name("softplus-large-reduced").exists());
}

#[test]
fn a_folder_with_more_than_a_case_in_it_is_left_as_it_is() {
    let folder = large_softplus();
    let at = |name: &str| folder.path().join(name);
    for project in ["project", "m-reduced"] {
        fs::create_dir_all(at(project).join("src")).expect("a folder");
        fs::write(at(project).join("model.onnx"), "theirs").expect("a file");
        fs::write(at(project).join("src/main.py"), "theirs").expect("a file");
    }
    // It is refused before anything is looked for: there is no such engine.
    for (args, project) in [
        (&["reduce", "m.onnxtxt", "--on", "nope"][..], "m-reduced"),
        (&["reduce", "m.onnxtxt", "--on", "nope", "--out", "project"], "project"),
        (&["show", "m.onnxtxt", "--out", "project"], "project"),
    ] {
        let output = onnxsmith(folder.path(), args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        for part in [project, "it holds src, which is not of a case", "--out takes a new folder"] {
            assert!(said.contains(part), "{args:?}: {said}");
        }
        for file in ["model.onnx", "src/main.py"] {
            assert_eq!(
                fs::read_to_string(at(project).join(file)).ok().as_deref(),
                Some("theirs"),
                "{args:?}"
            );
        }
    }
}

#[test]
fn killed_it_leaves_a_whole_case() {
    let (folder, case) = finding("softplus-large");
    let mut child = Command::new(env!("CARGO_BIN_EXE_onnxsmith"))
        .args(["reduce", "softplus-large", "--on", "rten", "--quiet"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let out = case.with_file_name("softplus-large-reduced");
    while !out.exists() && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("it ends, one way or the other");
    child.wait().expect("a child");
    let output = onnxsmith(folder.path(), &["run", "softplus-large-reduced", "--on", "rten:all", "--json"]);
    assert_eq!(json(&output)["backends"]["rten:all"]["mismatch"], 1);
}

#[cfg(unix)]
#[test]
fn interrupted_it_says_what_it_has() {
    let (folder, case) = finding("softplus-large");
    let mut child = Command::new(env!("CARGO_BIN_EXE_onnxsmith"))
        .args(["reduce", "softplus-large", "--on", "rten", "--jobs", "1", "--json", "--quiet"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let out = case.with_file_name("softplus-large-reduced");
    while !out.exists() && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.expect("kill is there").success());
    let output = child.wait_with_output().expect("a child");
    let report = json(&output);
    let wanted = if report["minimal"] == true { 0 } else { 130 };
    assert_eq!(output.status.code(), Some(wanted), "{report}");
}

#[test]
fn numbers_that_are_left_tell_elements_apart_where_they_may() {
    let detail = |name: &str| {
        let (folder, _) = finding(name);
        let output = onnxsmith(folder.path(), &["reduce", name, "--on", "rten", "--json", "--quiet"]);
        json(&output)["detail"].as_str().expect("a text").to_owned()
    };
    // [1, 2, 3] is reflected beyond its end.
    assert!(detail("pad-reflect-beyond").ends_with("element 5: 3.0 where 2.0 ± 0e0 is right"));
    // What is wrong of zeros alone stays.
    assert!(detail("sign-zero").ends_with("element 0: 1.0 where 0.0 ± 0e0 is right"));
}
