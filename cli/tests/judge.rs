//! `scripts/judge.py`, the judge for other tools, agrees with `onnxsmith run`, and finds an output that is off. It takes Python
//! with numpy and onnx (scripts/python-env makes it); without, the test passes and says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use onnx::CaseFolder;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A Python that can run the script.
fn python() -> Option<PathBuf> {
    let can = |python: &PathBuf| {
        let asked = Command::new(python).args(["-c", "import numpy, onnx"]).output();
        asked.is_ok_and(|output| output.status.success())
    };
    [root().join(".venv/bin/python"), "python3".into()].into_iter().find(can)
}

fn judge(python: &Path, folder: &Path) -> (Option<i32>, String) {
    let mut command = Command::new(python);
    command.arg(root().join("scripts/judge.py")).args(["cases", "outputs"]).current_dir(folder);
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    (status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

/// Runs the program in a folder, where nothing may go wrong.
fn onnxsmith(at: &Path, args: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onnxsmith"));
    let output = command.args(args).arg("--quiet").current_dir(at).output().expect("the program starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn cases_of_one_name_in_several_folders_are_told_apart() {
    let Some(python) = python() else {
        eprintln!("skipped: there is no Python with numpy and onnx");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (seed, out) in [("1", "cases/a"), ("2", "cases/b"), ("3", "cases/deeper/b")] {
        onnxsmith(at, &["gen", "--count", "2", "--nodes", "2", "--seed", seed, "--out", out]);
    }
    onnxsmith(at, &["run", "cases", "--on", "interp", "--out", "outputs"]);
    assert!(at.join("outputs/deeper/b/case-000000").is_dir(), "a path that is told by more than one folder");
    let (code, said) = judge(&python, at);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("not run") && said.contains("deeper/b/case-000001 interp-reference "), "{said}");
}

#[test]
fn a_judge_with_numpy_alone_finds_one_element_that_is_off() {
    let Some(python) = python() else {
        eprintln!("skipped: there is no Python with numpy and onnx");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let gen_ =
        ["gen", "--count", "40", "--nodes", "5", "--profile", "tight", "--seed", "3", "--out", "cases"];
    for args in [&gen_[..], &["run", "cases", "--on", "interp", "--out", "outputs"]] {
        onnxsmith(at, args);
    }
    let (code, said) = judge(&python, at);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(" pass") && !said.contains("mismatch"), "{said}");

    let mut changed = 0;
    for number in 0..40 {
        let name = format!("case-{number:06}");
        let case = CaseFolder::read(&at.join("cases").join(&name)).expect("a case");
        let set = &case.sets[0];
        let masks = set.leeways.iter().map(|leeway| leeway.mask.tensor().expect("a tensor").to_i128s());
        let Some((i, element)) =
            masks.enumerate().find_map(|(i, mask)| Some((i, mask.iter().position(|&m| m == 0)?)))
        else {
            continue;
        };
        // The largest change that can hide in a tolerance: one bit of one element, if its bound is 0.
        let output = set.outputs[i].datum.tensor().expect("a tensor");
        let bound = set.leeways[i].bound.tensor().expect("a tensor").to_f64s()[element];
        if bound > 0.0 || output.to_f64s()[element].is_nan() {
            continue;
        }
        let (ty, mut bytes) = (output.ty(), output.to_bytes());
        bytes[element * ty.dtype.whole_bytes()] ^= 1;
        let off = ir::Tensor::from_bytes(&ty, &bytes).expect("as many bytes");
        let file = at.join("outputs").join(&name).join(format!("interp-reference/output_{i}.pb"));
        fs::write(&file, onnx::tensor::encode(&set.outputs[i].name, &off)).expect("it is written");
        changed += 1;
    }
    let (code, said) = judge(&python, at);
    assert_eq!(code, Some(1), "{said}");
    let found = said.lines().filter(|line| line.contains("mismatch: 1 of")).count();
    assert!(changed > 10 && found == changed, "{found} of {changed}: {said}");

    fs::remove_dir_all(at.join("outputs")).expect("the folder");
    assert_eq!(judge(&python, at).0, Some(2), "nothing was judged");
}
