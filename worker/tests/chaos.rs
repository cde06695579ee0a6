//! Hundreds of cases on an engine that does everything wrong: each is accounted for once and rightly, and nothing is
//! left behind. `cargo xtask chaos` does the same with a campaign of 20,000 cases.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ir::{DType, Datum, Tensor, Type, Wanted};
use onnxsmith_worker::chaos::{Misbehaviour, Rates, Shows};
use onnxsmith_worker::{Case, EngineSpec, Limits, Outcome, Pool, Source, Worker};

fn spec(words: &[String]) -> EngineSpec {
    EngineSpec {
        name: "chaos".into(),
        program: env!("CARGO_BIN_EXE_chaos-worker").into(),
        args: words.iter().map(Into::into).collect(),
    }
}

fn limits(timeout: Duration) -> Limits {
    Limits { timeout, memory: Some(1 << 29), ..Limits::default() }
}

/// What a process of this machine is doing, as far as it concerns these tests.
struct Process {
    id: u32,
    parent: u32,
    state: String,
}

/// The fields of /proc/ID/stat after the name, which is in parentheses and may hold anything.
fn process(id: u32) -> Option<Process> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    Some(Process { id, state: fields.next()?.to_owned(), parent: fields.next()?.parse().ok()? })
}

fn children() -> Vec<Process> {
    let ids = std::fs::read_dir("/proc").expect("/proc").flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(process).filter(|p| p.parent == std::process::id()).collect()
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("/proc").count()
}

/// Waits for threads that read the last words of processes which are gone to end.
fn settles_at(files: usize) -> bool {
    (0..200).any(|_| open_files() <= files || nap())
}

fn tensor(value: f64) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, [3]), |i| value + i as f64)
}

/// One test, as it counts what the whole process has open.
#[test]
fn nothing_that_an_engine_does_hurts() {
    let files = open_files();
    every_misbehaviour_is_named_and_the_next_case_works();
    hundreds_of_cases_are_accounted_for();
    let left: Vec<String> = children().iter().map(|p| format!("{} ({})", p.id, p.state)).collect();
    assert!(left.is_empty(), "processes are left: {left:?}");
    assert!(settles_at(files), "{} files were open, {} are", files, open_files());
}

/// What costs a time-out, or the wait for a process to end.
const SLOW: [&str; 6] = ["hang", "late", "hang-with-child", "leave-child", "leave-stranger", "close"];

/// Longer than anything takes that does not hang, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(30);

fn every_misbehaviour_is_named_and_the_next_case_works() {
    let worker = |time| Worker::start(spec(&["echo".into()]), limits(time)).expect("a worker");
    let (mut patient, mut hasty) = (worker(PATIENCE), worker(Duration::from_secs(1)));
    for misbehaviour in Misbehaviour::all() {
        let is_slow = SLOW.contains(&misbehaviour.name());
        misbehave(if is_slow { &mut hasty } else { &mut patient }, misbehaviour);
    }
}

fn misbehave(worker: &mut Worker, misbehaviour: Misbehaviour) {
    let (inputs, outputs) = ([("x".to_owned(), tensor(0.0))], [Wanted::tensor("x", DType::F32)]);
    let named = Datum::of_tensors(&inputs);
    let case =
        |model| Case { model: Source::Message(model), level: "none", inputs: &named, outputs: &outputs };
    let name = misbehaviour.name();
    // A fault of a process that has run other cases is tried twice, which takes twice as long.
    worker.restart();
    let run = worker.run(&case(name.as_bytes())).expect("a worker");
    assert!(misbehaviour.shows().is(&run.outcome), "{name}: {:?}", run.outcome);
    assert!(run.late_faults.is_empty(), "{name}: {:?}", run.late_faults);
    if misbehaviour == Misbehaviour::DieLater {
        let id = worker.process_id().expect("it has not been missed yet");
        let is_dead = || process(id).is_none_or(|p| p.state == "Z");
        assert!((0..1000).any(|_| is_dead() || nap()), "process {id} is alive");
    }
    let next = worker.run(&case(b"echo")).expect("a fresh worker");
    assert!(matches!(&next.outcome, Outcome::Outputs(o) if *o == inputs), "{name}: {next:?}");
    let is_late = misbehaviour.shows() == Shows::LateFault;
    assert_eq!(!next.late_faults.is_empty(), is_late, "{name}: {:?}", next.late_faults);
}

/// Waits a little, which changes nothing.
fn nap() -> bool {
    std::thread::sleep(Duration::from_millis(10));
    false
}

fn hundreds_of_cases_are_accounted_for() {
    const CASES: usize = 400;
    // Not those that cost a time-out or a wait.
    let rate = |m: Misbehaviour| if SLOW.contains(&m.name()) { 0.0 } else { 2.0 };
    let each = Misbehaviour::all().map(|m| format!("{}={}", m.name(), rate(m)));
    let words: Vec<String> = each.chain(["pause=3".into()]).collect();
    let rates = Rates::parse(&words).expect("rates");
    let spec = spec(&[&["chaos".to_owned()][..], &words].concat());
    let pool = Pool::new(spec, limits(PATIENCE)).expect("a worker");
    let (next, seen) = (AtomicUsize::new(0), Mutex::new(BTreeMap::<_, usize>::new()));
    std::thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= CASES {
                        break;
                    }
                    // What is planned follows from the bytes.
                    let (model, sent) = (format!("model {number}").into_bytes(), tensor(number as f64));
                    let inputs = [(format!("x{number}"), sent.clone())];
                    let outputs = [Wanted::tensor(format!("x{number}"), DType::F32)];
                    let named = Datum::of_tensors(&inputs);
                    let case = Case {
                        model: Source::Message(&model),
                        level: "default",
                        inputs: &named,
                        outputs: &outputs,
                    };
                    let run = pool.run(&case).expect("a worker");
                    let planned = rates.of(&case);
                    let shows = planned.map_or(Shows::Answer, Misbehaviour::shows);
                    assert!(shows.is(&run.outcome), "{planned:?}: {:?}", run.outcome);
                    if let (Outcome::Outputs(outputs), true) = (&run.outcome, shows != Shows::WrongType) {
                        assert_eq!(*outputs, inputs, "another case's answer after {planned:?}");
                    }
                    *seen.lock().expect("no panic").entry(planned).or_default() += 1;
                }
            });
        }
    });
    let seen = seen.into_inner().expect("no panic");
    assert_eq!(seen.values().sum::<usize>(), CASES);
    assert!(seen.len() > 20, "too few misbehaviours to mean anything: {seen:?}");
    let late =
        seen.iter().filter(|(m, _)| m.is_some_and(|m| m.shows() == Shows::LateFault)).map(|(_, n)| n).sum();
    std::thread::sleep(Duration::from_millis(50));
    let counted: u64 = pool.late_faults().values().sum();
    // The second answer of a worker that is then not used any more is never read.
    assert!((1..=late).contains(&(counted as usize)), "{counted} of {late} late faults were noticed");
}
