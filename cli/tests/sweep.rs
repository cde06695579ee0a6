//! `sweep`: rows as documented, a folder that goes on and is compared, and adapters by name.

mod program;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

fn sweep(folder: &Path, args: &[&str]) -> Output {
    program::onnxsmith(folder, &[&["sweep", "--quiet"], args].concat())
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let output = sweep(folder, &[args, &["--json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    object(&output)
}

fn object(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

const SMALL: &[&str] =
    &["--on", "cpu", "--ops", "Neg,Add", "--dtypes", "i8,f16", "--forms", "unary,constants"];

#[test]
fn rows_are_as_documented_and_do_not_depend_on_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = json(folder.path(), &[SMALL, &["--jobs", "1"]].concat());
    let rows = one["rows"].as_array().expect("rows");
    // Neg and Add on two dtypes; of Add only the form `constants` is asked for.
    assert_eq!(rows.len(), 4);
    let neg = rows.iter().find(|row| row["op"] == "Neg" && row["dtype"] == "f16").expect("Neg on f16");
    assert_eq!(neg["backend"], "cpu");
    assert_eq!(neg["forms"]["unary"]["elements"], 65_536);
    for key in ["elements", "max_ulp", "p99_ulp", "beyond_spec", "beyond_tight"] {
        assert!(neg[key].is_number(), "{key}: {neg}");
    }
    let identity = &one["identity"];
    assert_eq!(identity["targets"][0]["name"], "cpu");
    assert!(["version", "profile"].iter().all(|key| identity["targets"][0][key].is_string()), "{identity}");
    for key in ["seed", "opset", "samples", "cases"] {
        assert!(identity["scope"][key].is_number(), "{key}: {identity}");
    }
    assert_eq!(one["parts"]["done"], one["parts"]["of"], "{one}");
    assert_eq!(one["rows"], json(folder.path(), &[SMALL, &["--jobs", "3"]].concat())["rows"]);
}

#[test]
fn a_folder_has_the_page_goes_on_and_is_compared_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let first = json(at, &[SMALL, &["--out", "sweep"]].concat());
    let page = std::fs::read_to_string(at.join("sweep/index.html")).expect("a page");
    assert!(
        page.contains("Neg") && !page.contains("<script") && !page.contains("http"),
        "it needs nothing else"
    );
    let again = sweep(at, &[SMALL, &["--out", "sweep"]].concat());
    assert_eq!(again.status.code(), Some(2), "a sweep is not overwritten");
    let resumed = json(at, &[SMALL, &["--out", "sweep", "--resume"]].concat());
    assert_eq!(first["rows"], resumed["rows"]);
    let other = sweep(at, &["--on", "cpu", "--ops", "Neg", "--out", "sweep", "--resume"]);
    assert_eq!(other.status.code(), Some(2), "it is another sweep");
    let said = String::from_utf8_lossy(&other.stderr);
    assert!(said.contains("--ops: only there Add; only here nothing\n"), "{said}");
    assert!(
        said.contains("--dtypes: only there nothing; only here bf16") && !said.contains("--seed"),
        "{said}"
    );
    let compared = json(at, &[SMALL, &["--against", "sweep"]].concat());
    assert_eq!(compared["worse"], serde_json::json!([]));
    let none = serde_json::json!({ "settings": [], "rows": [], "only_now": [], "only_before": [] });
    assert_eq!(compared["not_comparable"], none);
    assert_eq!(compared["compared"], serde_json::json!({ "rows": 4, "of": 4 }));
    let csv = sweep(at, &[SMALL, &["--csv"]].concat());
    let csv = String::from_utf8(csv.stdout).expect("text");
    assert!(
        csv.starts_with("op,dtype,form,backend,elements,") && csv.contains("\nNeg,i8,unary,cpu,256,"),
        "{csv}"
    );
}

#[test]
fn a_folder_with_something_else_in_it_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = folder.path().join("site");
    std::fs::create_dir(&site).expect("a folder");
    std::fs::write(site.join("index.html"), "theirs").expect("a file");
    for more in [&[][..], &["--resume"]] {
        let output = sweep(folder.path(), &[SMALL, &["--out", "site"], more].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let told =
            "site holds no sweep, and is not empty (index.html is in it); --out takes a new or empty folder";
        assert!(said.contains(told), "{said}");
    }
    assert_eq!(std::fs::read_dir(&site).expect("the folder").count(), 1);
    assert_eq!(std::fs::read_to_string(site.join("index.html")).ok().as_deref(), Some("theirs"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_says_how_many_parts_have_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let args = [
        "sweep",
        "--quiet",
        "--json",
        "--jobs",
        "1",
        "--on",
        "cpu",
        "--ops",
        "Neg,Abs,Tanh",
        "--dtypes",
        "f32",
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_onnxsmith"));
    command.args(args).args(["--samples", "full", "--out", "sweep"]).current_dir(at);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    // The first line says what the sweep is.
    let lines =
        || std::fs::read_to_string(at.join("sweep/parts.jsonl")).map_or(0, |text| text.lines().count());
    while lines() < 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let parts = object(&output)["parts"].clone();
    let [done, of] = [&parts["done"], &parts["of"]].map(|count| count.as_u64().expect("a count"));
    assert!(0 < done && done < of, "{parts}");
    let page = std::fs::read_to_string(at.join("sweep/index.html")).expect("a page");
    assert!(page.contains(&format!("<h1>Stopped after {done} of {of} parts. So far: ")), "{page}");
    let stored = std::fs::read(at.join("sweep/sweep.json")).expect("a file");
    let stored: Value = serde_json::from_slice(&stored).expect("JSON");
    assert_eq!(stored["parts"], parts);
}

#[test]
fn nothing_is_said_to_be_no_worse_where_nothing_is_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    json(at, &[SMALL, &["--out", "sweep"]].concat());
    let other = sweep(at, &[SMALL, &["--samples", "1024", "--against", "sweep", "--json"]].concat());
    assert_eq!(other.status.code(), Some(2));
    assert_eq!(object(&other)["not_comparable"]["settings"][0]["flag"], "--samples");
    let operators = ["--on", "cpu", "--dtypes", "i8,f16", "--forms", "unary,constants", "--against", "sweep"];
    let others = sweep(at, &[&operators[..], &["--ops", "Abs"]].concat());
    assert_eq!(others.status.code(), Some(2));
    let said = String::from_utf8_lossy(&others.stdout);
    assert!(said.contains("0 of 2 rows compared") && !said.contains("worse"), "{said}");
    assert!(said.contains("2 rows are not in the earlier sweep: Abs i8 on cpu, Abs f16 on cpu"), "{said}");
    let spread = sweep(at, &[&operators[..], &["--ops", "Abs", "--csv"]].concat());
    let said = String::from_utf8_lossy(&spread.stderr);
    assert!(said.contains("0 of 2 rows compared") && spread.stdout.starts_with(b"op,dtype,"), "{said}");
    let some = sweep(at, &[&operators[..], &["--ops", "Abs,Neg"]].concat());
    assert_eq!(some.status.code(), Some(0));
    let said = String::from_utf8_lossy(&some.stdout);
    assert!(said.contains("nothing is worse than before\n2 of 4 rows compared\n"), "{said}");
}

#[test]
fn a_sweep_in_which_nothing_can_run_has_not_done_what_was_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = ["--on", "rten:none", "--ops", "Exp", "--forms", "unary", "--samples", "1000"];
    let output = sweep(folder.path(), &[&one[..], &["--dtypes", "f64"]].concat());
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{stdout}{stderr}");
    assert!(stdout.contains("rten:none lacks on f64: Exp"), "{stdout}");
    assert!(stderr.contains("nothing was swept"), "{stderr}");
    let output = sweep(folder.path(), &[&one[..], &["--dtypes", "f64,f32"]].concat());
    assert_eq!(output.status.code(), Some(0), "what is lacking beside answers is no failure");
}

#[test]
fn what_is_not_there_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for (args, said) in [
        (["--on", "cpu", "--ops", "LSTM"], "`LSTM` is written out in other operators"),
        (["--on", "cpu", "--ops", "MelWeightMatrix"], "a sweep has none such"),
        (["--on", "cpu", "--forms", "unray"], "there are unary, pairs"),
        (["--on", "cpu", "--ops", "Nge"], "Nge"),
        (["--on", "wgpu@no such adapter", "--ops", "Neg"], "no such adapter"),
        (["--on", "cpu@0", "--ops", "Neg"], "cpu@0"),
        (["--on", "wgpu@", "--ops", "Neg"], "its position or a part of its name is missing"),
    ] {
        let output = sweep(folder.path(), &args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
}

#[test]
fn why_there_is_nothing_to_sweep_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    for (args, said) in [
        (
            ["--ops", "Gelu", "--opset", "13"],
            "none of the operators is in opset 13: Gelu comes with opset 20",
        ),
        (["--ops", "Exp", "--exclude", "Exp"], "no operator is left: --exclude names all"),
        (["--ops", "Exp", "--forms", "pairs"], "has in opset 28 one of the dtypes in one of the forms"),
    ] {
        let output = sweep(folder.path(), &[&["--on", "cpu"], &args[..]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
}

/// Passes where there is no GPU adapter.
#[test]
fn one_adapter_by_two_names_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let swept = |on: &str| {
        let args = ["sweep", "--on", on, "--ops", "Neg", "--dtypes", "i8", "--forms", "unary"];
        program::onnxsmith(folder.path(), &args)
    };
    let alone = swept("cpu,wgpu@0,wgpu@0:builtins");
    let stderr = String::from_utf8_lossy(&alone.stderr);
    if stderr.contains("no GPU adapter") {
        eprintln!("not run: {stderr}");
        return;
    }
    assert!(!stderr.contains("compared with itself"), "{stderr}");
    let adapter = String::from_utf8(swept("wgpu@nothing is called so").stderr).expect("text");
    let adapter = adapter.split_once("wgpu@0: ").and_then(|(_, rest)| rest.split([' ', ',']).next());
    let by_name = format!("wgpu@0,wgpu@{}", adapter.expect("a name"));
    let stderr = String::from_utf8(swept(&by_name).stderr).expect("text");
    assert!(stderr.contains("compared with itself"), "{by_name}: {stderr}");
}

#[test]
fn a_row_of_fewer_elements_than_another_backend_has_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    // rten casts to few dtypes.
    let args =
        ["--on", "cpu,rten:none", "--ops", "Cast", "--dtypes", "f32", "--forms", "unary", "--samples", "64"];
    let output = sweep(folder.path(), &[&args[..], &["--json"]].concat());
    let rows = object(&output)["rows"].clone();
    let elements = |i: usize| rows[i]["elements"].as_u64().expect("a count");
    assert!(0 < elements(1) && elements(1) < elements(0), "{rows}");
    assert!((0..2).all(|i| rows[i]["most"] == elements(0)), "{rows}");
    let output = sweep(folder.path(), &args);
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains(&format!("{} of {}", elements(1), elements(0))), "{table}");
    assert!(table.contains("1 row has fewer elements than another backend has"), "{table}");
}

#[test]
fn operators_are_swept_on_operands_that_broadcast() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["--on", "cpu", "--ops", "Add,Mod,BitShift,Where,PRelu,Exp", "--forms", "broadcast"];
    let swept = json(folder.path(), &[&args[..], &["--dtypes", "f32,u8"]].concat());
    let rows = swept["rows"].as_array().expect("rows");
    let of: Vec<String> =
        rows.iter().map(|row| format!("{} {}", row["op"], row["dtype"]).replace('"', "")).collect();
    let wanted =
        ["Add u8", "Add f32", "Mod u8", "Mod f32", "BitShift u8", "PRelu f32", "Where u8", "Where f32"];
    assert_eq!(of, wanted);
    assert!(rows.iter().all(|row| row["forms"]["broadcast"]["elements"].as_u64() > Some(100)), "{swept}");
}
