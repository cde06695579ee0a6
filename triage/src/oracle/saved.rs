//! A saved case, to be asked about once more.

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

/// A saved case with what the reference says of it.
pub(crate) struct Saved {
    pub(crate) trial: Trial,
    /// The nodes of the model that targets do not see.
    unseen: BTreeSet<NodeId>,
}

impl Saved {
    /// The case in a folder, if it is within what the reference can do.
    pub(crate) fn load(folder: &CaseFolder, profile: &'static Profile) -> Result<Self, NoReplay> {
        let Loaded { model, interface, unseen, inputs } = load(folder).map_err(NoReplay::Unusable)?;
        let evaluated =
            Evaluated::of(&model, &inputs, profile).map_err(|e| NoReplay::Unusable(e.to_string()))?;
        let trial = Trial::written(model, inputs, folder.model.clone(), interface, evaluated);
        Ok(Self { trial, unseen })
    }

    /// The verdict on what a target makes of it, after all allowances.
    pub(crate) fn verdict(&self, target: &Target) -> Result<Verdict, WorkerError> {
        allowed(&self.trial, target, &self.unseen, &self.trial.outcome(target)?)
    }
}
