//! Whatever a runtime under test does, its parent names it right and goes on with a fresh worker.
#![cfg(unix)]

use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use ir::{DType, Datum, DatumKind, Held, Strings, Tensor, Type, Wanted};
use onnxsmith_worker::{
    Case, EngineSpec, Fault, Limits, Outcome, Pool, Run, Source, Stage, Worker, WorkerError,
};

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

fn impatient() -> Limits {
    Limits { timeout: Duration::from_millis(200), ..limits() }
}

fn run(worker: &mut Worker, model: &str) -> Run {
    let inputs = [("x".to_owned(), Tensor::from_f64_fn(&Type::new(DType::F32, [3]), |i| i as f64))];
    let outputs = [Wanted::tensor("x", DType::F32)];
    let case = Case {
        model: Source::Message(model.as_bytes()),
        level: "none",
        inputs: &Datum::of_tensors(&inputs),
        outputs: &outputs,
    };
    let run = worker.run(&case).expect("a worker starts");
    if let Outcome::Outputs(values) = &run.outcome {
        assert_eq!(values, &inputs);
    }
    run
}

/// The fault that a fresh worker has with a model. Afterwards the process must be gone and the next case must work.
fn fault(argument: &str, model: &str, limits: Limits) -> (Fault, String) {
    let mut worker = Worker::start(spec(argument), limits).expect("the handshake works");
    let process = worker.process_id().expect("a process");
    let run_ = run(&mut worker, model);
    let Outcome::Fault(fault) = run_.outcome else { panic!("`{model}` gave {:?}", run_.outcome) };
    assert!(!std::path::Path::new(&format!("/proc/{process}")).exists(), "`{model}` left a zombie: {fault}");
    if argument == "echo" {
        assert!(
            matches!(run(&mut worker, "echo").outcome, Outcome::Outputs(_)),
            "no fresh worker after `{model}`"
        );
    }
    (fault, run_.stderr)
}

#[test]
fn a_worker_is_sent_no_dtype_that_it_may_not_have_heard_of() {
    let narrow = |dtype| [("x".to_owned(), Tensor::from_f64_fn(&Type::new(dtype, [3]), |i| i as f64))];
    let (i4s, f64s) = (narrow(DType::I4), narrow(DType::F64));
    let (i4, f64) = ([Wanted::tensor("x", DType::I4)], [Wanted::tensor("x", DType::F64)]);
    let (few, many) = (Datum::of_tensors(&i4s), Datum::of_tensors(&f64s));
    let case = |inputs, outputs| Case { model: Source::Message(b"echo"), level: "none", inputs, outputs };
    // It names f32 alone, and dies of whatever it is sent.
    let mut worker = Worker::start(spec("mute"), limits()).unwrap();
    let process = worker.process_id();
    for case in [case(&few, &[]), case(&[], &i4), case(&few, &i4)] {
        let run = worker.run(&case).unwrap();
        assert!(matches!(run.outcome, Outcome::Unsupported { .. }), "{:?}", run.outcome);
    }
    assert_eq!(worker.process_id(), process);
    // Those of the first days are sent in any case.
    let runs =
        worker.run_all(&[case(&few, &i4), case(&many, &f64), case(&[], &i4)], limits().timeout).unwrap();
    let refused = runs.iter().map(|run| matches!(run.outcome, Outcome::Unsupported { .. }));
    assert_eq!(refused.collect::<Vec<_>>(), [true, false, true]);
    // Who names it is sent it.
    let mut worker = Worker::start(spec("echo"), limits()).unwrap();
    assert_eq!(worker.run(&case(&few, &i4)).unwrap().outcome, Outcome::Outputs(i4s.to_vec()));
}

/// A datum of each kind, and one that holds nothing, called by their kinds.
fn data() -> Vec<(DatumKind, Datum)> {
    let tensor = |length| Tensor::from_f64_fn(&Type::new(DType::F32, [length]), |i| i as f64);
    let strings = |shape: &[i64], texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        Datum::Strings(Strings::of_texts(shape.to_vec(), &texts).unwrap())
    };
    vec![
        (DatumKind::Strings, strings(&[2, 1], &["a", "é"])),
        (DatumKind::Strings, strings(&[0, 3], &[])),
        (DatumKind::Tensor, Datum::Tensor(tensor(1))),
        (DatumKind::Sequence, Datum::Sequence(vec![tensor(2), tensor(0), tensor(3)])),
        (DatumKind::Sequence, Datum::Sequence(Vec::new())),
        (DatumKind::Optional, Datum::Optional(Some(Held::Tensor(tensor(4))))),
        (DatumKind::Optional, Datum::Optional(None)),
        (DatumKind::OptionalSequence, Datum::Optional(Some(Held::Sequence(vec![tensor(5)])))),
    ]
}

