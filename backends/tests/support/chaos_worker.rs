//! A worker that misbehaves as told: in its handshake by its argument, in a case by the bytes of the "model".
//!
//! `chaos-worker <engine>` serves a built-in engine instead, so that the tests can run one in a process.

use std::io::{BufRead, Read, Write};
use std::process::{Command, exit};
use std::thread::sleep;
use std::time::Duration;

use ir::Tensor;
use onnxsmith_backends::engines;
use onnxsmith_backends::worker::{Case, Description, Engine, EngineError, serve};

const FOR_EVER: Duration = Duration::from_hours(1);

/// Does what the model says, then answers with its inputs.
struct Chaos;

impl Engine for Chaos {
    fn describe(&self) -> Description {
        Description {
            engine: "chaos".into(),
            version: "1".into(),
            dtypes: ir::DType::ALL.into_iter().map(|d| (d.name().into(), d.name().into())).collect(),
            opset: None,
            levels: vec!["none".into()],
            ..Description::default()
        }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Tensor)>, EngineError> {
        match case.model {
            b"echo" => {}
            b"print" => println!("{{\"type\":\"this must not become a header\"}}"),
            b"read" => assert_eq!(std::io::stdin().read(&mut [0; 16]).unwrap(), 0),
            b"load" => return Err(EngineError::Load("no such attribute".into())),
            b"run" => return Err(EngineError::Run("index 7 is out of bounds".into())),
            b"unsupported" => return Err(EngineError::Unsupported("Einsum".into())),
            b"panic" => panic!("the {} is out of range", "axis"),
            b"panic in a thread" => std::thread::spawn(|| panic!("first")).join().unwrap(),
            b"segfault" => segfault(),
            b"illegal" => signal("ILL"),
            b"killed" => signal("KILL"),
            b"abort" => std::process::abort(),
            b"overflow" => assert!(recurse(1) > 0),
            b"allocate" => drop(allocate()),
            b"hang" => sleep(FOR_EVER),
            b"hang with a child" => {
                #[allow(clippy::zombie_processes, reason = "the parent has to end both")]
                let child = Command::new("sleep").arg("3600").spawn().expect("sleep starts");
                eprintln!("child={}", child.id());
                sleep(FOR_EVER);
            }
            b"exit 0" => exit(0),
            b"exit 3" => {
                eprintln!("giving up");
                exit(3)
            }
            b"die later" => drop(std::thread::spawn(|| {
                sleep(Duration::from_millis(50));
                std::process::abort();
            })),
            b"wrong name" => return Ok(vec![("z".into(), case.inputs[0].1.clone())]),
            other => panic!("unknown misbehaviour {}", other.escape_ascii()),
        }
        Ok(case.inputs.to_vec())
    }
}

/// Touches memory that is not there. (A SIGSEGV that is only sent does not kill: Rust's handler for stack
/// overflows takes it first, and expects the instruction to fault again.)
#[allow(unsafe_code, reason = "a real segmentation fault")]
fn segfault() {
    // SAFETY: none; the address is in the first page, which is never mapped, and dying of it is the purpose.
    unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) }
}

/// Sends this process a signal.
fn signal(name: &str) {
    let _ = Command::new("sh").args(["-c", &format!("kill -s {name} $PPID")]).status();
    sleep(FOR_EVER);
}

#[allow(unconditional_recursion, reason = "that is the point")]
fn recurse(n: u64) -> u64 {
    std::hint::black_box([n; 512])[0] + recurse(std::hint::black_box(n + 1))
}

fn allocate() -> Vec<Vec<u8>> {
    let mut hoard: Vec<Vec<u8>> = Vec::new();
    loop {
        hoard.push(Vec::with_capacity(16 << 20));
    }
}

/// Speaks the protocol by hand, and breaks it after the handshake.
fn break_protocol(how: &str) {
    let mut lines = std::io::stdin().lock();
    let mut out = std::io::stdout().lock();
    let mut line = String::new();
    let hello = br#"{"type":"hello","protocol":1,"engine":"raw","version":"1","dtypes":{"f32":"f32"},"levels":["none"]}"#;
    lines.read_line(&mut line).expect("hello comes");
    match how {
        "future" => out.write_all(b"{\"type\":\"hello\",\"protocol\":99,\"engine\":\"\",\"version\":\"\",\"dtypes\":{},\"levels\":[]}\n"),
        "chatty" => out.write_all(b"Loading plugins...\n"),
        _ => out.write_all(hello).and_then(|()| out.write_all(b"\n")),
    }
    .and_then(|()| out.flush())
    .expect("the parent reads");
    if how == "deaf" {
        sleep(FOR_EVER);
    }
    lines.read_line(&mut line).expect("run comes");
    let reply: &[u8] = match how {
        "garbage" => b"Segmentation fault (no, not really)\n",
        "half header" => b"{\"type\":\"ok\",\"id\":1",
        "half blob" => b"{\"type\":\"ok\",\"id\":1,\"seconds\":0,\"outputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[3],\"bytes\":12}]}\n1234",
        "boast" => b"{\"type\":\"ok\",\"id\":1,\"seconds\":0,\"outputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[3],\"bytes\":9999999999999}]}\n",
        "other id" => b"{\"type\":\"rejected\",\"id\":77,\"stage\":\"run\",\"message\":\"\"}\n",
        _ => b"",
    };
    out.write_all(reply).and_then(|()| out.flush()).expect("the parent reads");
    if matches!(how, "boast" | "garbage" | "other id") {
        sleep(FOR_EVER);
    }
}

fn main() {
    let how = std::env::args().nth(1).unwrap_or_default();
    if how == "chaos" {
        serve(&mut Chaos).expect("the parent speaks the protocol");
    } else if engines::all().contains(&how.as_str()) {
        match engines::open(&how) {
            Ok(mut engine) => serve(&mut *engine).expect("the parent speaks the protocol"),
            Err(e) => {
                eprintln!("{e}");
                exit(2)
            }
        }
    } else {
        break_protocol(&how);
    }
}
