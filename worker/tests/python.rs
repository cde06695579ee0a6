//! The worker's side of the protocol in Python: `adapters/protocol.py`.
//!
//! These tests need `python3` and nothing else: numpy and the like are stand-ins. Where there is no `python3`, nothing
//! is tested, and the tests say so.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ir::{DType, Wanted};
use onnxsmith_worker::{Case, EngineSpec, Fault, Limits, Outcome, Source, Worker, WorkerError};

/// Just enough of numpy for a case without inputs and outputs. It prints while it is imported, as libraries do.
const NUMPY: &str = r#"
print("numpy is imported")

def dtype(name):
    return name

bool_, int8, int16, int32, int64 = "?", "b", "h", "i", "l"
uint8, uint16, uint32, uint64 = "B", "H", "I", "L"
float16, float32, float64 = "e", "f", "d"
"#;

/// A runtime that prints in every way there is, while it is imported and later, and reads standard input.
const NOISY: &str = r#"
import os, subprocess, sys

def shout(when):
    print("noise", when, "by print")
    os.write(1, b"noise of a library\n")
    subprocess.run(["sh", "-c", "echo noise of a process"], check=True)
    sys.stdout.flush()
    assert sys.stdin.read() == "", "there is something to read"

shout("at import")
"#;

const RUNNER: &str = r#"
from protocol import DTYPES, serve

import noisy

class PanicException(BaseException):
    """What a runtime in Rust raises."""

def load(model, level):
    noisy.shout("in a case")
    if model == b"refuse":
        raise ValueError("no such model")
    if model == b"mumble":
        raise ValueError(b"no caf\xe9 \xf0\x9f\x8d\xb5".decode(errors="surrogateescape") + " \ud800")
    if model == b"lack":
        raise NotImplementedError("no \udcff")
    if model == b"panic in another":
        raise PanicException("\udcff is out of bounds")
    if model == b"fill":
        raise MemoryError("cannot allocate an array")
    if model == b"panic":
        raise PanicException("index out of bounds")
    return lambda inputs: {}

serve({"engine": "noisy", "version": "1", "levels": ["default"], "dtypes": {name: name for name in DTYPES}}, load)
"#;

fn adapters() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters")
}

fn has_python() -> bool {
    let has = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has {
        // Past the test harness, which shows nothing of a test that passes.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: adapters/protocol.py, as there is no python3");
    }
    has
}

/// A folder with the runner and what it imports.
fn runner() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("numpy.py", NUMPY);
    write("ml_dtypes.py", "__getattr__ = str\nprint('ml_dtypes is imported')\n");
    write("noisy.py", NOISY);
    write("runner.py", RUNNER);
    folder
}

/// How the runner of a folder is started: as one elsewhere, which is told where `protocol.py` is.
fn spec(folder: &Path) -> EngineSpec {
    let path = |path: &Path| path.display().to_string();
    let line = format!(
        "cmd:env 'PYTHONPATH={}' PYTHONDONTWRITEBYTECODE=1 python3 '{}'",
        path(&adapters()),
        path(&folder.join("runner.py"))
    );
    EngineSpec::parse(&line, &[]).expect("a command")
}

#[test]
fn what_is_printed_does_not_get_between_the_frames() {
    if !has_python() {
        return;
    }
    let folder = runner();
    let limits = Limits { timeout: Duration::from_secs(20), ..Limits::default() };
    let mut worker = Worker::start(spec(folder.path()), limits).expect("it shakes hands");
    assert_eq!(worker.description().engine, "noisy");
    for model in ["take", "refuse", "take"] {
        let case =
            Case { model: Source::Message(model.as_bytes()), level: "default", inputs: &[], outputs: &[] };
        let run = worker.run(&case).expect("it runs");
        match (model, &run.outcome) {
            ("take", Outcome::Outputs(outputs)) => assert_eq!(outputs, &[]),
            ("refuse", Outcome::Rejected { message, .. }) => assert_eq!(message, "ValueError: no such model"),
            other => panic!("{other:?}"),
        }
        for noise in ["noise of a library", "noise of a process", "noise in a case by print"] {
            assert!(run.stderr.contains(noise), "{noise} is not in {}", run.stderr);
        }
        assert!(!run.stderr.contains("at import"), "it was said before the case: {}", run.stderr);
    }
}

