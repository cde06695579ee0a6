//! What has a fault and answers to cases.

use anyhow::{Context, Result};
use backends::cpu::{Cpu, run_model};
use harness::Target;
use ops::Model;
use worker::{Outcome, Stage};

use crate::fault::Fault;
use crate::kernels::{optimised, target};
use crate::prepared::Prepared;
use crate::processes::WrongProcess;
use crate::rewritings::WrongRewriting;

/// The answers of a process to a case: the first one, and the one to the same case once more.
const ANSWERS: usize = 2;

/// What a target without a level says.
pub(crate) const NO_LEVEL: &str = "the kernels have no optimisation level";

/// An engine with a fault.
pub(crate) enum Engine {
    /// Kernels, and the operator that the fault is in.
    Kernels(Target, &'static str),
    /// An optimiser before the right kernels.
    Optimiser(&'static WrongRewriting),
    /// A process that runs the right kernels.
    Process(&'static WrongProcess),
}

impl Engine {
    /// The engine that has a fault.
    pub(crate) fn new(fault: Fault) -> Result<Self> {
        Ok(match fault {
            Fault::Operator(fault) => Self::Kernels(target(&[fault]).context(NO_LEVEL)?, fault.operator),
            Fault::Graph(fault) => Self::Optimiser(fault),
            Fault::Process(fault) => Self::Process(fault),
        })
    }

    /// The engine as a target of campaigns. A process is none: what it answers depends on what it ran before.
    pub(crate) fn into_target(self) -> Result<Option<Target>> {
        Ok(match self {
            Self::Kernels(target, _) => Some(target),
            Self::Optimiser(fault) => Some(optimised(fault).context(NO_LEVEL)?),
            Self::Process(_) => None,
        })
    }

    /// Whether a case concerns the fault: it has the operator or the pattern that is rewritten, or a run that
    /// the process gets wrong.
    pub(crate) fn is_concerned(&self, on: &Prepared<'_>) -> bool {
        match self {
            Self::Kernels(_, operator) => on.has(operator),
            Self::Optimiser(fault) => fault.of(&on.case.model).is_some(),
            Self::Process(fault) => answers(fault, on).is_some(),
        }
    }

    /// The answers to a case; `None` where it does not concern the fault.
    pub(crate) fn answers(&self, on: &Prepared<'_>) -> Result<Option<Vec<Outcome>>> {
        Ok(match self {
            Self::Kernels(target, operator) if on.has(operator) => Some(vec![on.answer(target)?]),
            Self::Kernels(..) => None,
            Self::Optimiser(fault) => fault.of(&on.case.model).map(|model| vec![answer(on, &model)]),
            Self::Process(fault) => answers(fault, on),
        })
    }
}

/// What the right kernels make of a model in place of a case's.
fn answer(on: &Prepared<'_>, model: &Model) -> Outcome {
    match run_model(model, &on.inputs, &mut Cpu) {
        Ok(outputs) => on.reference.answer(outputs),
        Err(e) => Outcome::Rejected { stage: Stage::Run, message: e.to_string() },
    }
}

/// What a process answers to a case, and to the same once more, after the case before; `None` if both are right.
fn answers(fault: &WrongProcess, on: &Prepared<'_>) -> Option<Vec<Outcome>> {
    let answers = fault.answers(on.runs()?, ANSWERS)?;
    Some(answers.into_iter().map(|outputs| on.reference.answer(outputs)).collect())
}
