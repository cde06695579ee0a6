//! The `onnxsmith` command.

mod args;
mod board;
mod bounds;
mod commands;
mod runtime_dir;
mod screen;

use std::process::ExitCode;

use clap::Parser;

/// What a command found, as an exit code that scripts can rely on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exit {
    /// 0: nothing is wrong.
    Clean,
    /// 1: something was found.
    Findings,
}

fn main() -> ExitCode {
    let args = args::Args::parse();
    if args.command.looks_for_a_device() {
        runtime_dir::provide();
    }
    match commands::run(args) {
        Ok(Exit::Clean) => ExitCode::SUCCESS,
        Ok(Exit::Findings) => ExitCode::from(1),
        // Nobody watches the board any more.
        Err(e) if is_broken_pipe(&e) => ExitCode::SUCCESS,
        Err(e) => {
            screen::say(&format!("onnxsmith: {}", message(&e)));
            ExitCode::from(2)
        }
    }
}

/// An error with its causes, each said once: many say their cause themselves.
fn message(e: &anyhow::Error) -> String {
    e.chain()
        .map(ToString::to_string)
        .reduce(|all, cause| if all.ends_with(&cause) { all } else { format!("{all}: {cause}") })
        .unwrap_or_default()
}

fn is_broken_pipe(e: &anyhow::Error) -> bool {
    e.chain()
        .filter_map(|c| c.downcast_ref::<std::io::Error>())
        .any(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
