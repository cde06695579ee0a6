//! What can go wrong between ONNX's bytes and our types.

use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be read or written. Invalid is the file's fault, unsupported is ours, and neither says
/// anything about a runtime under test.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input breaks ONNX's own rules.
    #[error("invalid {what}: {why}")]
    Invalid {
        /// The thing, by name.
        what: String,
        /// The broken rule.
        why: String,
    },
    /// The input is legal ONNX that this program does not handle.
    #[error("unsupported {what}: {why}")]
    Unsupported {
        /// The thing, by name.
        what: String,
        /// What is not handled.
        why: String,
    },
    /// The file system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl Error {
    /// [`Error::Invalid`] from anything printable.
    pub fn invalid(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), why: why.into() }
    }

    /// [`Error::Unsupported`] from anything printable.
    pub fn unsupported(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into(), why: why.into() }
    }

    /// This error, with the thing that contains `what` added to its name.
    #[must_use]
    pub fn inside(self, container: impl std::fmt::Display) -> Self {
        match self {
            Self::Invalid { what, why } => Self::Invalid { what: format!("{what} in {container}"), why },
            Self::Unsupported { what, why } => {
                Self::Unsupported { what: format!("{what} in {container}"), why }
            }
            io @ Self::Io { .. } => io,
        }
    }

    /// For `map_err` on file-system calls.
    pub(crate) fn io<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + use<'a> {
        move |source| Self::Io { action, path: path.to_path_buf(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_the_thing_and_what_contains_it() {
        let error = Error::invalid("tensor `w`", "too few bytes").inside("model.onnx");
        assert_eq!(error.to_string(), "invalid tensor `w` in model.onnx: too few bytes");
        let error = Error::unsupported("tensor `w`", "strings").inside("model.onnx");
        assert_eq!(error.to_string(), "unsupported tensor `w` in model.onnx: strings");
    }
}
