//! A case with what is expected of an engine on it.

use std::cell::OnceCell;

use anyhow::Result;
use harness::{Case, Maker, Target, case};
use ir::{Interface, Tensor};
use ops::Model;

use crate::judges::{Opinion, Reference};

/// A case, evaluated once under each profile.
pub(crate) struct Prepared<'m> {
    maker: &'m Maker<'m>,
    pub(crate) case: Case,
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) reference: Reference,
    before: OnceCell<Option<(Model, Vec<Tensor>)>>,
}

impl<'m> Prepared<'m> {
    /// Makes the case of a number.
    pub(crate) fn new(maker: &'m Maker<'m>, index: u64) -> Result<Self> {
        let case = maker.make(index)?;
        let reference = Reference::of(&case)?;
        let inputs = case::tensors(&case.inputs);
        Ok(Self { maker, case, inputs, reference, before: OnceCell::new() })
    }

    /// What the judges make of a target's answer.
    pub(crate) fn opinion(&self, target: &Target) -> Result<Opinion> {
        let ran = target.run(&self.case.onnx, &self.case.inputs, &Interface::of(&self.case.model))?;
        Ok(self.reference.ask(&ran.outcome))
    }

    /// Whether an operator is in the model.
    pub(crate) fn has(&self, operator: &str) -> bool {
        case::operators(&self.case.model).any(|(name, _)| name == operator)
    }

    /// The model and the inputs of the case before, made when they are first asked for; `None` where there is none.
    pub(crate) fn before(&self) -> Option<&(Model, Vec<Tensor>)> {
        let make = || {
            let case = self.maker.make(self.case.index.checked_sub(1)?).ok()?;
            let inputs = case::tensors(&case.inputs);
            Some((case.model, inputs))
        };
        self.before.get_or_init(make).as_ref()
    }
}
