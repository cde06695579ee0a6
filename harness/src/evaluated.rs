//! What the reference says of a model on its inputs, and how a target's answer is held against that.

use std::collections::BTreeSet;

use interp::{Bounded, Evaluation, Profile, Taps};
use ir::Tensor;
use ops::Model;
use oracles::{Assessment, Expected, Verdict, assess, judge_but};
use worker::Outcome;

use crate::target::Target;

/// The outputs of a model by the reference, with their names and the accuracy that their bounds allow for.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The names of the outputs, in order.
    pub names: Vec<String>,
    /// The outputs with their bounds.
    pub evaluation: Evaluation,
    /// The accuracy.
    pub profile: &'static Profile,
}

impl Evaluated {
    /// Evaluates a model.
    pub fn of(model: &Model, inputs: &[Tensor], profile: &'static Profile) -> Result<Self, interp::Error> {
        let evaluation = interp::evaluate(model, inputs, profile, Taps::Outputs)?;
        let names = model.graph.outputs.iter().map(|o| o.name.clone()).collect();
        Ok(Self { names, evaluation, profile })
    }

    /// What is expected of a target.
    pub fn expected(&self) -> Expected<'_> {
        Expected { names: &self.names, outputs: &self.evaluation.outputs, profile: self.profile }
    }

    /// Whether the specification defines everything that the model computes.
    pub fn is_defined(&self) -> bool {
        self.evaluation.is_defined
    }

    /// The outputs by name.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, &Bounded)> {
        self.names.iter().map(String::as_str).zip(&self.evaluation.outputs)
    }
}

impl Target {
    /// Judges an answer of this target, and tells how far it is from the reference.
    pub fn assess(&self, outcome: &Outcome, expected: &Expected<'_>) -> Assessment {
        assess(&self.backend, &self.level, outcome, expected)
    }

    /// Judges an answer of this target.
    pub fn judge(&self, outcome: &Outcome, expected: &Expected<'_>) -> Verdict {
        self.assess(outcome, expected).verdict
    }

    /// Judges an answer of this target without the outputs of these names.
    pub fn judge_but(&self, outcome: &Outcome, expected: &Expected<'_>, names: &BTreeSet<String>) -> Verdict {
        judge_but(&self.backend, &self.level, outcome, expected, names)
    }
}
