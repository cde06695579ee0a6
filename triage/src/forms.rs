//! The forms of a program (branches, loops, sizes that are not said), and the program with one of them undone.
//!
//! Where a target is wrong about a program and right about the model that it leads to, a form is to blame: the one without
//! which it is right.

use std::collections::{BTreeMap, BTreeSet};

use harness::reference;
use ir::{Tensor, Type};
use onnx::export::value_info;
use onnx::import::{Imported, Inside, Options, Origin, specialise};
use onnx::program::Program;
use onnx::program::edit::Way;
use ops::Model;

/// A form of a program, by its name in signatures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A branch.
    If,
    /// A loop.
    Loop,
    /// Sizes of inputs that are names, or not said at all.
    Sizes,
}

impl Form {
    /// What it is called in place of an operator.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::If => "form If",
            Self::Loop => "form Loop",
            Self::Sizes => "form sizes",
        }
    }
}

/// What a program leads to.
pub(crate) struct Led {
    /// The model, flat.
    pub(crate) model: Model,
    /// The values of its variables, in order.
    pub(crate) inputs: Vec<Tensor>,
    /// Whether the program says more than the model.
    pub(crate) is_specialised: bool,
}

/// What a program leads to for inputs of these names. Those that it has not are left out.
pub(crate) fn lead(program: &Program, inputs: &BTreeMap<String, Tensor>) -> Result<Led, onnx::Error> {
    let options = Options { known_inputs: inputs, ..Options::default() };
    let Imported { model, is_specialised, .. } = specialise(program, &options)?;
    let inputs = reference::bind(&model, inputs).map_err(|why| onnx::Error::invalid("inputs", why))?;
    Ok(Led { model, inputs, is_specialised })
}

/// For each form of a program the program without it, which computes the same for these inputs. The outer ones come first.
pub(crate) fn undone(program: &Program, inputs: &BTreeMap<String, Tensor>) -> Vec<(Form, Program)> {
    let mut all: Vec<(Form, Program)> =
        with_sizes(program, inputs).map(|p| (Form::Sizes, p)).into_iter().collect();
    let origins = origins(program, inputs);
    for Held { way, at, op_type } in held(program) {
        let met = met(&origins, &way, at);
        match op_type.as_str() {
            "If" => {
                let sides: BTreeSet<bool> = met.filter_map(Inside::side).collect();
                // A side without nodes is met by nobody, and a condition that changes has no one side.
                for side in sides.iter().filter(|_| sides.len() == 1) {
                    let name = if *side { "then_branch" } else { "else_branch" };
                    all.extend(program.with_side(&way, at, name).map(|p| (Form::If, p)));
                }
            }
            "Loop" => {
                let iterations = met.filter_map(Inside::iteration).max().map_or(0, |last| last + 1);
                all.extend(program.with_iterations(&way, at, iterations).map(|p| (Form::Loop, p)));
            }
            _ => {}
        }
    }
    all
}

/// The program with fewer iterations of each loop: none, one, half of them, all but one.
pub(crate) fn fewer_iterations(program: &Program, inputs: &BTreeMap<String, Tensor>) -> Vec<Program> {
    let origins = origins(program, inputs);
    let mut all = Vec::new();
    for Held { way, at, op_type } in held(program) {
        let iterations =
            met(&origins, &way, at).filter_map(Inside::iteration).max().map_or(0, |last| last + 1);
        if op_type == "Loop" && iterations > 0 {
            all.extend(program.with_iterations(&way, at, 0));
            let counts: BTreeSet<usize> = [1, iterations / 2, iterations - 1].into();
            let counts = counts.into_iter().filter(|count| (1..iterations).contains(count));
            all.extend(counts.filter_map(|count| program.with_count(&way, at, count as i64)));
        }
    }
    all
}

/// A node that holds a body.
struct Held {
    way: Way,
    at: usize,
    op_type: String,
}

fn held(program: &Program) -> Vec<Held> {
    let nodes = program.ways().into_iter().flat_map(|way| {
        let nodes = program.body(&way).map_or(&[][..], |body| &body.nodes);
        let holding = nodes.iter().enumerate().filter(|(_, node)| node.bodies().next().is_some());
        let holding =
            holding.map(|(at, node)| Held { way: way.clone(), at, op_type: node.rest.op_type().to_owned() });
        holding.collect::<Vec<_>>()
    });
    nodes.collect()
}

/// Where the nodes of the model come from that the program leads to; none, if it leads to no model.
fn origins(program: &Program, inputs: &BTreeMap<String, Tensor>) -> Vec<Origin> {
    let options = Options { known_inputs: inputs, ..Options::default() };
    specialise(program, &options).map(|imported| imported.origins).unwrap_or_default()
}

/// The bodies of a node that were run.
fn met<'o>(origins: &'o [Origin], way: &'o Way, at: usize) -> impl Iterator<Item = Inside> + 'o {
    origins.iter().filter_map(move |origin| {
        let bodies = origin.path.bodies();
        let is_there =
            bodies.len() > way.len() && bodies.iter().zip(way).all(|(b, &(node, _))| b.node == node);
        bodies.get(way.len()).filter(|inside| is_there && inside.node == at).map(|inside| inside.inside)
    })
}

/// The program with the sizes of its inputs said, if one is not.
fn with_sizes(program: &Program, inputs: &BTreeMap<String, Tensor>) -> Option<Program> {
    let mut said = program.clone();
    let mut is_new = false;
    for (port, there) in said.main.body.inputs.iter_mut().zip(&program.main.body.inputs) {
        let Some(ty) = inputs.get(program.main.name(there.value)).map(Tensor::ty) else { continue };
        is_new |= onnx::import::declared_type(&there.declared).as_ref() != Some(&ty);
        port.declared = unnamed(&ty);
    }
    is_new.then_some(said)
}

fn unnamed(ty: &Type) -> onnx::proto::ValueInfoProto {
    onnx::proto::ValueInfoProto { name: None, ..value_info("", ty) }
}
