//! Finding and loading ONNX Runtime's shared library.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::error::Error as _;
use std::ffi::CStr;
use std::path::{Path, PathBuf};

use ::ort::LoadDynamicError;
use ::ort::environment::Environment;
use ::ort::sys::OrtApiBase;
use libloading::{Library, Symbol};

use crate::engines::ORT_LIBRARY as VARIABLE;

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// None is named, and none is installed.
    #[error(
        "{VARIABLE} is not set, and the system's loader finds no {name} ({why}); name ONNX Runtime's shared library \
         with --ort-lib or {VARIABLE}. Python's package onnxruntime holds one: see docs/engines.md"
    )]
    NotFound {
        /// The file that was looked for.
        name: String,
        /// What the loader says.
        why: String,
    },
    /// The one that is named is none, or too old.
    #[error("`{}`, which --ort-lib or else {VARIABLE} names, cannot be used: {why}", path.display())]
    Unusable {
        /// What was named.
        path: PathBuf,
        /// Why it does not load.
        why: String,
    },
    /// The library loads, but does not start.
    #[error("ONNX Runtime does not start: {0}")]
    Start(#[from] ::ort::Error),
}

/// The library's environment, and its version.
pub(super) fn load() -> Result<(Environment, String), LibraryError> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let builder = match &named {
        // The crate takes relative paths from the executable's folder first; everyone else from the working one.
        Some(path) => ::ort::init_from(std::path::absolute(path).unwrap_or_else(|_| path.clone()))
            .map_err(|e| LibraryError::Unusable { path: path.clone(), why: reason(&e) }),
        None => ::ort::init_from(default_name())
            .map_err(|e| LibraryError::NotFound { name: default_name(), why: reason(&e) }),
    };
    let environment = builder?.with_name("onnxsmith").with_telemetry(false).build()?;
    let version = version(&named.unwrap_or_else(|| default_name().into()));
    Ok((environment, version.unwrap_or_else(|| "unknown".to_owned())))
}

/// What is wrong with a library. Of a failed `dlopen` the crate tells only that it failed.
fn reason(error: &LoadDynamicError) -> String {
    let cause = match error {
        LoadDynamicError::Dlopen { error, .. } => error.source(),
        _ => None,
    };
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}

/// What the library is called where it is installed system-wide.
fn default_name() -> String {
    format!("{DLL_PREFIX}onnxruntime{DLL_SUFFIX}")
}

/// The library's version. The crate does not tell it; opening a library twice costs nothing.
#[allow(unsafe_code, reason = "the C API")]
fn version(path: &Path) -> Option<String> {
    // SAFETY: the library has been loaded already, so that no code runs; its entry point has this signature, which
    // never changes, and returns a static structure whose version is a static string.
    unsafe {
        let library = Library::new(path).ok()?;
        let entry: Symbol<'_, unsafe extern "system" fn() -> *const OrtApiBase> =
            library.get(b"OrtGetApiBase").ok()?;
        let base = entry().as_ref()?;
        Some(CStr::from_ptr((base.GetVersionString)()).to_str().ok()?.to_owned())
    }
}
