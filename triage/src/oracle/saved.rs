//! A saved case, to be asked about once more.

use interp::{Evaluation, Profile, Taps};
use ir::{Interface, Tensor};
use onnx::CaseFolder;
use oracles::Expected;
use worker::{Outcome, Run, WorkerError};

use super::metamorphic::{Loaded, load};
use harness::case;
use harness::target::Target;

/// A saved case with what the reference says of it.
pub(crate) struct Saved {
    onnx: Vec<u8>,
    inputs: Vec<(String, Tensor)>,
    interface: Interface,
    names: Vec<String>,
    evaluation: Evaluation,
    profile: &'static Profile,
}

impl Saved {
    /// The case in a folder, if it is within what the reference can do.
    pub(crate) fn load(folder: &CaseFolder, profile: &'static Profile) -> Result<Self, String> {
        let Loaded { model, interface, inputs } = load(folder)?;
        let evaluation =
            interp::evaluate(&model, &inputs, profile, Taps::Outputs).map_err(|e| e.to_string())?;
        let names = model.graph.outputs.iter().map(|o| o.name.clone()).collect();
        Ok(Self {
            onnx: folder.model.to_vec(),
            inputs: case::named(&model, inputs),
            interface,
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
        self.run_by(|onnx, inputs, interface| target.run(onnx, inputs, interface))
    }

    /// What comes of running it in some way.
    pub(crate) fn run_by(
        &self,
        run: impl FnOnce(&[u8], &[(String, Tensor)], &Interface) -> Result<Run, WorkerError>,
    ) -> Result<Outcome, String> {
        run(&self.onnx, &self.inputs, &self.interface).map(|ran| ran.outcome).map_err(|e| e.to_string())
    }
}
