//! Runtimes under test, in child processes.
//!
//! A runtime may segfault, abort, hang, print to its standard output or eat all memory. None of that may hurt a
//! campaign, so each runs in a process of its own, which is kept between cases: a case costs one write and one
//! read on a pipe. `docs/worker-protocol.md` is the contract between the two sides.
//!
//! ```
//! use onnxsmith_worker::protocol::{self, Request, VERSION};
//!
//! // What the parent writes first, and how the child reads it.
//! let frame = protocol::frame(&Request::Hello { protocol: VERSION, program: None }, &[])?;
//! let request: Request = protocol::read_header(&mut frame.as_slice())?;
//! assert_eq!(request, Request::Hello { protocol: VERSION, program: None });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`protocol`] | headers, frames, and their size limits: the only code both sides share |
//! | [`serve`](mod@serve) | the child's side: the [`Engine`] trait and its main loop |
//! | [`spec`] | what to start, and what it may use: [`EngineSpec`], [`Limits`] |
//! | [`pool`] | the parent's side: [`Worker`], [`Pool`] |
//! | [`outcome`] | what came of a run: [`Outcome`], [`Fault`] |
//! | `chaos` | an engine that misbehaves at set rates, to test all this (on Unix) |
//!
//! This crate knows tensors and bytes, and neither operators nor what a right answer is.

mod backtrace;
#[cfg(unix)]
pub mod chaos;
mod headers;
mod living;
pub mod outcome;
mod pipe;
pub mod pool;
mod process;
pub mod protocol;
pub mod serve;
pub mod spec;
mod sys;
mod tail;
mod watchdog;

pub use living::end_all;
pub use outcome::{Fault, FaultKind, Outcome, Run};
pub use pool::{Pool, Worker};
pub use process::set_variable;
pub use protocol::{Description, Stage};
pub use serve::{Engine, EngineError, serve};
pub use spec::{EngineSpec, HOME_VARIABLE, Limits, WorkerError};
pub use sys::outlive_size_limit;

use std::path::Path;

use ir::{Datum, Tensor, Wanted};

/// The environment variable that tells a worker how many threads its engine may use.
pub const THREADS: &str = "ONNXSMITH_THREADS";

/// How many threads an engine in this process may use.
pub fn threads() -> usize {
    std::env::var(THREADS).ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// A model as an engine gets it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source<'a> {
    /// An ONNX `ModelProto`, with all its data.
    Message(&'a [u8]),
    /// A model file with tensor data in files beside it, for a model that is too large for a message.
    File(&'a Path),
}

impl<'a> Source<'a> {
    /// The message, for an engine that takes no files.
    pub fn message(self) -> Result<&'a [u8], EngineError> {
        match self {
            Self::Message(bytes) => Ok(bytes),
            Self::File(_) => Err(EngineError::Unsupported("a model with data in files beside it".to_owned())),
        }
    }
}

/// One model, how to optimise it, its inputs, and what is wanted back.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The model.
    pub model: Source<'a>,
    /// One of [`Description::levels`].
    pub level: &'a str,
    /// The graph inputs, by name.
    pub inputs: &'a [(&'a str, Datum<&'a Tensor>)],
    /// The wanted graph outputs, in the order wanted, with the dtype the model declares. An engine that calculates
    /// in another dtype converts back to this one.
    pub outputs: &'a [Wanted],
}

impl<'a> Case<'a> {
    /// The graph inputs, for an engine that takes tensors alone.
    pub fn tensors(&self) -> Result<Vec<(&'a str, &'a Tensor)>, EngineError> {
        let tensor = |(name, datum): &(&'a str, Datum<&'a Tensor>)| match datum {
            Datum::Tensor(tensor) => Ok((*name, *tensor)),
            Datum::Sequence(_) | Datum::Optional(_) | Datum::Strings(_) => {
                Err(EngineError::Unsupported(format!("input `{name}` is no tensor")))
            }
        };
        self.inputs.iter().map(tensor).collect()
    }
}