fn wanted(kind: DatumKind) -> [Wanted; 1] {
    [Wanted { name: "x".to_owned(), dtype: DType::F32, kind }]
}

#[test]
fn values_of_every_kind_come_back_in_parts() {
    let mut worker = Worker::start(spec("echo"), limits()).unwrap();
    for (kind, datum) in data() {
        let inputs = [("x", datum.as_ref())];
        let case =
            Case { model: Source::Message(b"echo"), level: "none", inputs: &inputs, outputs: &wanted(kind) };
        let outcome = worker.run(&case).unwrap().outcome;
        assert_eq!(outcome, Outcome::Outputs(datum.clone().parts("x")));
    }
}

/// An engine that gives its inputs leaves out whatever else it is asked for.
#[test]
fn an_output_that_is_left_out_is_an_answer_and_one_that_nobody_asked_for_is_none() {
    let mut worker = Worker::start(spec("echo"), limits()).unwrap();
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [3]), |i| i as f64);
    let inputs = ["x", "y"].map(|name| (name.to_owned(), x.clone()));
    let inputs = Datum::of_tensors(&inputs);
    let mut outcome = |given: &[&str], asked: &[&str]| {
        let inputs: Vec<_> = inputs.iter().filter(|(name, _)| given.contains(name)).cloned().collect();
        let outputs: Vec<Wanted> = asked.iter().map(|name| Wanted::tensor(*name, DType::F32)).collect();
        let model = Source::Message(b"echo");
        worker.run(&Case { model, level: "none", inputs: &inputs, outputs: &outputs }).unwrap().outcome
    };
    for given in [&["x"][..], &["y"], &[], &["x", "y"]] {
        let Outcome::Outputs(outputs) = outcome(given, &["x", "y"]) else { panic!("{given:?}") };
        assert_eq!(outputs.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), given);
    }
    for (given, asked) in [(&["x", "y"][..], &["x"][..]), (&["x", "y"], &["y", "x"]), (&["x"], &["z"])] {
        let outcome = outcome(given, asked);
        assert!(matches!(&outcome, Outcome::Fault(Fault::Garbage { .. })), "{given:?}: {outcome:?}");
    }
}

#[test]
fn a_worker_that_names_no_kinds_is_sent_tensors_alone() {
    // It dies of whatever it is sent.
    let mut worker = Worker::start(spec("mute"), limits()).unwrap();
    let process = worker.process_id();
    for (kind, datum) in data().into_iter().filter(|(kind, _)| *kind != DatumKind::Tensor) {
        let inputs = [("x", datum.as_ref())];
        let (goes_in, comes_out) = (
            Case { model: Source::Message(b"echo"), level: "none", inputs: &inputs, outputs: &[] },
            Case { model: Source::Message(b"echo"), level: "none", inputs: &[], outputs: &wanted(kind) },
        );
        for case in [goes_in, comes_out] {
            let Outcome::Unsupported { why } = worker.run(&case).unwrap().outcome else { panic!("{kind}") };
            let named = if kind.is_optional() { "`optional".to_owned() } else { format!("`{kind}`") };
            assert!(why.contains(&named), "{why}");
        }
    }
    assert_eq!(worker.process_id(), process);
}

#[test]
fn a_case_that_cannot_be_sent_is_no_fault_of_the_engine() {
    let mut worker = Worker::start(spec("echo"), limits()).unwrap();
    let process = worker.process_id();
    let file = std::path::Path::new(std::ffi::OsStr::from_bytes(b"/tmp/\xff/model.onnx"));
    let of = |model| Case { model, level: "none", inputs: &[], outputs: &[] };
    let cases = [of(Source::Message(b"echo")), of(Source::File(file))];
    assert!(matches!(worker.run(&cases[1]), Err(WorkerError::Request(_))));
    assert!(matches!(worker.run_all(&cases, limits().timeout), Err(WorkerError::Request(_))));
    assert!(matches!(run(&mut worker, "echo").outcome, Outcome::Outputs(_)));
    assert_eq!(worker.process_id(), process);
}

