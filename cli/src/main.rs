//! The `onnxsmith` command.

mod advice;
mod args;
mod board;
mod bounds;
mod commands;
mod destination;
mod interrupts;
mod progress;
mod runtime_dir;
mod screen;
mod value;

use std::process::ExitCode;

use campaign::Exit;
use clap::Parser;
use harness::probe::ProbeError;
use mimalloc::MiMalloc;

/// Graphs are many small things that do not live long: making models takes a tenth less time than with the C library's.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// What the allocator reserves at the start, a gigabyte, is not made writable before it is needed: a worker may have so much of
/// what it can write to, and its runtime allocates elsewhere.
const COMMIT_LATE: (&str, &str) = ("MIMALLOC_ARENA_EAGER_COMMIT", "0");

fn main() -> ExitCode {
    worker::outlive_size_limit();
    worker::set_variable(COMMIT_LATE.0, COMMIT_LATE.1);
    let args = args::Args::parse();
    if args.command.looks_for_a_device() {
        runtime_dir::provide();
    }
    match commands::run(args) {
        Ok(exit) => exit.into(),
        Err(e) => {
            screen::say(&format!("onnxsmith: {}", message(&e)));
            exit(&e).into()
        }
    }
}

/// The exit code for an error: a signal that ended a command early is no failure.
fn exit(e: &anyhow::Error) -> Exit {
    match e.downcast_ref() {
        Some(ProbeError::Stopped { .. }) => Exit::Interrupted,
        Some(ProbeError::Worker(_)) | None => Exit::Failed,
    }
}

/// An error with its causes, each said once: many say their cause themselves.
fn message(e: &anyhow::Error) -> String {
    e.chain()
        .map(advice::with_advice)
        .reduce(|all, cause| if all.ends_with(&cause) { all } else { format!("{all}: {cause}") })
        .unwrap_or_default()
}
