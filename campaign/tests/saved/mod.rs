//! A case folder as a campaign writes it.

use std::path::{Path, PathBuf};

use harness::{Case, case};
use interp::{Profile, Taps};
use ir::Tensor;
use ops::{Footprint, Model};
use triage::folder;

/// Writes a valid case, with its outputs under a profile, and says where.
pub(crate) fn save(at: &Path, model: Model, inputs: Vec<Tensor>, profile: &Profile) -> PathBuf {
    let evaluation = interp::evaluate(&model, &inputs, profile, Taps::Outputs).expect("a reference");
    let footprint = Footprint::of(&model).expect("few nodes");
    let case = Case {
        index: 7,
        onnx: case::export(&model).expect("a model"),
        inputs: case::named(&model, inputs),
        footprint,
        ..Case::bare(model)
    };
    let path = at.join("case-7");
    folder::save(&path, 3, &case, profile, &evaluation.outputs, &[], None).expect("a case");
    path
}
