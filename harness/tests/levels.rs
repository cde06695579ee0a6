//! Several levels of an engine that are asked together.
#![cfg(unix)]

use std::sync::Arc;
use std::time::Duration;

use ir::Interface;
use onnxsmith_harness::target::{self, Target};
use worker::Limits;

/// Says what it is, and never answers.
const MUTE: &str = r#"cmd:sh -c 'read line; echo "$0"; exec sleep 1000' '{"type": "hello", "protocol": 1, "engine": "mute", "version": "1", "opset": null, "levels": ["none", "all"], "dtypes": {"f32": "f32"}}'"#;

#[test]
fn what_has_hung_at_one_level_is_not_asked_at_the_next_in_a_hurry() {
    let limits = Limits { timeout: Duration::from_millis(300), ..Limits::default() };
    let targets = target::open(MUTE, &limits).expect("it starts");
    let asked = |targets: &[Target]| {
        let interface = Interface { inputs: Vec::new(), outputs: Vec::new() };
        let runs = Target::run_all(targets, b"model", &[], &interface).expect("it runs");
        assert!(runs.iter().all(worker::Run::has_hung), "{runs:?}");
        runs.iter().map(|ran| ran.wall_seconds > 0.0).collect::<Vec<_>>()
    };
    let each = |manner: &dyn Fn(&Target) -> Target| targets.iter().map(manner).collect::<Vec<_>>();
    let (hurry, again) = (Arc::default(), Arc::default());
    assert_eq!(asked(&targets), [true, true]);
    assert_eq!(asked(&each(&Target::briefly)), [true, true]);
    assert_eq!(asked(&each(&|target| target.in_a_hurry(&hurry))), [true, false]);
    assert_eq!(asked(&each(&|target| target.afresh(&again))), [true, false]);
}
