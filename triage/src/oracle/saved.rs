//! A saved case, to be asked about once more.

use interp::{Evaluation, Profile, Taps};
use ir::{DType, Tensor};
use onnx::CaseFolder;
use oracles::Expected;
use worker::{Outcome, Run, WorkerError};

use super::metamorphic::load;
use harness::case;
use harness::target::Target;

/// A saved case with what the reference says of it.
pub(crate) struct Saved {
    onnx: Vec<u8>,
    inputs: Vec<(String, Tensor)>,
    wanted: Vec<(String, DType)>,
    names: Vec<String>,
    evaluation: Evaluation,
    profile: &'static Profile,
}

impl Saved {
    /// The case in a folder, if it is within what the reference can do.
    pub(crate) fn load(folder: &CaseFolder, profile: &'static Profile) -> Result<Self, String> {
        let (model, inputs) = load(folder)?;
        let evaluation =
            interp::evaluate(&model, &inputs, profile, Taps::Outputs).map_err(|e| e.to_string())?;
        let wanted = case::outputs(&model);
        let names = wanted.iter().map(|(name, _)| name.clone()).collect();
        Ok(Self {
            onnx: folder.model.clone(),
            inputs: case::named(&model, inputs),
            wanted,
            names,
            evaluation,
            profile,
        })
    }

    /// What the reference expects.
    pub(crate) fn expected(&self) -> Expected<'_> {
        Expected { names: &self.names, outputs: &self.evaluation.outputs, profile: self.profile }
    }

    /// What a target makes of it.
    pub(crate) fn run(&self, target: &Target) -> Result<Outcome, String> {
        self.run_by(|onnx, inputs, wanted| target.run(onnx, inputs, wanted))
    }

    /// What comes of running it in some way.
    pub(crate) fn run_by(
        &self,
        run: impl FnOnce(&[u8], &[(String, Tensor)], &[(String, DType)]) -> Result<Run, WorkerError>,
    ) -> Result<Outcome, String> {
        run(&self.onnx, &self.inputs, &self.wanted).map(|ran| ran.outcome).map_err(|e| e.to_string())
    }
}
