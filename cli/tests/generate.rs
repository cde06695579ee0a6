//! What `onnxsmith gen` writes depends on the seed and the settings alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A folder that is removed with its content in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // What a test that was killed has left.
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The files that a run of `gen` writes, by their path in the folder.
fn generated(name: &str, seed: u64, jobs: u32) -> BTreeMap<PathBuf, Vec<u8>> {
    let out = Scratch::new(name);
    let status = Command::new(env!("CARGO_BIN_EXE_onnxsmith"))
        .args(["gen", "--quiet", "--count", "40", "--nodes", "6"])
        .args(["--seed", &seed.to_string(), "--jobs", &jobs.to_string(), "--out"])
        .arg(&out.0)
        .status()
        .unwrap();
    assert!(status.success());
    let mut files = BTreeMap::new();
    collect(&out.0, &out.0, &mut files);
    files
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            files.insert(path.strip_prefix(root).unwrap().to_owned(), std::fs::read(&path).unwrap());
        }
    }
}

#[test]
fn same_seed_same_bytes() {
    let once = generated("gen-once", 1, 1);
    assert_eq!(once.keys().filter(|path| path.ends_with("model.onnx")).count(), 40);
    for (name, jobs) in [("gen-again", 1), ("gen-two-jobs", 2), ("gen-two-jobs-again", 2)] {
        let other = generated(name, 1, jobs);
        assert!(once.keys().eq(other.keys()), "{name} has other files");
        let differing: Vec<&PathBuf> = once.keys().filter(|path| once[*path] != other[*path]).collect();
        assert!(differing.is_empty(), "{name} differs in {differing:?}");
    }
}

#[test]
fn another_seed_other_models() {
    let [one, two] = [("gen-seed-1", 1), ("gen-seed-2", 2)].map(|(name, seed)| generated(name, seed, 2));
    let models = |files: &BTreeMap<PathBuf, Vec<u8>>| -> Vec<Vec<u8>> {
        files
            .iter()
            .filter(|(path, _)| path.ends_with("model.onnx"))
            .map(|(_, bytes)| bytes.clone())
            .collect()
    };
    let same = models(&one).iter().zip(&models(&two)).filter(|(a, b)| a == b).count();
    assert_eq!(same, 0, "{same} of 40 models are the same");
}

/// What an engine has that lacks Relu, and Cast to i8.
const SUPPORT: &str = r#"
format = 1
engine = "small"
version = "1.0"
accuracy = "tight"
opset = 15
dtypes = ["f32", "i8"]
functions = false

[[lacking]]
operator = "Relu"
where = []

[[lacking]]
operator = "Cast"
where = ["dtype of output 0 is i8"]
"#;

#[test]
fn cases_for_an_engine_keep_within_what_its_file_says() {
    let folder = Scratch::new("gen-for");
    std::fs::create_dir_all(&folder.0).unwrap();
    let generate = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_onnxsmith"))
            .args([
                "gen",
                "--quiet",
                "--json",
                "--count",
                "30",
                "--ops",
                "Relu,Cast,Abs",
                "--for",
                "small.toml",
            ])
            .args(args)
            .current_dir(&folder.0)
            .output()
            .unwrap();
        (output.status.code(), output)
    };
    std::fs::write(folder.0.join("small.toml"), SUPPORT).unwrap();
    let (code, output) = generate(&[]);
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let made: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(made["for"], serde_json::json!({ "engine": "small", "version": "1.0", "accuracy": "tight" }));
    assert!(made["operators"]["Abs"].as_u64() > Some(0) && made["operators"]["Relu"].is_null(), "{made}");
    assert!(made["refused_draws"].as_u64() > Some(0), "Cast to i8 is drawn, and thrown away");

    let says = |args: &[&str], what: &str| {
        let (code, output) = generate(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(code == Some(2) && said.contains(what), "{said}");
    };
    says(&["--opset", "16"], "small loads no opset above 15; --opset asks for 16");
    says(&["--dtypes", "f64"], "small has none of the operators and dtypes that are asked for");
    std::fs::write(folder.0.join("small.toml"), SUPPORT.replace("format = 1", "format = 9")).unwrap();
    says(&[], "small.toml: format 9 is not 1, which this program reads");
    std::fs::write(folder.0.join("small.toml"), SUPPORT.replace("functions", "shapes")).unwrap();
    says(&[], "small.toml:8: unknown field `shapes`");
}

/// What an engine has that lacks If and makes constants of defaults.
const FLAT: &str = r#"
format = 1
engine = "flat"
version = "1.0"
accuracy = "tight"
opset = 21
dtypes = ["f32", "i64", "bool"]
functions = true

