//! Ending all workers at once. This is for a program that exits next, and so the only test of its process.
#![cfg(target_os = "linux")]

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use onnxsmith_worker::{Case, EngineSpec, Limits, Source, Worker, end_all};

/// Whether a process runs; one that is dead and was not reaped does not.
fn runs(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|state| !state.is_empty() && !state.starts_with('Z'))
}

#[test]
fn all_workers_are_ended_and_nobody_takes_that_for_a_fault() {
    let start = || {
        let program = env!("CARGO_BIN_EXE_chaos-worker").into();
        let spec = EngineSpec { name: "echo".into(), program, args: vec!["echo".into()] };
        Worker::start(spec, Limits::default()).expect("a worker")
    };
    let (idle, mut busy) = (start(), start());
    let ids = [&idle, &busy].map(|worker| worker.process_id().expect("a process"));
    let (sender, told) = channel();
    std::thread::spawn(move || {
        let case = Case { model: Source::Message(b"hang"), level: "none", inputs: &[], outputs: &[] };
        let _ = sender.send(busy.run(&case).is_ok());
    });
    std::thread::sleep(Duration::from_millis(300));
    assert!(ids.into_iter().all(runs));
    end_all();
    let patience = Instant::now() + Duration::from_secs(5);
    while ids.into_iter().any(runs) {
        assert!(Instant::now() < patience, "they run on");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(told.recv_timeout(Duration::from_millis(500)), Err(RecvTimeoutError::Timeout));
    // To drop it would wait for ever, too.
    std::mem::forget(idle);
}
