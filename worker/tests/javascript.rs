//! The worker's side of the protocol in JavaScript: `adapters/protocol.mjs`.
//!
//! Where there is no Node.js, nothing is tested, and the test says so.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use onnxsmith_worker::{Case, EngineSpec, Limits, Outcome, Source, Worker};

fn has_node() -> bool {
    let has = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has {
        // Past the test harness, which shows nothing of a test that passes.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: adapters/protocol.mjs, as there is no node");
    }
    has
}

/// A runtime that refuses every model with a message that was cut in the middle of a character.
fn runner(folder: &Path) -> EngineSpec {
    let protocol = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters/protocol.mjs");
    let text = format!(
        r#"import {{ serve }} from "{}";
const load = () => {{ throw new Error("no \u{{1f375}} and no \u{{1f375}}".slice(0, -1)); }};
await serve({{ engine: "mine", version: "1", levels: ["default"], dtypes: {{ f32: "f32" }} }}, load, () => false);
"#,
        protocol.display()
    );
    let file = folder.join("runner.mjs");
    fs::write(&file, text).expect("a file");
    EngineSpec::parse(&format!("cmd:node '{}'", file.display()), &[]).expect("a command")
}

#[test]
fn a_message_that_ends_within_a_character_is_a_message() {
    if !has_node() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut worker = Worker::start(runner(folder.path()), Limits::default()).expect("it shakes hands");
    let case = Case { model: Source::Message(b""), level: "default", inputs: &[], outputs: &[] };
    let outcome = worker.run(&case).expect("it runs").outcome;
    let wanted = "no \u{1f375} and no \u{fffd}";
    assert!(matches!(&outcome, Outcome::Rejected { message, .. } if message == wanted), "{outcome:?}");
}
