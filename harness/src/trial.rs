//! A model with inputs, to be run on targets and judged.

use std::collections::BTreeSet;
use std::rc::Rc;

use interp::{Limits, Profile, Taps};
use ir::{Interface, Tensor};
use onnx::Bytes;
use ops::Model;
use oracles::{Assessment, Doubt, Expected, Finding, Symptom, Verdict, allowance};
use worker::{Outcome, Run, WorkerError};

use crate::case;
use crate::evaluated::Evaluated;
use crate::reached::Reached;
use crate::target::Target;

/// A model with inputs, to be run and judged.
pub struct Trial {
    /// The model.
    pub model: Model,
    /// Its inputs by name.
    pub inputs: Vec<(String, Tensor)>,
    /// What targets get.
    pub onnx: Bytes,
    /// What is expected of them.
    pub evaluated: Evaluated,
    /// What a target's inputs and outputs are made of.
    interface: Interface,
    reached: Reached,
    /// Whether the model is a single operator of a case.
    is_alone: bool,
}

impl Trial {
    /// The trial of a model that targets get as it is; `None` if the model is not valid or cannot be written.
    pub fn of(model: Model, inputs: Vec<Tensor>, profile: &'static Profile) -> Option<Self> {
        let onnx = case::export(&model).ok()?;
        let interface = Interface::of(&model);
        let evaluated = Evaluated::of(&model, &inputs, profile).ok()?;
        Some(Self::written(model, inputs, onnx, interface, evaluated))
    }

    /// The trial of a model with the bytes that targets get for it, the interface of these, and the expected outputs.
    pub fn written(
        model: Model,
        inputs: Vec<Tensor>,
        onnx: impl Into<Bytes>,
        interface: Interface,
        evaluated: Evaluated,
    ) -> Self {
        let inputs = case::named(&model, inputs);
        let (onnx, reached) = (onnx.into(), Reached::default());
        Self { model, inputs, onnx, evaluated, interface, reached, is_alone: false }
    }

    /// This trial, marked as a single operator of a case. The case may have written the operator out in others.
    #[must_use]
    pub fn alone(self) -> Self {
        Self { is_alone: true, ..self }
    }

    /// The inputs, in order.
    pub fn tensors(&self) -> Vec<Tensor> {
        case::tensors(&self.inputs)
    }

    /// What a target makes of it.
    pub fn outcome(&self, target: &Target) -> Result<Outcome, WorkerError> {
        Ok(self.ran(target)?.outcome)
    }

    /// Runs it on a target.
    pub fn ran(&self, target: &Target) -> Result<Run, WorkerError> {
        self.ran_by(|onnx, inputs, interface| target.run(onnx, inputs, interface))
    }

    /// Runs it in some way.
    pub fn ran_by<T>(&self, run: impl FnOnce(&[u8], &[(String, Tensor)], &Interface) -> T) -> T {
        run(&self.onnx, &self.inputs, &self.interface)
    }

    /// Whether some elements of a target's answer are suspect, or even wrong.
    pub fn is_doubtful(&self, target: &Target) -> Result<bool, WorkerError> {
        let outcome = self.outcome(target)?;
        let assessment = self.assess(target, &outcome);
        Ok(match &assessment.verdict {
            Verdict::Bug(finding) => is_off(finding),
            Verdict::Pass | Verdict::Incomparable(_) => {
                !self.doubts(target, &outcome, &assessment).is_empty()
            }
        })
    }

    /// The assessment of an answer. Elements that depend on the declared width of the target's integers are open.
    pub fn assess(&self, target: &Target, outcome: &Outcome) -> Assessment {
        let expected = self.expected();
        let assessment = target.assess(outcome, &expected);
        match &assessment.verdict {
            Verdict::Bug(finding) if is_off(finding) && target.shortens_integers() => {
                let but = expected.but(&self.outputs_beyond_i32());
                target.assess(outcome, &Expected { outputs: &but, ..expected })
            }
            _ => assessment,
        }
    }

    /// What is suspect in an answer that is not wrong.
    pub fn doubts(&self, target: &Target, outcome: &Outcome, assessment: &Assessment) -> Vec<Doubt> {
        let limits = |outputs: &[usize]| self.reached.of(outputs, target, &self.model, &self.tensors());
        assessment.doubts(outcome, &self.expected(), limits)
    }

    /// How far good implementations of a target's kind are from the outputs; none where the reference cannot evaluate it.
    pub fn limits(&self, target: &Target) -> Rc<[Limits]> {
        self.reached.by(target, &self.model, &self.tensors())
    }

    /// The names of the outputs that depend on an i64 which i32 does not hold.
    fn outputs_beyond_i32(&self) -> BTreeSet<String> {
        let all = interp::evaluate(&self.model, &self.tensors(), self.evaluated.profile, Taps::All);
        all.map_or_else(
            |_| BTreeSet::new(),
            |evaluation| allowance::outputs_beyond_i32(&self.model, &evaluation),
        )
    }

    /// What is expected of a target.
    pub fn expected(&self) -> Expected<'_> {
        self.evaluated.expected()
    }

    /// The finding, and the outcome of the run. `None` if nothing is found but what follows from the declared width of
    /// the target's integers or, for an operator alone, of its floats. (An operator that a case has written out may
    /// have other dtypes inside.)
    pub fn run(&self, target: &Target) -> Result<Option<(Finding, Outcome)>, WorkerError> {
        let outcome = self.outcome(target)?;
        Ok(match self.assess(target, &outcome).verdict {
            // An undefined operator may be refused. That says nothing about a graph that computes other values there.
            Verdict::Bug(finding) if finding.is_refusal() && !self.evaluated.is_defined() => None,
            Verdict::Bug(finding) if is_off(&finding) && self.is_in_other_floats(target) => None,
            Verdict::Bug(finding) => Some((*finding, outcome)),
            Verdict::Pass | Verdict::Incomparable(_) => None,
        })
    }

    /// Whether a target computes an operator alone in another float than the model has.
    fn is_in_other_floats(&self, target: &Target) -> bool {
        self.is_alone && target.replaces_floats(&self.model)
    }
}

/// Whether elements are off.
pub fn is_off(finding: &Finding) -> bool {
    matches!(finding.symptom, Symptom::Mismatch(_))
}
