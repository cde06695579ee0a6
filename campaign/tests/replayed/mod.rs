//! Cases that an engine has its own way with, run once more.

use std::path::Path;

use harness::Target;
use onnx::program::Program;
use onnxsmith_campaign::replay::{NotPassing, Replay, replay};

use crate::having::Having;

/// What an engine does not pass of a case.
pub(crate) fn not_passing(path: &Path, wrong: fn(&Program) -> Option<Program>) -> Vec<NotPassing> {
    let targets = Target::here(Box::new(Having(wrong)));
    let how = Replay { seed: 1, ..Replay::on(&targets) };
    replay(&[path.to_owned()], &how, &|| {}).not_passing
}
