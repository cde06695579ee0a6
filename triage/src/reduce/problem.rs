//! A problem, and how large it is.
//!
//! Sizes are ordered, and a reduction only ever goes down in that order: so it ends, and the same case on the same
//! target reduces to the same minimum. What a person has to read comes first: nodes, then elements.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use interp::Profile;
use ir::inline::inline;
use ir::{Attribute, Datum, Interface, NodeId, NodeKind, Operation, Tensor};
use onnx::program::Program;
use ops::operator::elements;
use ops::{Graph, Model, Op};
use serde::Serialize;

use super::scalar::{Scalar, scalars};
use crate::composite;
use crate::forms::{Led, Written, count, lead};
use crate::sides;
use harness::case;
use harness::isolate::Trial;

/// A model with the values of its inputs.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    /// The model.
    pub model: Model,
    /// The values of its variables, in order.
    pub inputs: Vec<Tensor>,
    /// The program that leads to the model for these inputs, where targets get that: it says more than the model.
    pub program: Option<Arc<Written>>,
}

/// How large a problem is. Earlier fields weigh more than all later ones together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Size {
    /// Operators and calls, those in functions included. The body of a loop counts once.
    pub nodes: usize,
    /// The elements of all values: inputs, constants and what operators give.
    pub elements: u64,
    /// The forms of a program.
    pub forms: usize,
    /// The outputs of a program. A value that is one keeps its name, and that may keep a node.
    pub outputs: usize,
    /// Attributes that are not at their default.
    pub attributes: usize,
    /// How many different numbers the inputs and constants hold.
    pub distinct: usize,
    /// How many bits it takes to write these numbers, and those in attributes.
    pub bits: u64,
    /// The bytes of inputs and constants.
    pub bytes: u64,
}

impl Problem {
    /// A model as it is.
    pub fn flat(model: Model, inputs: Vec<Tensor>) -> Self {
        Self { model, inputs, program: None }
    }

    /// A program with inputs of these names. One that says no more than the model that it leads to is left out.
    pub fn of_program(mut program: Program, inputs: &BTreeMap<String, Datum>) -> Result<Self, onnx::Error> {
        let Led { model, interface, inputs, is_specialised, .. } = lead(&program, inputs)?;
        let tensor = |name: &str| {
            let output = model.graph.outputs.iter().find(|output| output.name == name);
            output.map(|output| model.graph.ty(output.value).clone())
        };
        program.declare_outputs(&interface.outputs, tensor);
        let says_more = Written::says_more(&program, is_specialised);
        let program = says_more.then(|| Arc::new(Written { program, interface }));
        Ok(Self { model, inputs, program })
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

    /// It, to be run and held to a profile; `None` where the reference has no values for it.
    pub(crate) fn trial(&self, profile: &'static Profile) -> Option<Trial> {
        Trial::written(self.model.clone(), self.inputs.clone(), self.onnx().ok()?, self.interface(), profile)
    }

    /// What the inputs and outputs that targets get are made of.
    pub fn interface(&self) -> Interface {
        self.program.as_ref().map_or_else(|| Interface::of(&self.model), |written| written.interface.clone())
    }

    /// The inputs with their names.
    pub fn named(&self) -> Vec<(String, Tensor)> {
        case::named(&self.model, self.inputs.clone())
    }

    /// How large it is.
    pub fn size(&self) -> Size {
        let graphs = || self.model.functions.iter().map(|f| &f.body).chain([&self.model.graph]);
        let does_something = |kind: &NodeKind<Op>| matches!(kind, NodeKind::Operator(_) | NodeKind::Call(_));
        let numbers: Vec<Scalar> = self.leaves().flat_map(|(_, tensor)| scalars(tensor)).collect();
        let different: BTreeSet<(bool, u128)> = numbers.iter().map(|n| n.key()).collect();
        Size {
            nodes: match &self.program {
                Some(written) => written.program.nodes(),
                None => graphs().flat_map(|g| &g.nodes).filter(|n| does_something(&n.kind)).count(),
            },
            elements: inline(&self.model).as_ref().map_or(u64::MAX, all_elements),
            forms: self.program.as_ref().map_or(0, |written| count(&written.program)),
            outputs: self.program.as_ref().map_or(0, |written| written.interface.outputs.len()),
            attributes: match &self.program {
                Some(written) if composite::attributes(&written.program) > 0 => {
                    composite::attributes(&written.program)
                }
                _ => graphs().map(attributes).sum(),
            },
            distinct: different.len(),
            bits: numbers
                .into_iter()
                .chain(graphs().flat_map(in_attributes))
                .map(|n| u64::from(n.bits()))
                .sum(),
            bytes: self.leaves().map(|(_, tensor)| tensor.ty().bytes()).sum(),
        }
    }
}

fn all_elements(graph: &Graph) -> u64 {
    graph.nodes.iter().flat_map(|n| &n.outputs).map(elements).fold(0, u64::saturating_add)
}

fn operators(graph: &Graph) -> impl Iterator<Item = &Op> {
    graph.nodes.iter().filter_map(|n| match &n.kind {
        NodeKind::Operator(op) => Some(op),
        _ => None,
    })
}

/// How many attributes of a graph's operators are not at their default.
fn attributes(graph: &Graph) -> usize {
    operators(graph).map(|op| stated(op).count()).sum()
}

/// The numbers in the attributes of a graph's operators.
fn in_attributes(graph: &Graph) -> impl Iterator<Item = Scalar> {
    let numbers = |value: &Attribute| match value {
        Attribute::Int(v) => vec![Scalar::Int((*v).into())],
        Attribute::Ints(list) => list.iter().map(|&v| Scalar::Int(v.into())).collect(),
        Attribute::Float(v) => vec![Scalar::Real((*v).into())],
        Attribute::Floats(list) => list.iter().map(|&v| Scalar::Real(v.into())).collect(),
        Attribute::Tensor(tensor) => scalars(tensor),
        Attribute::Name(_) | Attribute::Strings(_) | Attribute::DType(_) => Vec::new(),
    };
    operators(graph).flat_map(move |op| {
        let all = Operation::attributes(op);
        all.iter().flat_map(|(_, value)| numbers(value)).collect::<Vec<_>>()
    })
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