#[test]
fn clean_answers_keep_the_process() {
    let mut worker = Worker::start(spec("echo"), limits()).unwrap();
    assert_eq!(worker.description().engine, "chaos");
    let process = worker.process_id();
    assert!(matches!(run(&mut worker, "echo").outcome, Outcome::Outputs(_)));
    assert!(matches!(run(&mut worker, "print").outcome, Outcome::Outputs(_)), "printing breaks nothing");
    assert!(matches!(run(&mut worker, "read").outcome, Outcome::Outputs(_)), "reading takes no frames");
    let rejected = |stage, message: &str| Outcome::Rejected { stage, message: message.into() };
    assert_eq!(run(&mut worker, "load").outcome, rejected(Stage::Load, "no such attribute"));
    assert_eq!(run(&mut worker, "run").outcome, rejected(Stage::Run, "index 7 is out of bounds"));
    assert_eq!(run(&mut worker, "unsupported").outcome, Outcome::Unsupported { why: "Einsum".into() });
    assert_eq!(worker.process_id(), process);
}

#[test]
fn signals_are_named() {
    for (model, name) in [("segfault", "SIGSEGV"), ("illegal", "SIGILL"), ("abort", "SIGABRT")] {
        let (fault, _) = fault("echo", model, limits());
        assert!(matches!(fault, Fault::Signal { name: n, .. } if n == name), "{fault:?}");
    }
    assert_eq!(fault("echo", "overflow", limits()).0, Fault::StackOverflow);
    assert_eq!(fault("echo", "killed", limits()).0, Fault::Memory, "as the out-of-memory killer does");
}

#[test]
fn exits_keep_the_last_words() {
    assert_eq!(fault("echo", "exit", limits()).0, Fault::Exit { code: 0 });
    let (fault, stderr) = fault("echo", "exit-with-words", limits());
    assert_eq!((fault, stderr.as_str()), (Fault::Exit { code: 3 }, "giving up\n"));
}

#[test]
fn panics_are_told_with_their_place() {
    let (fault, _) = fault("echo", "panic", limits());
    let Fault::Panic { message, location, frames } = fault else { panic!("{fault:?}") };
    assert_eq!(message, "the axis is out of range");
    assert!(location.contains("chaos/engine.rs:"), "{location}");
    assert!(frames.first().is_some_and(|f| f.contains("misbehave")), "{frames:?}");
}

#[test]
fn a_panic_on_another_thread_is_the_one_told() {
    let Fault::Panic { message, .. } = fault("echo", "panic-in-thread", limits()).0 else { panic!() };
    assert_eq!(message, "first");
}

#[test]
fn a_survived_panic_need_not_cost_a_process() {
    let mut worker = Worker::start(spec("echo"), Limits { restart_after_panic: false, ..limits() }).unwrap();
    let process = worker.process_id();
    assert!(matches!(run(&mut worker, "panic").outcome, Outcome::Fault(Fault::Panic { .. })));
    assert!(matches!(run(&mut worker, "echo").outcome, Outcome::Outputs(_)));
    assert_eq!(worker.process_id(), process);
}

#[test]
fn hanging_is_a_timeout() {
    assert_eq!(fault("echo", "hang", impatient()).0, Fault::Timeout);
}

#[test]
fn what_the_engine_started_is_killed_too() {
    let (fault, stderr) = fault("echo", "hang-with-child", impatient());
    assert_eq!(fault, Fault::Timeout);
    let child = stderr.trim().strip_prefix("child=").expect("the child's id");
    // The init process reaps it at its leisure; until then it is a zombie, which runs no more.
    let status = std::fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
    assert!(status.is_empty() || status.contains("State:\tZ") || status.contains("State:\tX"), "{status}");
}

#[test]
#[cfg(target_os = "linux")]
fn eating_memory_is_a_memory_fault() {
    assert_eq!(fault("echo", "memory", limits()).0, Fault::Memory);
}

