//! A saved case, about which a question is asked again.

use std::collections::BTreeSet;

use interp::Profile;
use ir::NodeId;
use onnx::CaseFolder;
use oracles::Verdict;
use worker::WorkerError;

use super::NoReplay;
use super::metamorphic::{Loaded, load};
use crate::allowance::allowed;
use harness::evaluated::Evaluated;
use harness::target::Target;
use harness::trial::Trial;

/// A saved case with the reference's outputs.
pub(crate) struct Saved {
    pub(crate) trial: Trial,
    /// The nodes of the model that targets do not see.
    unseen: BTreeSet<NodeId>,
}

impl Saved {
    /// The case in a folder, if the reference can evaluate it within its limits.
    pub(crate) fn load(folder: &CaseFolder, profile: &'static Profile) -> Result<Self, NoReplay> {
        let Loaded { model, interface, unseen, inputs } = load(folder).map_err(NoReplay::Unusable)?;
        let evaluated =
            Evaluated::of(&model, &inputs, profile).map_err(|e| NoReplay::Unusable(e.to_string()))?;
        let trial = Trial::written(model, inputs, folder.model.clone(), interface, evaluated);
        Ok(Self { trial, unseen })
    }

    /// The verdict on a target's answer, after all allowances.
    pub(crate) fn verdict(&self, target: &Target) -> Result<Verdict, WorkerError> {
        allowed(&self.trial, target, &self.unseen, &self.trial.outcome(target)?)
    }
}
