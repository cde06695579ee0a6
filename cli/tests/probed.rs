//! What trying an engine of the user's own tells, and for which engines that holds.
#![cfg(unix)]

mod program;

use std::fs;

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
    ] {
        let output =
            onnxsmith(folder.path(), &["backends", "--probe", &chaos(rate), "--jobs", "1", "--quiet"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("of 20 models it answered none") && said.contains(does), "{said}");
    }
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
