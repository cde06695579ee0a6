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
        let mut child = begun(at, args);
        let patience = Instant::now() + Duration::from_mins(1);
        while beats(at) < 4 {
            assert!(Instant::now() < patience && child.try_wait().expect("a status").is_none(), "it hangs");
            sleep(Duration::from_millis(20));
        }
        terminate(&child);
        assert_eq!(child.wait().expect("an end").code(), Some(130), "{args:?}");
        sleep(Duration::from_millis(200));
        let ended = beats(at);
        sleep(Duration::from_millis(300));
        assert_eq!(beats(at), ended, "the runner lives on");
    }
}

/// A model that never comes: whoever opens the pipe to write knows that it is waited for.
#[test]
fn a_signal_while_a_model_is_read_ends_blame_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("model.onnx");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let mut child = begun(folder.path(), &["blame", "model.onnx", "--on", "cpu"]);
    let writer = fs::OpenOptions::new().write(true).open(&pipe).expect("a reader");
    terminate(&child);
    assert_eq!(child.wait().expect("an end").code(), Some(130));
    drop(writer);
}
