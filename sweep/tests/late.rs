//! A process that dies of what it ran before: its answers are right, and it is told all the same.
//!
//! This needs `python3`. Where there is none, nothing is tested, and the test says so.
#![cfg(unix)]

use std::io::Write;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use harness::target;
use onnxsmith_sweep::rows::{Line, Rows};
use onnxsmith_sweep::{Identity, PartForm, Scope, parts, run};
use worker::{FaultKind, Limits};

/// Gives back what it gets, and does not survive a second case.
const RUNNER: &str = r#"
import json, os, signal, sys

def put(header, blob=b""):
    sys.stdout.buffer.write(json.dumps(header).encode() + b"\n" + blob)
    sys.stdout.buffer.flush()

cases = 0
for line in iter(sys.stdin.buffer.readline, b""):
    request = json.loads(line)
    if request["type"] == "hello":
        put({"type": "hello", "protocol": 1, "engine": "frail", "version": "1", "opset": None,
             "levels": ["none"], "dtypes": {"f32": "f32"}, "profile": "tight"})
        continue
    sys.stdin.buffer.read(request["model"])
    [x] = request["inputs"]
    blob = sys.stdin.buffer.read(x["bytes"])
    cases += 1
    if cases > 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    put({"type": "ok", "id": request["id"], "outputs": [{**x, "name": request["outputs"][0]["name"]}]}, blob)
"#;

#[test]
fn a_process_that_dies_of_what_it_ran_before_is_no_clean_sweep() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        // Past the test harness, which shows nothing of a test that passes.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: late faults of a sweep, as there is no python3");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frail.py");
    std::fs::write(&path, RUNNER).unwrap();
    let targets =
        target::open(&format!("cmd:python3 '{}'", path.display()), &Limits::default()).expect("it starts");
    let scope = Scope {
        seed: 3,
        opset: *ir::graph::OPSETS.end(),
        operators: ["Identity".to_owned()].into(),
        dtypes: ["f32".to_owned()].into(),
        forms: [PartForm::Unary].into(),
        samples: 256,
        cases: 2,
    };
    let mut ran = Vec::new();
    let take = |part| {
        ran.push(part);
        Ok(())
    };
    run(&scope, &parts(&scope), &targets, 1, &AtomicBool::new(false), take).expect("it runs");
    let rows = Rows::of(&Identity::of(&scope, &targets), &ran);
    let [row] = &rows.rows[..] else { panic!("one row, not {:?}", rows.rows) };
    assert!(row.failed.is_empty() && row.total.judged > 0 && row.total.exact == row.total.judged, "{row:?}");
    let Line { late_faults, .. } = row.into();
    // Each part but the first kills the process that ran the one before it.
    assert_eq!(late_faults, [(FaultKind::Signal, ran.len() as u64 - 1)].into());
    assert!(ran.len() > 1 && !rows.are_clean());
}