[[lacking_forms]]
form = "If"
tried = 6
said = "control flow"
"#;

#[test]
fn forms_that_an_engine_lacks_by_its_file_are_not_written_for_it() {
    let folder = Scratch::new("gen-for-flat");
    std::fs::create_dir_all(&folder.0).unwrap();
    let generate = |support: &str| {
        std::fs::write(folder.0.join("flat.toml"), support).unwrap();
        let args = ["gen", "--quiet", "--json", "--count", "60", "--nodes", "5", "--forms", "1"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_onnxsmith"));
        let output = command.args(args).args(["--for", "flat.toml"]).current_dir(&folder.0).output().unwrap();
        (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let drawn = |support: &str| {
        let (told, said) = generate(support);
        let told: serde_json::Value = serde_json::from_slice(&told).unwrap_or_else(|e| panic!("{e}: {said}"));
        let forms = told["forms"].as_object().expect("counts").keys().cloned();
        forms.collect::<std::collections::BTreeSet<String>>()
    };
    let (before, rest) = FLAT.split_once("[[").unwrap();
    let [lacking, having] = [FLAT, &format!("{before}overrides_defaults = true")].map(drawn);
    let lost: Vec<&str> = having.difference(&lacking).map(String::as_str).collect();
    assert_eq!(lost, ["If", "overridden default"], "{lacking:?}");

    let (_, said) = generate(&format!("{before}[[{}", rest.replace("If", "Ifs")));
    assert!(said.contains("flat.toml:11: there is no form `Ifs`; there are If, Loop, Scan"), "{said}");
}

#[cfg(unix)]
#[test]
fn interrupted_it_says_how_many_cases_are_whole() {
    let out = Scratch::new("gen-interrupted");
    let args = ["gen", "--quiet", "--json", "--count", "1000000", "--jobs", "2", "--out"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_onnxsmith"));
    let mut child =
        command.args(args).arg(&out.0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !out.0.join("case-000002/model.onnx").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let generated = report["generated"].as_u64().unwrap();
    let left = 1_000_000 - generated;
    let told = format!(
        "stopped after {generated} of 1000000 cases; the same flags with --first {generated} --count {left} go on\n"
    );
    assert!(said.ends_with(&told), "{said}");
    assert_eq!(std::fs::read_dir(&out.0).unwrap().count() as u64, generated);
}

/// Runs `gen` in a folder, with what it says.
fn generate(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onnxsmith"));
    let output = command.args(["gen", "--quiet"]).args(args).current_dir(folder).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn what_was_interrupted_goes_on_with_the_cases_that_are_missing() {
    let folder = Scratch::new("gen-first");
    std::fs::create_dir_all(&folder.0).unwrap();
    let flags = ["--nodes", "2", "--seed", "5", "--out"];
    let succeed = |args: &[&str]| assert_eq!(generate(&folder.0, args).0, Some(0), "{args:?}");
    succeed(&[&flags[..], &["whole", "--count", "7"]].concat());
    succeed(&[&flags[..], &["parts", "--count", "4"]].concat());
    succeed(&[&flags[..], &["parts", "--first", "4", "--count", "3"]].concat());
    let [whole, parts] = ["whole", "parts"].map(|name| {
        let (root, mut files) = (folder.0.join(name), BTreeMap::new());
        collect(&root, &root, &mut files);
        files
    });
    assert_eq!(whole, parts);

    let (code, said) = generate(&folder.0, &["--count", "1", "--first", "7", "--out", "parts"]);
    assert!(code == Some(2) && said.contains("holds cases of the seed 5"), "{said}");
    let (code, said) = generate(&folder.0, &["--count", "1", "--out", "parts", "--seed", "5"]);
    assert!(code == Some(2) && said.contains("holds cases already"), "{said}");
}

#[test]
fn no_engine_is_asked_what_it_has_for_flags_that_are_wrong() {
    let folder = Scratch::new("gen-cheap");
    std::fs::create_dir_all(folder.0.join("full/notes")).unwrap();
    for (args, told) in [
        (&["--level", "violate", "--rules", "bogus"][..], "there is no rule `bogus`"),
        (&["--out", "full"], "is not empty"),
        (&["--first", "18446744073709551615"], "no case behind the number"),
    ] {
        let (code, said) = generate(&folder.0, &[args, &["--for", "cmd:touch asked"]].concat());
        assert!(code == Some(2) && said.contains(told), "{said}");
        assert!(!folder.0.join("asked").exists(), "{args:?}: the engine was started");
    }
}
