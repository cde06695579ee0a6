//! What is left of a command that a signal ends.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

mod program;

use program::onnxsmith;

/// A runner that says hello, and then neither answers nor ends: it notes in the file `beats` that it lives.
const RUNNER: &str = r#"
read request
echo '{"type":"hello","protocol":1,"engine":"mine","version":"1","dtypes":{"f32":"f32"},"levels":["all"]}'
while true; do echo beat >> beats; sleep 0.05; done
"#;

/// How often the runner of a folder has noted that it lives.
fn beats(folder: &Path) -> usize {
    fs::read_to_string(folder.join("beats")).unwrap_or_default().lines().count()
}

fn terminate(child: &Child) {
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

/// `timeout` sends a signal twice, one right after the other.
#[test]
fn the_second_signal_ends_a_command_and_its_hanging_runner() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let made = onnxsmith(at, &["gen", "--ops", "Relu", "--nodes", "1", "--count", "1", "--out", "cases"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    fs::write(at.join("runner.sh"), RUNNER).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_onnxsmith"));
    command.args(["run", "cases", "--on", "cmd:sh runner.sh", "--timeout", "10m"]).current_dir(at);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program");
    let patience = Instant::now() + Duration::from_mins(1);
    while beats(at) < 4 {
        assert!(Instant::now() < patience && child.try_wait().expect("a status").is_none(), "nothing hangs");
        sleep(Duration::from_millis(20));
    }
    terminate(&child);
    sleep(Duration::from_millis(50));
    terminate(&child);
    sleep(Duration::from_millis(600));
    assert_eq!(
        child.try_wait().expect("a status"),
        None,
        "the first signal came twice, and ended it at once"
    );
    terminate(&child);
    assert_eq!(child.wait().expect("an end").code(), Some(130));
    sleep(Duration::from_millis(200));
    let ended = beats(at);
    sleep(Duration::from_millis(500));
    assert_eq!(beats(at), ended, "the runner lives on");
}

/// The program with its runner in a folder, in the background.
fn begun(at: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onnxsmith"));
    command.args(args).current_dir(at).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program")
}

/// Sends a signal to a program once its runner hangs: both end at once.
fn signalled(mut child: Child, at: &Path) {
    let patience = Instant::now() + Duration::from_mins(1);
    while beats(at) < 4 {
        assert!(Instant::now() < patience && child.try_wait().expect("a status").is_none(), "nothing hangs");
        sleep(Duration::from_millis(20));
    }
    terminate(&child);
    assert_eq!(child.wait().expect("an end").code(), Some(130));
    sleep(Duration::from_millis(200));
    let ended = beats(at);
    sleep(Duration::from_millis(300));
    assert_eq!(beats(at), ended, "the runner lives on");
}

#[test]
fn a_signal_while_an_engine_is_probed_ends_the_command_at_once() {
    let runner = "cmd:sh runner.sh";
    for args in [
        &["gen", "--count", "1", "--for", runner, "--timeout", "10m"][..],
        &["backends", "--probe", runner, "--timeout", "10m"],
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        fs::write(at.join("runner.sh"), RUNNER).expect("a file");
        signalled(begun(at, args), at);
    }
}

/// Nothing is judged before the engine has said what it is.
#[test]
fn a_signal_before_anything_is_judged_ends_blame_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let silent: Vec<&str> = RUNNER.lines().filter(|line| !line.contains("hello")).collect();
    fs::write(at.join("runner.sh"), silent.join("\n")).expect("a file");
    let model =
        "<ir_version: 10, opset_import: [\"\" : 21]>\nm (float[2] x) => (float[2] y) { y = Abs(x) }\n";
    fs::write(at.join("m.onnxtxt"), model).expect("a model");
    signalled(begun(at, &["blame", "m.onnxtxt", "--on", "cmd:sh runner.sh", "--timeout", "10m"]), at);
}
