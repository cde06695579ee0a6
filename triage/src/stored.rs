//! Saved cases of any kind: folders in the layout of ONNX's backend tests, lone models, and findings that are written up.

use std::path::{Path, PathBuf};

use onnx::CaseFolder;
use onnx::case::MODEL;

use crate::known::{FILE, WriteUp};

/// Reads a case. A finding that is written up gives the case that is in its file.
pub fn read(path: &Path) -> Result<CaseFolder, onnx::Error> {
    let written_up = path.join(FILE);
    if written_up.is_file() { WriteUp::read(&written_up)?.case.folder(path) } else { CaseFolder::read(path) }
}

/// The cases that [`read`] takes at or below the given paths.
pub fn find<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<PathBuf>, onnx::Error> {
    onnx::case::find(paths, &[MODEL, FILE])
}