/// The runtime gives nothing here.
#[test]
fn an_output_that_a_runtime_has_lost_is_left_out() {
    if !has_python() {
        return;
    }
    let folder = runner();
    let mut worker = Worker::start(spec(folder.path()), Limits::default()).expect("it shakes hands");
    let (model, outputs) = (Source::Message(b"take"), [Wanted::tensor("y", DType::F32)]);
    let run = worker.run(&Case { model, level: "default", inputs: &[], outputs: &outputs }).expect("it runs");
    assert_eq!(run.outcome, Outcome::Outputs(Vec::new()));
}

/// The memory of a worker has a limit that is ours, so that a runtime beyond it has refused nothing; and a panic is no end of the process.
#[test]
fn what_no_model_should_cause_is_a_fault() {
    if !has_python() {
        return;
    }
    let folder = runner();
    let mut worker = Worker::start(spec(folder.path()), Limits::default()).expect("it shakes hands");
    let mut outcome = |model: &str| {
        let model = Source::Message(model.as_bytes());
        worker.run(&Case { model, level: "default", inputs: &[], outputs: &[] }).expect("it runs").outcome
    };
    assert!(matches!(outcome("take"), Outcome::Outputs(_)));
    assert_eq!(outcome("fill"), Outcome::Fault(Fault::Memory));
    let panic = outcome("panic");
    assert!(
        matches!(&panic, Outcome::Fault(Fault::Panic { message, .. }) if message == "index out of bounds"),
        "{panic:?}"
    );
}

/// What C++ puts into a message may be cut anywhere, and Python keeps bytes that are no text as halves of surrogate pairs.
#[test]
fn a_message_with_bytes_that_are_no_text_is_a_message() {
    if !has_python() {
        return;
    }
    let folder = runner();
    let mut worker = Worker::start(spec(folder.path()), Limits::default()).expect("it shakes hands");
    let mut outcome = |model: &str| {
        let model = Source::Message(model.as_bytes());
        worker.run(&Case { model, level: "default", inputs: &[], outputs: &[] }).expect("it runs").outcome
    };
    let mumbled = outcome("mumble");
    let message = "ValueError: no caf\u{fffd} \u{1f375} \u{fffd}";
    assert!(matches!(&mumbled, Outcome::Rejected { message: said, .. } if said == message), "{mumbled:?}");
    let lacking = outcome("lack");
    let why = "NotImplementedError: no \u{fffd}";
    assert!(matches!(&lacking, Outcome::Unsupported { why: said } if said == why), "{lacking:?}");
    let panic = outcome("panic in another");
    let message = "\u{fffd} is out of bounds";
    assert!(
        matches!(&panic, Outcome::Fault(Fault::Panic { message: said, .. }) if said == message),
        "{panic:?}"
    );
}

/// A runner that lacks something says what, and nothing else that was printed is part of that.
#[test]
fn a_runner_says_why_it_cannot_run() {
    if !has_python() {
        return;
    }
    for (body, says) in [
        ("raise Unavailable('there is no GPU')", Some("there is no GPU")),
        ("raise Unavailable('no \\udcff')", Some("no \u{fffd}")),
        ("import no_such_package", Some("there is no Python package `no_such_package`")),
        ("raise ValueError('a mistake')", None),
    ] {
        let folder = runner();
        let text = format!("from protocol import Unavailable\nprint('noise')\n{body}\n");
        fs::write(folder.path().join("runner.py"), text).expect("a file");
        match (Worker::start(spec(folder.path()), Limits::default()), says) {
            (Err(WorkerError::Unavailable { why, .. }), Some(says)) => {
                assert!(why.starts_with(says), "{why}");
            }
            (Err(WorkerError::Handshake { stderr, .. }), None) => {
                assert!(stderr.contains("ValueError: a mistake"), "{stderr}");
            }
            (Err(e), _) => panic!("{body}: {e}"),
            (Ok(_), _) => panic!("{body}: it shakes hands"),
        }
    }
}

/// What is imported before it may print where the frames are.
#[test]
fn every_adapter_imports_the_protocol_first() {
    let languages =
        [("_runner.py", "from protocol import ", 4), ("_runner.mjs", r#"from "./protocol.mjs";"#, 1)];
    for (ending, import, least) in languages {
        let mut adapters: Vec<PathBuf> = fs::read_dir(adapters())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        adapters.retain(|path| path.to_string_lossy().ends_with(ending));
        assert!(adapters.len() >= least, "{adapters:?}");
        for path in adapters {
            let text = fs::read_to_string(&path).expect("a text");
            let first = text.lines().find(|line| line.starts_with("import ") || line.starts_with("from "));
            assert!(first.is_some_and(|line| line.contains(import)), "{}", path.display());
        }
    }
}
