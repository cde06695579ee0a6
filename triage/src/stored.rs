//! Saved cases of any kind: folders in the layout of ONNX's backend tests, lone models, and findings that are written up.

use std::path::{Path, PathBuf};

use onnx::case::{DataSet, MODEL};
use onnx::external::MESSAGE;
use onnx::program::Program;
use onnx::proto::decode_shared;
use onnx::{Bytes, CaseFolder};

use harness::memory;

use crate::known::{FILE, WriteUp};

/// A model may take one part in so many of the free memory: its tensors are a second copy, and whoever runs it has
/// more.
const SHARE: u64 = 4;

/// Reads a case. The folder of a written-up finding gives the case in its file.
pub fn read(path: &Path) -> Result<CaseFolder, onnx::Error> {
    let written_up = path.join(FILE);
    if written_up.is_file() {
        return WriteUp::read(&written_up)?.case.folder(path);
    }
    CaseFolder::read_within(path, (memory::available() / SHARE).max(MESSAGE))
}

/// The size in bytes of the largest of some models.
pub fn largest(cases: &[PathBuf]) -> u64 {
    cases.iter().map(|path| onnx::case::size(path)).max().unwrap_or(0)
}

/// The cases that [`read`] takes at or below the given paths.
pub fn find<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<PathBuf>, onnx::Error> {
    onnx::case::find(paths, &[MODEL, FILE])
}

/// A model without the defaults of inputs that have other values, as an engine sees it that makes constants of
/// defaults. `None` if the model has no such input, or cannot be read.
pub fn without_overridden_defaults(model: &Bytes, set: &DataSet) -> Option<Bytes> {
    let program = decode_shared("model", model).and_then(Program::read).ok()?;
    let is_given = |name: &str| set.inputs.iter().any(|input| input.name == name);
    Some(onnx::encode(&program.without_overridden_defaults(is_given)?.write()).into())
}
