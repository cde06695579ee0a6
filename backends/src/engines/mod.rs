//! Engines: our own backends and adapters to real ONNX runtimes, each run in a [worker](mod@worker) process.
//!
//! An adapter loads, runs and converts; it decides nothing. Where a runtime calculates in another dtype than the
//! model's, the adapter says so in its [`Description`](worker::Description) and converts both ways, so
//! that an oracle can allow for it. Foreign runtimes are behind cargo features.

pub mod adapters;
pub mod gpu;
pub mod models;
#[cfg(feature = "ort")]
pub mod ort;
#[cfg(feature = "oxionnx")]
mod oxionnx;
#[cfg(feature = "rten")]
mod rten;
#[cfg(feature = "tract")]
mod tract;

#[cfg(feature = "oxionnx")]
pub use self::oxionnx::Oxionnx;
#[cfg(feature = "rten")]
pub use self::rten::Rten;
#[cfg(feature = "tract")]
pub use self::tract::Tract;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use worker::Engine;

/// The environment variable that names ONNX Runtime's shared library. The field's usual name: the crate `ort` and
/// others use it.
pub const ORT_LIBRARY: &str = "ORT_DYLIB_PATH";

/// The shared library of Python's package onnxruntime, where `scripts/python-env` puts it in a checkout.
pub fn ort_library(checkout: &Path) -> Option<PathBuf> {
    let entries = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let pythons = entries(checkout.join(".venv/lib"));
    let mut files = pythons.flat_map(|python| entries(python.path().join("site-packages/onnxruntime/capi")));
    let is_library = |name: &OsStr| name.to_string_lossy().starts_with("libonnxruntime.");
    files.find(|file| is_library(&file.file_name())).map(|file| file.path())
}

/// The names of the engines that are built in, our own first.
pub const fn all() -> &'static [&'static str] {
    &[
        "cpu",
        gpu::NAME,
        #[cfg(feature = "rten")]
        "rten",
        #[cfg(feature = "tract")]
        "tract",
        #[cfg(feature = "ort")]
        ort::NAME,
        #[cfg(feature = "oxionnx")]
        "oxionnx",
    ]
}

/// What a built-in engine needs that this program does not bring, and a machine may lack.
pub fn needs(name: &str) -> Option<&'static str> {
    match name {
        _ if gpu::adapter(name).is_some() => Some("a GPU adapter"),
        #[cfg(feature = "ort")]
        ort::NAME => Some("ONNX Runtime's shared library"),
        _ => None,
    }
}

/// The cargo features that add engines and are off.
pub const fn left_out() -> &'static [&'static str] {
    &[
        #[cfg(not(feature = "rten"))]
        "rten",
        #[cfg(not(feature = "tract"))]
        "tract",
        #[cfg(not(feature = "ort"))]
        "ort",
        #[cfg(not(feature = "oxionnx"))]
        "oxionnx",
    ]
}

/// Why an engine cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No engine of that name is built in.
    #[error("no engine `{0}` is built in")]
    Unknown(String),
    /// A name that ends where that of an adapter begins.
    #[error(
        "`{0}` names no adapter: its position or a part of its name is missing, as in {0}0 or {0}llvmpipe"
    )]
    NoAdapterNamed(String),
    /// There is no usable GPU.
    #[error(transparent)]
    Gpu(#[from] crate::wgpu::GpuError),
    /// There is no shared library of ONNX Runtime.
    #[cfg(feature = "ort")]
    #[error(transparent)]
    Ort(#[from] ort::LibraryError),
}

/// The built-in engine of that name; of our GPU kernels also `wgpu@` and an adapter.
pub fn open(name: &str) -> Result<Box<dyn Engine>, OpenError> {
    if let Some(which) = gpu::adapter(name) {
        return Ok(Box::new(models::OnModels::new(gpu::GpuRunner::open(name, &which)?)));
    }
    match name {
        "cpu" => Ok(Box::new(crate::cpu::CpuEngine::default())),
        #[cfg(feature = "rten")]
        "rten" => Ok(Box::new(Rten::default())),
        #[cfg(feature = "tract")]
        "tract" => Ok(Box::new(Tract::default())),
        #[cfg(feature = "ort")]
        ort::NAME => Ok(Box::new(ort::Ort::open()?)),
        #[cfg(feature = "oxionnx")]
        "oxionnx" => Ok(Box::new(Oxionnx)),
        _ if gpu::names_no_adapter(name) => Err(OpenError::NoAdapterNamed(name.to_owned())),
        _ => Err(OpenError::Unknown(name.to_owned())),
    }
}