#[test]
fn broken_replies_are_garbage() {
    for (argument, part) in [("half header", "inside a frame"), ("half blob", "inside a frame")] {
        let (fault, _) = fault(argument, "", limits());
        assert!(
            matches!(&fault, Fault::Garbage { what, .. } if what.contains(part)),
            "{argument}: {fault:?}"
        );
    }
}

#[test]
fn a_worker_that_does_not_read_cannot_block_its_parent() {
    let (fault, _) = fault("deaf", &"x".repeat(1 << 20), impatient());
    assert_eq!(fault, Fault::Timeout);
}

#[test]
fn a_death_between_cases_is_not_blamed_on_the_next() {
    let mut worker = Worker::start(spec("echo"), limits()).unwrap();
    assert!(matches!(run(&mut worker, "die-later").outcome, Outcome::Outputs(_)));
    std::thread::sleep(Duration::from_millis(400));
    let next = run(&mut worker, "echo");
    assert!(matches!(next.outcome, Outcome::Outputs(_)), "{next:?}");
    assert!(matches!(next.late_faults[..], [Fault::Signal { .. }]), "{next:?}");
}

/// Runs models that are sent together, with as many elements of input.
fn run_all(worker: &mut Worker, models: &[&str], elements: i64) -> Vec<Run> {
    let ty = Type::new(DType::F64, [elements]);
    let inputs = [("x".to_owned(), Tensor::from_f64_fn(&ty, |i| i as f64))];
    let outputs = [Wanted::tensor("x", DType::F64)];
    let models: Vec<&[u8]> = models.iter().map(|model| model.as_bytes()).collect();
    let named = Datum::of_tensors(&inputs);
    let case =
        |model| Case { model: Source::Message(model), level: "none", inputs: &named, outputs: &outputs };
    let cases: Vec<Case> = models.into_iter().map(case).collect();
    let runs = worker.run_all(&cases, Duration::from_millis(200)).expect("a worker starts");
    assert_eq!(runs.len(), cases.len());
    for run in &runs {
        if let Outcome::Outputs(values) = &run.outcome {
            assert_eq!(values, &inputs);
        }
    }
    runs
}

/// What came of each, in a word.
fn words(runs: &[Run]) -> Vec<&'static str> {
    let word = |run: &Run| match &run.outcome {
        Outcome::Outputs(_) => "outputs",
        Outcome::Rejected { .. } => "rejected",
        Outcome::Unsupported { .. } => "unsupported",
        Outcome::Fault(fault) => fault.kind().name(),
    };
    runs.iter().map(word).collect()
}

#[test]
fn cases_that_are_sent_together_keep_their_outcomes() {
    for (models, wanted) in [
        (["echo", "load", "unsupported", "echo"], ["outputs", "rejected", "unsupported", "outputs"]),
        (["echo", "segfault", "echo", "exit"], ["outputs", "signal", "outputs", "exit"]),
        (["panic", "echo", "panic", "echo"], ["panic", "outputs", "panic", "outputs"]),
    ] {
        // A few fit into the pipe, the others have to be sent one by one.
        for elements in [1, 5_000, 100_000] {
            let mut worker = Worker::start(spec("echo"), limits()).unwrap();
            let runs = run_all(&mut worker, &models, elements);
            assert_eq!(words(&runs), wanted, "{models:?} with {elements} elements");
            assert!(runs.iter().all(|run| run.late_faults.is_empty()), "{runs:?}");
        }
    }
}

#[test]
fn a_case_that_hangs_keeps_no_other_from_its_answer() {
    let limits = Limits { timeout: Duration::from_secs(1), ..limits() };
    let mut worker = Worker::start(spec("echo"), limits).unwrap();
    let runs = run_all(&mut worker, &["echo", "hang", "run"], 1);
    assert_eq!(words(&runs), ["outputs", "timeout", "rejected"]);
    // It hangs twice: with the others, for the time of a case, and alone, for a fifth of that. What is told is the second.
    let told: f64 = runs.iter().map(|run| run.engine_seconds).sum();
    let hung = worker.take_engine_seconds() / told;
    assert!((2.0..7.0).contains(&hung), "{hung}: {runs:?}");
}

