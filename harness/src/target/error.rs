//! Why there is no target of a name.

use backends::engines::adapters::Adapter;

use crate::reference::REFERENCE;

/// Why a backend cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The worker does not start.
    #[error(transparent)]
    Worker(#[from] worker::WorkerError),
    /// The worker does not start, and the last word of its command line may be meant as a level.
    #[error(
        "{why}; if `{level}` is a level: that of a runner is a word of its own, --on '{engine} :{level}'"
    )]
    Glued {
        /// Why it does not start.
        why: Box<worker::WorkerError>,
        /// What may be its level.
        level: String,
        /// The engine without it.
        engine: String,
    },
    /// The program of one of this repository's adapters is not there.
    #[error(
        "the adapter `{}` is not here: it is in a checkout of onnxsmith, which the variable {} names; there, `{}` installs what it needs",
        adapter.name,
        worker::HOME_VARIABLE,
        adapter.set_up
    )]
    Elsewhere {
        /// The adapter.
        adapter: Adapter,
    },
    /// There is no such backend.
    #[error(
        "there is no backend `{name}`; there are {REFERENCE}, {}, the NAME of each adapters/NAME_runner* of this \
         folder or of that which {} names, and cmd:./my-runner (cargo features add more)",
        backends::engines::all().join(", "),
        worker::HOME_VARIABLE
    )]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// The engine has no such level.
    #[error("`{backend}` has no optimisation level `{level}`; it has {known}")]
    Level {
        /// The engine.
        backend: String,
        /// What was asked for.
        level: String,
        /// What there is.
        known: String,
    },
    /// The engine names an accuracy profile that does not exist.
    #[error("`{engine}` says in its hello that it keeps the accuracy profile `{name}`; there are {known}")]
    Profile {
        /// The engine.
        engine: String,
        /// What it says.
        name: String,
        /// What there is.
        known: String,
    },
}
