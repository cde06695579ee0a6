//! Reads files about known findings. Errors have the line of what is wrong.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// Why a list of known findings, or one that is written up, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KnownError {
    /// The file cannot be read.
    #[error("{}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file does not say what it should.
    #[error("{}:{line}: {why}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

impl From<KnownError> for onnx::Error {
    fn from(e: KnownError) -> Self {
        match e {
            KnownError::Read { file, source } => Self::Io { action: "read", path: file, source },
            KnownError::Content { file, line, why } => {
                Self::invalid(format!("{}:{line}", file.display()), why)
            }
        }
    }
}

/// The most bytes of a file. A device may give bytes without end.
const MOST: u64 = 64 << 20;

/// The text of a file.
pub(super) fn text_of(file: &Path) -> Result<String, KnownError> {
    let read = || {
        let mut text = String::new();
        File::open(file)?.take(MOST + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MOST {
            return Err(io::Error::other(format!("it has more than {MOST} bytes")));
        }
        Ok(text)
    };
    read().map_err(|source| KnownError::Read { file: file.to_owned(), source })
}

/// What a text in TOML says; `file` is for messages.
pub(super) fn read<T: DeserializeOwned>(text: &str, file: &Path) -> Result<T, KnownError> {
    toml::from_str(text).map_err(|e| wrong(text, file, e.span().map_or(0, |s| s.start), e.message()))
}

/// The error for something that is wrong at a byte of a text.
pub(super) fn wrong(text: &str, file: &Path, at: usize, why: impl Into<String>) -> KnownError {
    KnownError::Content { file: file.to_owned(), line: line_of(text, at), why: why.into() }
}

/// The line of a byte of a text, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + text.get(..at).unwrap_or_default().matches('\n').count()
}
