//! Adapters to real ONNX runtimes, each behind a cargo feature, each run in a [worker](crate::worker) process.
//!
//! An adapter loads, runs and converts; it decides nothing. Where a runtime calculates in another dtype than the
//! model's, the adapter says so in its [`Description`](crate::worker::Description) and converts both ways, so
//! that an oracle can allow for it.

#[cfg(feature = "rten")]
mod rten;
#[cfg(feature = "tract")]
mod tract;

#[cfg(feature = "rten")]
pub use self::rten::Rten;
#[cfg(feature = "tract")]
pub use self::tract::Tract;

use crate::worker::Engine;

/// The names of the engines that are built in.
pub const fn all() -> &'static [&'static str] {
    &[
        #[cfg(feature = "rten")]
        "rten",
        #[cfg(feature = "tract")]
        "tract",
    ]
}

/// The built-in engine of that name; `None` where it is not built in.
pub fn open(name: &str) -> Option<Box<dyn Engine>> {
    match name {
        #[cfg(feature = "rten")]
        "rten" => Some(Box::new(Rten::default())),
        #[cfg(feature = "tract")]
        "tract" => Some(Box::new(Tract::default())),
        _ => None,
    }
}
