//! The engine that the argument names, as a worker.

use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    match backends::engines::open(&name) {
        Ok(mut engine) => {
            worker::serve(&mut *engine, Duration::ZERO).expect("the parent speaks the protocol");
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(2)
        }
    }
}
