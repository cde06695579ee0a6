//! A case with what is expected of an engine on it.

use std::cell::OnceCell;

use anyhow::Result;
use harness::{Case, Maker, Target, case};
use ir::{Interface, Tensor};
use worker::Outcome;

use crate::judges::{Opinion, Reference};
use crate::processes::Past;

/// A case, evaluated once under each profile.
pub(crate) struct Prepared<'m> {
    maker: &'m Maker<'m>,
    pub(crate) case: Case,
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) reference: Reference,
    runs: OnceCell<Option<Vec<Past>>>,
}

impl<'m> Prepared<'m> {
    /// Makes the case of a number.
    pub(crate) fn new(maker: &'m Maker<'m>, index: u64) -> Result<Self> {
        let case = maker.make(index)?;
        let reference = Reference::of(&case)?;
        let inputs = case::tensors(&case.inputs);
        Ok(Self { maker, case, inputs, reference, runs: OnceCell::new() })
    }

    /// A target's answer.
    pub(crate) fn answer(&self, target: &Target) -> Result<Outcome> {
        Ok(target.run(&self.case.onnx, &self.case.inputs, &Interface::of(&self.case.model))?.outcome)
    }

    /// What the judges make of a target's answer.
    pub(crate) fn opinion(&self, target: &Target) -> Result<Opinion> {
        Ok(self.reference.ask(&self.answer(target)?))
    }

    /// Whether an operator is in the model.
    pub(crate) fn has(&self, operator: &str) -> bool {
        case::operators(&self.case.model).any(|(name, _)| name == operator)
    }

    /// What a process runs: the case before, where there is one, the case, and the case once more. Made when it is
    /// first asked for.
    pub(crate) fn runs(&self) -> Option<&[Past]> {
        let make = || {
            let run = Past::right(self.case.model.clone(), self.inputs.clone())?;
            let before = self.case.index.checked_sub(1).and_then(|index| {
                let case = self.maker.make(index).ok()?;
                Past::right(case.model, case::tensors(&case.inputs))
            });
            Some(before.into_iter().chain([run.clone(), run]).collect())
        };
        self.runs.get_or_init(make).as_deref()
    }
}
