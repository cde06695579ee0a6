//! A case folder as a campaign writes it.

use std::path::{Path, PathBuf};

use harness::validity::Validity;
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
        program: None,
        forms: Vec::new(),
        composites: Vec::new(),
        unseen: std::collections::BTreeSet::new(),
        inputs: case::named(&model, inputs),
        model,
        all_defined: true,
        open: 0.0,
        adversarial: false,
        edges: Vec::new(),
        rejected: 0,
        passed_over: 0,
        refused: 0,
        footprint,
        level: Validity::Valid,
        relaxed: None,
    };
    let path = at.join("case-7");
    folder::save(&path, 3, &case, profile, &evaluation.outputs, &[], None).expect("a case");
    path
}
