//! Models on their way to an engine in another process.

use std::path::PathBuf;

use onnx::external::{MESSAGE, spill};
use tempfile::TempDir;
use worker::{Source, WorkerError};

/// A model as it is sent: as a file, where it is too large for a message.
pub(crate) enum Sent<'a> {
    Message(&'a [u8]),
    /// The file, in a folder that is removed when it is no longer needed.
    File {
        path: PathBuf,
        _folder: TempDir,
    },
}

impl<'a> Sent<'a> {
    /// A model, written to a folder of its own if it must be.
    pub(crate) fn of(onnx: &'a [u8]) -> Result<Self, WorkerError> {
        if onnx.len() as u64 <= MESSAGE {
            return Ok(Self::Message(onnx));
        }
        let failed = |e: &dyn std::fmt::Display| WorkerError::Spill(e.to_string());
        let folder = tempfile::Builder::new().prefix("onnxsmith-").tempdir().map_err(|e| failed(&e))?;
        let path = spill(onnx, folder.path()).map_err(|e| failed(&e))?;
        Ok(Self::File { path, _folder: folder })
    }

    pub(crate) fn source(&self) -> Source<'_> {
        match self {
            Self::Message(bytes) => Source::Message(bytes),
            Self::File { path, .. } => Source::File(path),
        }
    }
}
