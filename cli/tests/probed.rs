//! What trying an engine of the user's own tells, and for which engines that holds.
#![cfg(unix)]

mod program;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use program::onnxsmith;

const PROGRAM: &str = env!("CARGO_BIN_EXE_onnxsmith");

/// Our CPU kernels, which misbehave at this rate. It says that it is called `chaos`.
fn chaos(rate: &str) -> String {
    format!("cmd:'{PROGRAM}' worker chaos {rate}")
}

#[test]
fn a_probe_ends_where_nothing_is_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    for (rate, does) in [
        ("garbage=100", "broke the worker protocol: expected a JSON header, got `Segmentation fault"),
        ("exit-with-words=100", "exited with code 3"),
        ("abort=100", "ended by signal 6 (SIGABRT)"),
        ("overflow=100", "overflowed its stack"),
        ("killed=100", "ran out of memory"),
        ("panic=100", "panicked at"),
    ] {
        let output =
            onnxsmith(folder.path(), &["backends", "--probe", &chaos(rate), "--jobs", "1", "--quiet"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("of 20 models it answered none") && said.contains(does), "{said}");
    }
}

/// A runner in `sh`, whose hello says this opset and which does this afterwards. Command lines with commas are several.
fn runner(folder: &Path, opset: &str, then: &str) -> &'static str {
    let fields = r#""engine":"mine","version":"1","levels":["all"],"dtypes":{"f32":"f32"}"#;
    let hello = format!(r#"{{"type":"hello","protocol":1,{fields},"opset":{opset}}}"#);
    fs::write(folder.join("runner.sh"), format!("read request\necho '{hello}'\n{then}\n")).expect("a file");
    "cmd:sh runner.sh"
}

/// Whether its hello says which opsets it loads, or this is to be found out first.
#[test]
fn a_probe_ends_soon_where_everything_hangs() {
    let folder = tempfile::tempdir().expect("a folder");
    for opset in ["null", "20"] {
        let hanging = runner(folder.path(), opset, "exec sleep 600");
        let args = ["fuzz", "--on", hanging, "--time", "5s", "--timeout", "1s", "--jobs", "1", "--quiet"];
        let started = Instant::now();
        let output = onnxsmith(folder.path(), &args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let wanted = "of 5 models it answered none; with the first it did not answer in time; --timeout gives it longer";
        assert!(said.contains(wanted), "{said}");
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    }
}

#[test]
fn an_engine_that_loads_no_opset_that_is_drawn_is_told_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = runner(folder.path(), "5", "cat >&2");
    let output = onnxsmith(folder.path(), &["fuzz", "--on", old, "--cases", "1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let wanted = "loads no opset from 13 on (the newest is 5), and no older one is drawn";
    assert!(said.contains(&format!("{old} {wanted}")), "{said}");
}

#[test]
fn what_was_found_out_of_a_runner_holds_wherever_it_is_started_and_with_other_flags() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let version = env!("CARGO_PKG_VERSION");
    let known = format!(
        "format = 1\nengine = \"{}\"\nname = \"chaos\"\nversion = \"{version}\"\naccuracy = \"tight\"\n\
         dtypes = [\"f32\"]\nfunctions = true\n",
        chaos("lack=0")
    );
    fs::write(at.join("chaos.toml"), &known).expect("a file");
    let fuzz = |on: &str, file: &str| {
        let args = ["fuzz", "--on", on, "--ops", "Sign", "--dtypes", "f32", "--cases", "2", "--probed", file];
        let output = onnxsmith(at, &args);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let elsewhere = format!("cmd:env ELSEWHERE=1 '{PROGRAM}' worker chaos exit=0");
    for on in [chaos("lack=0"), elsewhere.clone(), format!("{},{elsewhere}", chaos("lack=0"))] {
        let (code, said) = fuzz(&on, "chaos.toml");
        assert!(code == Some(0) && !said.contains("trying each operator"), "{on}: {said}");
    }
    let (code, said) = fuzz("cpu", "chaos.toml");
    let why =
        "chaos.toml tells of chaos, and the campaign is on cpu; `onnxsmith backends --probe cpu --out FILE`";
    assert!(code == Some(2) && said.contains(why), "{said}");

    let [this, old] = [version, "0.0"].map(|version| format!("version = \"{version}\""));
    fs::write(at.join("old.toml"), known.replace(&this, &old)).expect("a file");
    let (code, said) = fuzz(&elsewhere, "old.toml");
    let why = format!(
        "old.toml tells of chaos 0.0, and this is {version}; `onnxsmith backends --probe \"{elsewhere}\" --out old.toml`"
    );
    assert!(code == Some(2) && said.contains(&why), "{said}");

    // A file from before names were written is of one command.
    fs::write(at.join("nameless.toml"), known.replace("name = \"chaos\"\n", "")).expect("a file");
    assert_eq!(fuzz(&chaos("lack=0"), "nameless.toml").0, Some(0));
    let (code, said) = fuzz(&elsewhere, "nameless.toml");
    let why = format!("nameless.toml tells of {}, and the campaign is on chaos", chaos("lack=0"));
    assert!(code == Some(2) && said.contains(&why), "{said}");
}
