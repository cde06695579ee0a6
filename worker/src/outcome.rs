//! What came of running a case in a worker.

use std::cmp::Ordering;
use std::fmt;

use ir::{Datum, Tensor};
use serde::{Deserialize, Serialize};

use super::protocol::Stage;
use super::serve::EngineError;

/// A case's outcome and what it took.
#[derive(Clone, Debug)]
pub struct Run {
    /// What came of it.
    pub outcome: Outcome,
    /// The seconds the engine itself took, as the worker measured them; where it did not answer, all that passed.
    pub engine_seconds: f64,
    /// The seconds from sending the case to having its outcome and the outcomes of the cases that were sent
    /// with it. Starting a new process is not counted.
    pub wall_seconds: f64,
    /// The end of what the engine wrote to its standard error during this case and the cases that were sent
    /// with it.
    pub stderr: String,
    /// Faults that are not this case's, which a fresh worker ran: the worker had died since the former case, or did
    /// not survive this one although a fresh one does, or both. A former case is to blame, or how they add up.
    pub late_faults: Vec<Fault>,
}

impl Run {
    /// An outcome that took no time.
    pub fn of(outcome: Outcome) -> Self {
        Self {
            outcome,
            engine_seconds: 0.0,
            wall_seconds: 0.0,
            stderr: String::new(),
            late_faults: Vec::new(),
        }
    }

    /// Whether it did not end in time.
    pub fn has_hung(&self) -> bool {
        self.outcome == Outcome::Fault(Fault::Timeout)
    }

    /// The run of a case that had a fault when it ran before; where this one has none of its kind, that was no fault of the case.
    pub(super) fn beside(mut self, before: Fault) -> Self {
        let is_its_own = matches!(&self.outcome, Outcome::Fault(own) if own.kind() == before.kind());
        if !is_its_own {
            self.late_faults.push(before);
        }
        self
    }
}

/// What an engine made of a case.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The graph outputs, by name. An output that is no tensor is there as its [parts](ir::Datum::parts).
    Outputs(Vec<(String, Tensor)>),
    /// A clean error: the engine says that the model or its inputs are wrong.
    Rejected {
        /// Where it said so.
        stage: Stage,
        /// Its message.
        message: String,
    },
    /// The engine says that it lacks something the case needs.
    Unsupported {
        /// What it lacks.
        why: String,
    },
    /// The engine misbehaved.
    Fault(Fault),
}

impl Outcome {
    /// What an engine gives.
    pub fn of_values(values: Vec<(String, Datum)>) -> Self {
        Self::Outputs(values.into_iter().flat_map(|(name, value)| value.parts(&name)).collect())
    }
}

impl From<EngineError> for Outcome {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Load(message) => Self::Rejected { stage: Stage::Load, message },
            EngineError::Run(message) => Self::Rejected { stage: Stage::Run, message },
            EngineError::Unsupported(why) => Self::Unsupported { why },
            EngineError::Internal(message) => {
                Self::Fault(Fault::Panic { message, location: String::new(), frames: Vec::new() })
            }
        }
    }
}

/// A way to misbehave that no valid or invalid model excuses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A Rust panic (or the like, in other languages) that the worker survived.
    Panic {
        /// The panic's message.
        message: String,
        /// `file:line:column`, empty where unknown.
        location: String,
        /// The innermost frames, normalised: no hashes, no addresses; empty where unknown.
        frames: Vec<String>,
    },
    /// A signal ended the process.
    Signal {
        /// The number on this platform.
        number: i32,
        /// Its name, such as `SIGSEGV`.
        name: &'static str,
    },
    /// The stack overflowed.
    StackOverflow,
    /// The process ended by itself without an answer.
    Exit {
        /// Its exit code.
        code: i32,
    },
    /// No answer within the time limit.
    Timeout,
    /// The process ran into the memory limit, or the system's.
    Memory,
    /// The answer breaks the worker protocol.
    Garbage {
        /// In which way.
        what: String,
        /// The line that came instead of a header, or its beginning. Empty if the fault is another one.
        line: String,
    },
}

impl Fault {
    /// The kind of fault.
    pub const fn kind(&self) -> FaultKind {
        match self {
            Self::Panic { .. } => FaultKind::Panic,
            Self::Signal { .. } => FaultKind::Signal,
            Self::StackOverflow => FaultKind::StackOverflow,
            Self::Exit { .. } => FaultKind::Exit,
            Self::Timeout => FaultKind::Timeout,
            Self::Memory => FaultKind::Memory,
            Self::Garbage { .. } => FaultKind::Garbage,
        }
    }
}

/// The kind of a [`Fault`]. Its name is a word of signatures, reports and stored findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// A panic.
    Panic,
    /// A signal.
    Signal,
    /// A stack overflow.
    StackOverflow,
    /// An exit without an answer.
    Exit,
    /// No answer in time.
    Timeout,
    /// Too much memory.
    Memory,
    /// A broken protocol.
    Garbage,
}

impl FaultKind {
    /// The kind in one word, which never changes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Panic => "panic",
            Self::Signal => "signal",
            Self::StackOverflow => "stack-overflow",
            Self::Exit => "exit",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::Garbage => "garbage",
        }
    }
}

impl Ord for FaultKind {
    /// By name, in which order reports list what they count by kind.
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for FaultKind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic { message, location, .. } if location.is_empty() => write!(f, "panicked: {message}"),
            Self::Panic { message, location, .. } => write!(f, "panicked at {location}: {message}"),
            Self::Signal { number, name } => write!(f, "ended by signal {number} ({name})"),
            Self::StackOverflow => f.write_str("overflowed its stack"),
            Self::Exit { code } => write!(f, "exited with code {code} instead of answering"),
            Self::Timeout => f.write_str("did not answer in time"),
            Self::Memory => f.write_str("ran out of memory"),
            Self::Garbage { what, line } if line.is_empty() => write!(f, "broke the worker protocol: {what}"),
            Self::Garbage { what, line } => write!(f, "broke the worker protocol: {what}, got {line}"),
        }
    }
}
