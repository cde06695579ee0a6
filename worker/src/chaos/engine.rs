//! What goes wrong in the engine, before there is an answer.
#![allow(unsafe_code, reason = "a real segmentation fault and signals cannot be had without")]

use std::cell::Cell;
use std::process::{Command, exit};
use std::rc::Rc;
use std::thread::{self, sleep};
use std::time::Duration;

use ir::{Datum, Tensor, Type};

use super::reply::Replies;
use super::{LACK, Misbehaviour, Rates};
use crate::protocol::FrameError;
use crate::serve::{catch_panics, serve_on};
use crate::{Case, Description, Engine, EngineError, sys};

/// Longer than any time-out of a test.
pub(super) const FOR_EVER: Duration = Duration::from_hours(1);

/// How much memory is taken at a time.
const CHUNK: usize = 16 << 20;

/// The end of patience where nobody limits memory.
const MOST_MEMORY: usize = 16 << 30;

/// Which misbehaviour a case is to meet.
pub type Choice<'a> = &'a dyn Fn(&Case<'_>) -> Option<Misbehaviour>;

/// An engine in bad company.
struct Chaos<'a> {
    choice: Choice<'a>,
    right: &'a mut dyn Engine,
    pause: Duration,
    /// What is to be done with the next reply.
    next: Rc<Cell<Option<Misbehaviour>>>,
}

/// Serves an engine over standard input and output, and misbehaves as planned.
pub fn serve(right: &mut dyn Engine, rates: &Rates) -> Result<(), FrameError> {
    serve_with(right, &|case| rates.of(case), rates.pause)
}

/// Serves an engine over standard input and output, and misbehaves as chosen; late answers come after `pause`.
pub fn serve_with(right: &mut dyn Engine, choice: Choice<'_>, pause: Duration) -> Result<(), FrameError> {
    let (input, output) = sys::claim_stdio()?;
    catch_panics();
    let next = Rc::new(Cell::new(None));
    let replies = Replies::new(output, Rc::clone(&next), pause);
    let mut chaos = Chaos { choice, right, pause, next };
    serve_on(&mut chaos, Duration::ZERO, input, replies)
}

impl Engine for Chaos<'_> {
    fn describe(&self) -> Description {
        Description { engine: "chaos".into(), ..self.right.describe() }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let planned = (self.choice)(case);
        self.next.set(planned);
        if let Some(misbehaviour) = planned {
            self.misbehave(misbehaviour)?;
        }
        let outputs = self.right.run(case)?;
        Ok(match planned {
            Some(Misbehaviour::OtherShape) => {
                outputs.into_iter().map(|(n, v)| (n, v.map(|t| with_an_axis(&t)))).collect()
            }
            Some(Misbehaviour::OtherNames) => outputs.into_iter().map(|(n, v)| (n + "?", v)).collect(),
            _ => outputs,
        })
    }
}

impl Chaos<'_> {
    /// Does what is to be done before the answer; the rest is done to the reply ([`Replies`]).
    fn misbehave(&self, misbehaviour: Misbehaviour) -> Result<(), EngineError> {
        use Misbehaviour as M;
        match misbehaviour {
            M::Segfault => segfault(),
            M::Illegal => raise(libc::SIGILL),
            M::Killed => raise(libc::SIGKILL),
            M::Abort => std::process::abort(),
            M::Overflow => assert!(recurse(1) > 0),
            M::Memory => eat(),
            M::Panic => panic!("the {} is out of range", "axis"),
            M::PanicInThread => thread::spawn(|| panic!("first")).join().expect("a second panic"),
            M::Exit => exit(0),
            M::ExitWithWords => {
                eprintln!("giving up");
                exit(3)
            }
            M::Hang => sleep(FOR_EVER),
            M::HangWithChild => {
                #[allow(clippy::zombie_processes, reason = "whoever kills this process ends both")]
                let child = Command::new("sleep").arg("3600").spawn().expect("sleep starts");
                eprintln!("child={}", child.id());
                sleep(FOR_EVER);
            }
            M::Late => sleep(self.pause),
            M::Reject => return Err(EngineError::Load("no such attribute".into())),
            M::Lack => return Err(EngineError::Unsupported(LACK.into())),
            M::Flood => (0..20_000).for_each(|i| eprintln!("warning {i}: all is well, as it was before")),
            M::Print => println!("{{\"type\":\"this must not become a header\"}}"),
            // In the answer, or after it.
            M::LeaveChild
            | M::LeaveStranger
            | M::Close
            | M::Garbage
            | M::Half
            | M::LongHeader
            | M::Boast
            | M::OtherId
            | M::OtherNames
            | M::OtherShape
            | M::Twice
            | M::DieLater => {}
        }
        Ok(())
    }
}

/// A tensor's elements with one more axis.
fn with_an_axis(tensor: &Tensor) -> Tensor {
    let mut ty: Type = tensor.ty();
    ty.shape.insert(0, 1);
    Tensor::from_bytes(&ty, &tensor.to_bytes()).expect("an axis of size 1 changes no size")
}

/// Touches memory that is not there. (A SIGSEGV that is only sent does not kill: Rust's handler for stack
/// overflows takes it first, and expects the instruction to fault again.)
fn segfault() {
    // SAFETY: none; the address is in the first page, which is never mapped, and dying of it is the purpose.
    unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) }
}

/// Sends this process a signal that ends it.
fn raise(signal: libc::c_int) {
    // SAFETY: raise(3) touches no memory.
    unsafe { libc::raise(signal) };
}

#[allow(unconditional_recursion, reason = "that is the point")]
fn recurse(n: u64) -> u64 {
    std::hint::black_box([n; 512])[0] + recurse(std::hint::black_box(n + 1))
}

/// Takes memory until the allocator gives up. It is not used: what is limited is what it could write to, and using gigabytes
/// would take longer than a time-out.
fn eat() {
    let mut hoard: Vec<Vec<u8>> = Vec::new();
    loop {
        hoard.push(Vec::with_capacity(CHUNK));
        assert!(hoard.len() * CHUNK < MOST_MEMORY, "nobody limits memory here");
    }
}
