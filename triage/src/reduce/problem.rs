//! A problem: what is reduced.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use interp::Profile;
use ir::{Datum, Interface, NodeId, NodeKind, Operation, Tensor};
use onnx::program::Program;
use ops::{Model, Op};

use crate::forms::{self, Led, TargetProgram, lead};
use crate::sides;
use harness::case::{self, Case};
use harness::evaluated::Evaluated;
use harness::target::Target;
use harness::trial::Trial;

/// A model with the values of its inputs.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    /// The model.
    pub model: Model,
    /// The values of its variables, in order.
    pub inputs: Vec<Tensor>,
    /// The program that leads to the model for these inputs, where targets get that: it says more than the model.
    pub program: Option<Arc<TargetProgram>>,
}

/// Why a problem cannot be run and judged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoTrial {
    /// The reference has no values for it.
    #[error(transparent)]
    Reference(#[from] interp::Error),
    /// The model cannot be written.
    #[error(transparent)]
    Write(#[from] onnx::Error),
}

impl Problem {
    /// A model as it is.
    pub fn flat(model: Model, inputs: Vec<Tensor>) -> Self {
        Self { model, inputs, program: None }
    }

    /// A generated case.
    pub fn of_case(case: &Case) -> Self {
        let inputs = case::tensors(&case.inputs);
        let interface = Interface::of(&case.model);
        let written = |program: &Program| TargetProgram { program: program.clone(), interface };
        let program = case.program.as_ref().map(written).map(Arc::new);
        Self { model: case.model.clone(), inputs, program }
    }

    /// A program with inputs of these names. One that says no more than the model that it leads to is left out.
    pub fn of_program(mut program: Program, inputs: &BTreeMap<String, Datum>) -> Result<Self, onnx::Error> {
        let Led { model, interface, inputs, is_specialised, .. } = lead(&program, inputs)?;
        let tensor = |name: &str| {
            let output = model.graph.outputs.iter().find(|output| output.name == name);
            output.map(|output| model.graph.ty(output.value).clone())
        };
        program.declare_outputs(&interface.outputs, tensor);
        let says_more = TargetProgram::says_more(&program, is_specialised);
        let program = says_more.then(|| Arc::new(TargetProgram { program, interface }));
        Ok(Self { model, inputs, program })
    }

    /// The problem as a target takes it: without defaults that other values override, where it makes constants of them.
    pub(super) fn for_target(&self, target: &Target) -> Cow<'_, Self> {
        let plainer = || {
            let TargetProgram { program, interface } = self.program.as_deref()?;
            let inputs = interface.values_of(&self.named());
            Self::of_program(forms::without_overridden_defaults(program, &inputs)?, &inputs).ok()
        };
        let plainer = if target.description().overrides_defaults { None } else { plainer() };
        plainer.map_or(Cow::Borrowed(self), Cow::Owned)
    }

    /// A program that an edit has made smaller, with sides of branches that still fit.
    pub(super) fn edited(program: Program, inputs: &BTreeMap<String, Datum>) -> Option<Self> {
        Self::of_program(sides::fitted(program, inputs)?, inputs).ok()
    }

    /// What targets get.
    pub fn onnx(&self) -> Result<Vec<u8>, onnx::Error> {
        match &self.program {
            Some(written) => Ok(onnx::encode(&written.program.write())),
            None => case::export(&self.model),
        }
    }

    /// The tensors that are given: variables and constants of the main graph, with their nodes.
    pub fn leaves(&self) -> impl Iterator<Item = (NodeId, &Tensor)> {
        let mut inputs = self.inputs.iter();
        self.model.graph.iter().filter_map(move |(id, node)| match &node.kind {
            NodeKind::Variable { .. } => inputs.next().map(|tensor| (id, tensor)),
            NodeKind::Constant(tensor) => Some((id, &**tensor)),
            _ => None,
        })
    }

    /// The problem, to be run and held to a profile.
    pub(crate) fn trial(&self, profile: &'static Profile) -> Result<Trial, NoTrial> {
        let evaluated = Evaluated::of(&self.model, &self.inputs, profile)?;
        let onnx = self.onnx()?;
        Ok(Trial::written(self.model.clone(), self.inputs.clone(), onnx, self.interface(), evaluated))
    }

    /// What the inputs and outputs that targets get are made of.
    pub fn interface(&self) -> Interface {
        self.program.as_ref().map_or_else(|| Interface::of(&self.model), |written| written.interface.clone())
    }

    /// The inputs with their names.
    pub fn named(&self) -> Vec<(String, Tensor)> {
        case::named(&self.model, self.inputs.clone())
    }
}

/// The attributes without which an operator would be another one, or none.
pub(super) fn stated(op: &Op) -> impl Iterator<Item = String> {
    let all = Operation::attributes(op);
    let names: Vec<String> = all.iter().map(|(name, _)| name.to_owned()).collect();
    names
        .into_iter()
        .filter(move |name| without(op, name).as_ref() != Some(op))
        .collect::<Vec<_>>()
        .into_iter()
}

/// The operator with an attribute left to its default, if there is one.
pub(super) fn without(op: &Op, attribute: &str) -> Option<Op> {
    let mut attributes = Operation::attributes(op);
    attributes.remove(attribute)?;
    Op::parse(op.name(), &attributes)?.ok()
}

/// The operators that differ from this one in one attribute, which is at its default.
pub(super) fn with_a_default(op: &Op) -> impl Iterator<Item = Op> {
    stated(op).filter_map(|name| without(op, &name)).collect::<Vec<_>>().into_iter()
}