#[test]
fn what_runs_when_the_end_comes_is_ended_and_told() {
    let pool = Pool::new(spec("echo"), limits()).unwrap();
    let outputs = [Wanted::tensor("x", DType::F64)];
    let run = |model: &str| {
        let model = Source::Message(model.as_bytes());
        pool.run(&Case { model, level: "none", inputs: &[], outputs: &outputs }).expect("a worker starts")
    };
    let started = Instant::now();
    pool.end_at(started.checked_add(Duration::from_millis(300)));
    run("load");
    assert!(!pool.has_cut());
    // It is fresh when it hangs, so that it does once.
    assert_eq!(words(&[run("exit"), run("hang"), run("hang")]), ["exit", "timeout", "timeout"]);
    assert!(pool.has_cut() && started.elapsed() < limits().timeout);
    pool.end_at(None);
    assert_eq!((words(&[run("load")]), pool.has_cut()), (vec!["rejected"], false));
}

/// A fault in a used process is tried again in a fresh one. Where the end comes in between, nobody knows whose it was.
#[test]
fn a_fault_whose_repetition_is_cut_short_is_not_late() {
    let pool = Pool::new(spec("echo"), limits()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let run = |model: &str| {
        let outputs = [Wanted::tensor("x", DType::F64)];
        let model = Source::Message(model.as_bytes());
        pool.run(&Case { model, level: "none", inputs: &[], outputs: &outputs }).expect("a worker starts")
    };
    run("load");
    pool.end_at(Instant::now().checked_add(Duration::from_millis(500)));
    let cut = run(&format!("once or hang {}", folder.path().join("it has run").display()));
    assert_eq!(words(&[cut]), ["timeout"]);
    assert!(pool.has_cut() && pool.late_faults().is_empty(), "{:?}", pool.late_faults());
}

#[test]
fn cases_that_are_sent_together_share_a_process() {
    let mut worker = Worker::start(spec("echo"), limits()).unwrap();
    let process = worker.process_id();
    assert_eq!(words(&run_all(&mut worker, &["echo"; 40], 100)), ["outputs"; 40]);
    assert_eq!(worker.process_id(), process);
}

#[test]
fn a_fault_that_no_case_has_alone_is_late() {
    let mut worker = Worker::start(spec("echo"), limits()).unwrap();
    let runs = run_all(&mut worker, &["echo", "twice", "echo"], 1);
    assert_eq!(words(&runs), ["outputs"; 3]);
    assert!(runs.iter().any(|run| matches!(run.late_faults[..], [Fault::Garbage { .. }])), "{runs:?}");
}

#[test]
fn faults_that_are_not_the_cases_own_are_all_told() {
    let mut worker = Worker::start(spec("echo"), limits()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(run(&mut worker, "die-later").outcome, Outcome::Outputs(_)));
    std::thread::sleep(Duration::from_millis(400));
    let once = format!("once {}", folder.path().join("it has run").display());
    let runs = run_all(&mut worker, &[&once, "echo"], 1);
    assert_eq!(words(&runs), ["outputs"; 2]);
    let [first, second] = &runs[..] else { panic!("two cases") };
    assert!(matches!(first.late_faults[..], [Fault::Exit { code: 3 }, Fault::Signal { .. }]), "{first:?}");
    assert!(second.late_faults.is_empty(), "{second:?}");
}

#[test]
fn threads_share_a_pool() {
    let pool = Pool::new(spec("echo"), limits()).unwrap();
    let inputs = [("x".to_owned(), Tensor::from_f64_fn(&Type::new(DType::F64, [100_000]), |i| i as f64))];
    let outputs = [Wanted::tensor("x", DType::F64)];
    std::thread::scope(|threads| {
        for model in ["echo", "segfault", "echo"] {
            let (pool, inputs, outputs) = (&pool, &inputs, &outputs);
            threads.spawn(move || {
                for _ in 0..5 {
                    let case = Case {
                        model: Source::Message(model.as_bytes()),
                        level: "none",
                        inputs: &Datum::of_tensors(inputs),
                        outputs,
                    };
                    let outcome = pool.run(&case).expect("a worker starts").outcome;
                    assert_eq!(matches!(outcome, Outcome::Outputs(_)), model == "echo", "{outcome:?}");
                }
            });
        }
    });
}
