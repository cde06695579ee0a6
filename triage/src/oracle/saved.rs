//! A saved case, to be asked about once more.

use interp::{Evaluation, Profile, Taps};
use ir::{Interface, Tensor};
use onnx::CaseFolder;
use oracles::{Expected, Verdict};
use worker::{Outcome, Run, WorkerError};

use super::NoReplay;
use super::metamorphic::{Loaded, load};
use crate::allowance::Exam;
use crate::blame::Suspect;
use harness::case;
use harness::target::Target;

/// A saved case with what the reference says of it.
pub(crate) struct Saved {
    loaded: Loaded,
    onnx: Vec<u8>,
    inputs: Vec<(String, Tensor)>,
    names: Vec<String>,
    evaluation: Evaluation,
    profile: &'static Profile,
}

impl Saved {
    /// The case in a folder, if it is within what the reference can do.
    pub(crate) fn load(folder: &CaseFolder, profile: &'static Profile) -> Result<Self, NoReplay> {
        let loaded = load(folder).map_err(NoReplay::Unusable)?;
        let evaluation = interp::evaluate(&loaded.model, &loaded.inputs, profile, Taps::Outputs)
            .map_err(|e| NoReplay::Unusable(e.to_string()))?;
        Ok(Self {
            onnx: folder.model.to_vec(),
            inputs: case::named(&loaded.model, loaded.inputs.clone()),
            names: loaded.model.graph.outputs.iter().map(|o| o.name.clone()).collect(),
            evaluation,
            profile,
            loaded,
        })
    }

    /// What the reference expects.
    pub(crate) fn expected(&self) -> Expected<'_> {
        Expected { names: &self.names, outputs: &self.evaluation.outputs, profile: self.profile }
    }

    /// What a target makes of it.
    pub(crate) fn run(&self, target: &Target) -> Result<Outcome, WorkerError> {
        self.run_by(|onnx, inputs, interface| target.run(onnx, inputs, interface))
    }

    /// What comes of running it in some way.
    pub(crate) fn run_by(
        &self,
        run: impl FnOnce(&[u8], &[(String, Tensor)], &Interface) -> Result<Run, WorkerError>,
    ) -> Result<Outcome, WorkerError> {
        run(&self.onnx, &self.inputs, &self.loaded.interface).map(|ran| ran.outcome)
    }

    /// The verdict on what a target makes of it, after all allowances.
    pub(crate) fn allowed(&self, target: &Target, outcome: &Outcome) -> Result<Verdict, WorkerError> {
        let Loaded { model, inputs, unseen, .. } = &self.loaded;
        let expected = self.expected();
        let exam = Exam::new(target, outcome, "", &expected);
        let suspect = Suspect::new(model, inputs, self.profile);
        suspect.allowed(target, unseen, self.evaluation.is_defined(), &exam, &expected)
    }
}
