//! The handshake: what is no worker, which hellos say nothing that can be used, and how long a worker has to say one.
#![cfg(unix)]

use std::time::{Duration, Instant};

use onnxsmith_worker::{Case, EngineSpec, Fault, Limits, Outcome, Source, Worker, WorkerError};

fn spec(argument: &str) -> EngineSpec {
    EngineSpec {
        name: argument.into(),
        program: env!("CARGO_BIN_EXE_chaos-worker").into(),
        args: vec![argument.into()],
    }
}

fn limits() -> Limits {
    Limits { timeout: Duration::from_secs(5), memory: Some(1 << 30), ..Limits::default() }
}

/// Why a program is no worker.
fn refused(spec: EngineSpec, limits: Limits) -> WorkerError {
    Worker::start(spec, limits).err().expect("it is no worker")
}

#[test]
fn a_program_that_is_no_worker_is_an_error_not_a_finding() {
    let start = |spec| refused(spec, limits());
    let chatty = start(spec("chatty"));
    assert!(
        matches!(&chatty, WorkerError::Handshake { fault, .. } if matches!(**fault, Fault::Garbage { .. })),
        "{chatty}"
    );
    assert!(start(spec("future")).to_string().contains("protocol version 99"));
    assert!(start(spec("level-less")).to_string().contains("no level in `levels`"));
    assert!(start(spec("dtype-less")).to_string().contains("float32: float32; there are bool,"));
    assert!(matches!(
        start(EngineSpec::parse("cmd:/nonexistent/runner --flag", &["cpu"]).unwrap()),
        WorkerError::Start { .. }
    ));
    assert!(matches!(start(EngineSpec::parse("cmd:true", &["cpu"]).unwrap()), WorkerError::Handshake { .. }));
    assert!(matches!(EngineSpec::parse("cmd:./runner 'open quote", &["cpu"]), Err(WorkerError::Command(_))));
    assert!(matches!(EngineSpec::parse("no-such-engine", &["cpu"]), Err(WorkerError::UnknownEngine { .. })));
    assert_eq!(EngineSpec::parse("cmd:./run 'a b' c", &["cpu"]).unwrap().args, ["a b", "c"]);
}

/// The start of a worker whose hello has these fields in place of the usual ones.
fn said(levels: &str, opset: &str) -> Result<Worker, WorkerError> {
    let hello = format!(
        r#"{{"type":"hello","protocol":1,"engine":"x","version":"1","dtypes":{{"f32":"f32"}},"levels":{levels},"opset":{opset}}}"#
    );
    let spec = spec("say");
    Worker::start(EngineSpec { args: vec!["say".into(), hello.into()], ..spec }, limits())
}

#[test]
fn a_hello_with_levels_that_nobody_can_name_is_refused() {
    for (levels, why) in [
        (r#"["a,b"]"#, r#"the level "a,b", which --on cannot name"#),
        (r#"["x:y"]"#, r#"the level "x:y", which --on cannot name"#),
        (r#"["none",""]"#, r#"the level "", which --on cannot name"#),
        (r#"["all the way"]"#, r#"the level "all the way", which --on cannot name"#),
        (r#"["'all'"]"#, r#"the level "'all'", which --on cannot name"#),
        (r#"["a\u001b"]"#, r#"the level "a\u{1b}", which --on cannot name"#),
        (r#"["all"],"on_request":["x:y"]"#, r#"the level "x:y", which --on cannot name"#),
        (r#"["all"],"on_request":["all"]"#, "the level `all` twice"),
        (r#"["none","none"]"#, "the level `none` twice"),
    ] {
        let error = said(levels, "null").err().expect("it is no worker").to_string();
        assert!(error.contains(&format!("broke the worker protocol: its hello names {why}")), "{error}");
    }
    for level in ["O3", "all+fast", "graph_mode=1", "schnell/größer"] {
        assert!(said(&format!(r#"["{level}"]"#), "null").is_ok(), "{level}");
    }
}

#[test]
fn a_hello_with_an_opset_that_there_never_was_is_refused() {
    for opset in ["0", "-3"] {
        let error = said(r#"["all"]"#, opset).err().expect("it is no worker").to_string();
        assert!(error.contains(&format!("it accepts opset {opset} at most; the first is 1")), "{error}");
    }
    for opset in ["1", "5", "99", "null"] {
        assert!(said(r#"["all"]"#, opset).is_ok(), "{opset}");
    }
}

/// Several may be tried at once, of which all are started by `python3`.
#[test]
fn an_error_names_the_engine_as_the_user_does() {
    for (name, words) in [
        (
            "cmd:sh -c 'exit 3' first",
            "is no worker: asked who it is, it exited with code 3 instead of answering",
        ),
        ("cmd:sh -c 'kill -SEGV $$'", "is no worker: asked who it is, it ended by signal 11 (SIGSEGV)"),
    ] {
        let error = refused(EngineSpec::parse(name, &[]).unwrap(), limits());
        assert_eq!(error.to_string(), format!("{name} {words}"));
    }
    let name = "cmd:/nonexistent/runner --flag";
    let error = refused(EngineSpec::parse(name, &[]).unwrap(), limits());
    assert!(
        error.to_string().starts_with(&format!("cannot start {name}: /nonexistent/runner: No such file")),
        "{error}"
    );
}

#[test]
fn who_says_nothing_is_told_how_long_it_had_and_a_longer_case_gives_it_longer() {
    for (startup, timeout, had) in [(200, 100, "200ms"), (200, 400, "400ms")] {
        let [startup, timeout] = [startup, timeout].map(Duration::from_millis);
        let began = Instant::now();
        let error = refused(spec("dumb"), Limits { startup, timeout, ..limits() });
        let wanted = format!("did not answer in time: it had {had}; --timeout gives it longer");
        assert!(error.to_string().ends_with(&wanted), "{error}");
        assert!(began.elapsed() >= startup.max(timeout), "{:?}", began.elapsed());
    }
}

/// A case that is given less time than is usual may be the first of a new process.
#[test]
fn a_process_that_replaces_another_has_as_long_to_start() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("it has started");
    // The first process starts at once and ends with the first case; the second takes its time.
    let script = r#"test -e "$1" && sleep 1; touch "$1"; exec "$0" echo"#;
    let program = env!("CARGO_BIN_EXE_chaos-worker");
    let slow = EngineSpec {
        name: "slow".into(),
        program: "sh".into(),
        args: ["-c".into(), script.into(), program.into(), first.into()].into(),
    };
    let limits = Limits { startup: Duration::from_millis(500), ..limits() };
    let mut worker = Worker::start(slow, limits).unwrap();
    worker.restart();
    let case = Case { model: Source::Message(b"echo"), level: "none", inputs: &[], outputs: &[] };
    let run = worker.run_within(Duration::from_millis(300), &case).unwrap();
    assert!(matches!(run.outcome, Outcome::Outputs(_)), "{run:?}");
}
