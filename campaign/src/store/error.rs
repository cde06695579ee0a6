//! What can be wrong with a campaign's folder. Which flag helps, the command line says.
//!
//! None of these destroys anything: a block is stored whole or not at all, and a folder that is not understood is left as
//! it is.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::place::BadPlace;

/// Why a campaign cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is one already.
    #[error("{} already holds a campaign", folder.display())]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// There is one where another is to be made of parts, and that is not gone on with.
    #[error("{} already holds a campaign", folder.display())]
    Occupied {
        /// The folder.
        folder: PathBuf,
    },
    /// Parts are to be merged into one of them.
    #[error("{} is one of the parts that are merged", folder.display())]
    IntoPart {
        /// The folder.
        folder: PathBuf,
    },
    /// There is none.
    #[error("{} holds no campaign: there is no {} in it", folder.display(), super::FILE)]
    Missing {
        /// The folder.
        folder: PathBuf,
    },
    /// Another process is writing to it.
    #[error("another process is running the campaign in {}", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The database is not what it should be.
    #[error("{} is damaged ({why}) and was left as it is; the cases beside it can still be run", file.display())]
    Damaged {
        /// The database.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The campaign was written by another version of this program.
    #[error(
        "{} has version {found} of the schema and this program has version {}; use the onnxsmith that wrote it",
        file.display(), super::schema::VERSION
    )]
    Version {
        /// The database.
        file: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The campaign is of another kind.
    #[error("{} holds another campaign:\n    {}", folder.display(), differences.join("\n    "))]
    Differs {
        /// The folder.
        folder: PathBuf,
        /// What differs.
        differences: Vec<String>,
    },
    /// Parts of a campaign do not make a whole.
    #[error("{} cannot be merged: {why}", folder.display())]
    Parts {
        /// A part.
        folder: PathBuf,
        /// Why.
        why: String,
    },
    /// A merged campaign is a result, not a place to go on.
    #[error("{} was merged from parts and cannot be continued; continue the parts and merge them again", folder.display())]
    Merged {
        /// The folder.
        folder: PathBuf,
    },
    /// There is no room.
    #[error("the disk is full: cannot write to {}; what was stored is safe", path.display())]
    Full {
        /// The file or folder.
        path: PathBuf,
    },
    /// The campaign may not be written to.
    #[error("{} cannot be written to: the folder or the file system is read-only", path.display())]
    ReadOnly {
        /// The file or folder.
        path: PathBuf,
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
    /// A case cannot be saved.
    #[error(transparent)]
    Case(onnx::Error),
    /// SQLite refused.
    #[error("{}: {source}", file.display())]
    Database {
        /// The database.
        file: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// For `map_err` on file-system calls.
    pub(super) fn io<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + use<'a> {
        move |source| Self::from_io(action, path.to_owned(), source)
    }

    /// For `map_err` on calls of SQLite.
    pub(super) fn sql(file: &Path) -> impl Fn(rusqlite::Error) -> Self + use<'_> {
        move |source| {
            let file = file.to_owned();
            match source.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => Self::Full { path: file },
                Some(ErrorCode::ReadOnly) => Self::ReadOnly { path: file },
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                    Self::Damaged { file, why: source.to_string() }
                }
                _ if matches!(source, rusqlite::Error::FromSqlConversionFailure(..)) => {
                    Self::Damaged { file, why: source.to_string() }
                }
                _ => Self::Database { file, source },
            }
        }
    }

    /// For `map_err` on what the database says of files.
    pub(super) fn place(file: &Path) -> impl Fn(BadPlace) -> Self + use<'_> {
        move |e| Self::Damaged { file: file.to_owned(), why: e.to_string() }
    }

    /// For `map_err` on JSON in the database.
    pub(super) fn json(file: &Path) -> impl Fn(serde_json::Error) -> Self + use<'_> {
        move |e| Self::Damaged { file: file.to_owned(), why: e.to_string() }
    }

    fn from_io(action: &'static str, path: PathBuf, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Self::ReadOnly { path },
            _ => Self::Io { action, path, source },
        }
    }
}

impl From<onnx::Error> for StoreError {
    fn from(error: onnx::Error) -> Self {
        match error {
            onnx::Error::Io { action, path, source } => Self::from_io(action, path, source),
            error => Self::Case(error),
        }
    }
}
