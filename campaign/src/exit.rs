//! What the exit code of `onnxsmith` says.

use std::process::ExitCode;

/// The exit codes of every command of `onnxsmith`, for scripts, and for programs that start it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Exit {
    /// 0: all that was asked was done, and nothing is wrong.
    Clean = 0,
    /// 1: all that was asked was done, and something was found that is not known.
    Findings = 1,
    /// 2: what was asked could not be done: wrong arguments, a file that cannot be read, an engine that does not start,
    /// nothing to compare.
    Failed = 2,
    /// 130: a signal ended the command before all that was asked was done, and nothing had been found until then. Shells give
    /// this number to a program that Ctrl-C ended.
    Interrupted = 130,
}

/// How a command ended that looks for something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchEnd {
    /// Whether it found anything.
    pub has_found: bool,
    /// Whether a signal stopped it early.
    pub was_interrupted: bool,
}

impl Exit {
    /// The exit code of a command that looks for something.
    pub const fn of(SearchEnd { has_found, was_interrupted }: SearchEnd) -> Self {
        match (has_found, was_interrupted) {
            (true, _) => Self::Findings,
            (false, true) => Self::Interrupted,
            (false, false) => Self::Clean,
        }
    }

    /// The number that the process ends with.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
