//! The forms of a program (branches, loops, computed parameters, sizes that are not said), and the program with one of them undone.
//!
//! Where a target is wrong about a program and right about the model that it leads to, a form is to blame: the one without
//! which it is right.

use std::collections::{BTreeMap, BTreeSet};

use harness::{case, reference};
use interp::{Profile, Taps};
use ir::{Datum, Interface, Kind, Tensor, Type, Wanted};
use onnx::export::value_info;
use onnx::import::{Imported, Inside, Origin};
use onnx::program::edit::Way;
use onnx::program::{Program, ValueId};
use ops::Model;

use crate::composite;

/// A form of a program, by its name in signatures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A branch.
    If,
    /// A loop.
    Loop,
    /// A loop over slices.
    Scan,
    /// Sizes of inputs that are names, or not said at all.
    Sizes,
    /// Types of values inside that are not said.
    Types,
    /// Operands that are attributes here, and are computed or come in.
    Parameters,
    /// Inputs that have a default.
    Defaults,
    /// Inputs that have a default and another value.
    OverriddenDefaults,
    /// Constant nodes.
    Constants,
}

impl Form {
    /// What it is called in place of an operator.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::If => "form If",
            Self::Loop => "form Loop",
            Self::Scan => "form Scan",
            Self::Sizes => "form sizes",
            Self::Types => "form value_info",
            Self::Parameters => "form parameter",
            Self::Defaults => "form default",
            Self::OverriddenDefaults => "form overridden default",
            Self::Constants => "form Constant",
        }
    }

    /// Whether nodes are inside of it.
    pub(crate) const fn has_body(self) -> bool {
        matches!(self, Self::If | Self::Loop | Self::Scan)
    }
}

/// A program as targets get it.
#[derive(Clone, PartialEq, Debug)]
pub struct Written {
    /// The program.
    pub program: Program,
    /// How its inputs and outputs are made of the variables and outputs of the model that it leads to.
    pub interface: Interface,
}

impl Written {
    /// Whether a program says more than the model that it leads to: the model holds for these values alone,
    /// or lacks forms of the program.
    pub fn says_more(program: &Program, is_specialised: bool) -> bool {
        is_specialised || count(program) > 0
    }
}

/// What a program leads to.
pub(crate) struct Led {
    /// The model, flat.
    pub(crate) model: Model,
    /// How it makes up the inputs and outputs of the program.
    pub(crate) interface: Interface,
    /// The values of its variables, in order.
    pub(crate) inputs: Vec<Tensor>,
    /// Whether the program says more than the model.
    pub(crate) is_specialised: bool,
    /// Where the nodes of the model come from.
    pub(crate) origins: Vec<Origin>,
}

/// What a program leads to for inputs of these names. Names that are no input of the program are passed over.
pub(crate) fn lead(program: &Program, inputs: &BTreeMap<String, Datum>) -> Result<Led, onnx::Error> {
    let Imported { model, interface, is_specialised, origins, .. } = case::trace(program, inputs)?;
    let inputs = reference::bind(&model, inputs).map_err(|why| onnx::Error::invalid("inputs", why))?;
    Ok(Led { model, interface, inputs, is_specialised, origins })
}

/// The forms of a program, and which way its inputs lead through them.
pub(crate) struct Forms<'p> {
    program: &'p Program,
    inputs: &'p BTreeMap<String, Datum>,
    /// The origins of the nodes of the model that the program leads to; empty if it leads to no model.
    origins: Vec<Origin>,
}

impl<'p> Forms<'p> {
    /// The forms of a program for inputs of these names.
    pub(crate) fn of(program: &'p Program, inputs: &'p BTreeMap<String, Datum>) -> Self {
        let origins = case::trace(program, inputs).map(|imported| imported.origins).unwrap_or_default();
        Self { program, inputs, origins }
    }

    /// For each form the program without it, which computes the same for these inputs. The outer ones come first.
    pub(crate) fn undone(&self) -> Vec<(Form, Program)> {
        let mut all: Vec<(Form, Program)> = Vec::new();
        for (form, without) in PLAINER {
            all.extend(without(self.program, self.inputs).map(|p| (*form, p)));
        }
        for held in held(self.program) {
            let Held { way, at, .. } = &held;
            match held.op_type.as_str() {
                "If" => {
                    let name = self.side(&held).map(|side| if side { "then_branch" } else { "else_branch" });
                    let without = name.and_then(|name| self.program.with_side(way, *at, name));
                    all.extend(without.map(|p| (Form::If, p)));
                }
                "Loop" => {
                    let iterations = self.iterations(&held);
                    let without = iterations.and_then(|n| self.program.with_iterations(way, *at, n));
                    all.extend(without.map(|p| (Form::Loop, p)));
                }
                "Scan" => {
                    let slices = self.iterations(&held);
                    let without = slices.and_then(|n| self.program.with_slices(way, *at, n));
                    all.extend(without.map(|p| (Form::Scan, p)));
                }
                _ => {}
            }
        }
        all
    }

    /// For each operator with computed operands that are attributes here, its name and the program with
    /// constants in place of these operands.
    pub(crate) fn parameters(&self) -> Vec<(String, Program)> {
        let nodes: BTreeSet<usize> = self.program.open_parameters().iter().map(|&(at, ..)| at).collect();
        let without = |at: usize| {
            let name = self.program.main.body.nodes[at].rest.op_type().to_owned();
            Some((name, with_parameters_of(self.program, self.inputs, &|other| other == at)?))
        };
        nodes.into_iter().filter_map(without).collect()
    }

    /// The program with fewer iterations of each loop: none, one, half of them, all but one.
    pub(crate) fn fewer_iterations(&self) -> Vec<Program> {
        let mut all = Vec::new();
        for held in held(self.program).iter().filter(|held| held.op_type == "Loop") {
            let iterations = self.iterations(held).unwrap_or(0);
            if iterations > 0 {
                all.extend(self.program.with_iterations(&held.way, held.at, 0));
            }
            let counts: BTreeSet<usize> = [1, iterations / 2, iterations.saturating_sub(1)].into();
            let counts = counts.into_iter().filter(|count| (1..iterations).contains(count));
            all.extend(counts.filter_map(|n| self.program.with_count(&held.way, held.at, n as i64)));
        }
        all
    }

    /// The side that an If takes; `None` where it takes both, as its condition changes. A side that leaves no
    /// nodes in the model, such as one that makes sequences, is not met there: then the condition decides, if
    /// the If is outside of all bodies.
    fn side(&self, held: &Held) -> Option<bool> {
        let sides: BTreeSet<bool> = self.met(held).filter_map(Inside::side).collect();
        match sides.len() {
            0 if held.way.is_empty() => self.condition(held.at),
            1 => sides.first().copied(),
            _ => None,
        }
    }

    /// The side that an If of the main graph takes.
    pub(crate) fn side_at(&self, at: usize) -> Option<bool> {
        let of_main = held(self.program).into_iter().find(|held| held.way.is_empty() && held.at == at);
        self.side(&of_main?)
    }

    /// What the condition of a node of the main graph is.
    fn condition(&self, at: usize) -> Option<bool> {
        let condition = self.program.main.body.nodes.get(at)?.inputs.first().copied().flatten()?;
        let values = composite::values(self.program, &[condition], self.inputs)?;
        values.first()?.to_i128s().first().map(|&is| is != 0)
    }

    /// How many iterations a loop has; `None` where its body has no nodes that could tell.
    fn iterations(&self, held: &Held) -> Option<usize> {
        let last = self.met(held).filter_map(Inside::iteration).max();
        last.map(|last| last + 1).or((!held.is_empty).then_some(0))
    }

    /// The bodies of a node that were run.
    fn met<'o>(&'o self, held: &'o Held) -> impl Iterator<Item = Inside> + 'o {
        let Held { way, at, .. } = held;
        self.origins.iter().filter_map(move |origin| {
            let bodies = origin.path.bodies();
            let is_there =
                bodies.len() > way.len() && bodies.iter().zip(way).all(|(b, &(node, _))| b.node == node);
            bodies.get(way.len()).filter(|inside| is_there && inside.node == *at).map(|inside| inside.inside)
        })
    }
}

/// A node that holds a body.
struct Held {
    way: Way,
    at: usize,
    op_type: String,
    /// Whether none of its bodies has a node.
    is_empty: bool,
}

fn held(program: &Program) -> Vec<Held> {
    let nodes = program.ways().into_iter().flat_map(|way| {
        let nodes = program.body(&way).map_or(&[][..], |body| &body.nodes);
        let holding = nodes.iter().enumerate().filter(|(_, node)| node.bodies().next().is_some());
        let holding = holding.map(|(at, node)| Held {
            way: way.clone(),
            at,
            op_type: node.rest.op_type().to_owned(),
            is_empty: node.bodies().all(|body| body.nodes.is_empty()),
        });
        holding.collect::<Vec<_>>()
    });
    nodes.collect()
}

/// A program without all uses of a form, which computes the same for inputs of these names; `None` where it has none.
type Plainer = fn(&Program, &BTreeMap<String, Datum>) -> Option<Program>;

/// What is said in plainer words, all of one form at once.
const PLAINER: &[(Form, Plainer)] = &[
    (Form::Sizes, with_sizes),
    (Form::Types, with_types),
    (Form::Parameters, with_parameters),
    (Form::Defaults, |program, inputs| program.without_defaults(|name| inputs.contains_key(name))),
    (Form::OverriddenDefaults, without_overridden_defaults),
    (Form::Constants, |program, _| program.without_constant_nodes()),
];

/// How many forms a program has: bodies, each by itself, and each kind of what may be said in plainer words.
pub(crate) fn count(program: &Program) -> usize {
    let has_open_sizes = onnx::import::inputs(program)
        .is_ok_and(|inputs| inputs.iter().any(|input| input.open().next().is_some()));
    let kinds = [
        has_open_sizes,
        !program.undeclared().is_empty(),
        !program.open_parameters().is_empty(),
        program.without_defaults(|_| false).is_some(),
        program.without_constant_nodes().is_some(),
    ];
    held(program).len() + kinds.into_iter().filter(|&has| has).count()
}

/// The program without the defaults of inputs that have other values, as an engine takes it that makes constants of defaults.
pub(crate) fn without_overridden_defaults(
    program: &Program,
    inputs: &BTreeMap<String, Datum>,
) -> Option<Program> {
    program.without_overridden_defaults(|name| inputs.contains_key(name))
}

/// The program with the types of all values of the main graph said.
fn with_types(program: &Program, inputs: &BTreeMap<String, Datum>) -> Option<Program> {
    let open = program.undeclared();
    if open.is_empty() {
        return None;
    }
    let Led { model, interface, .. } = lead(&program.giving_all(&open), inputs).ok()?;
    // A sequence is several outputs of the model, or one of another type.
    let ty = |wanted: &Wanted| {
        let output = model.graph.outputs.iter().find(|output| output.name == wanted.name);
        output.filter(|_| wanted.kind == Kind::Tensor).map(|output| model.graph.ty(output.value).clone())
    };
    // An optional that holds a tensor has the type of that there.
    let others = no_tensors(program);
    let known = open.into_iter().zip(interface.outputs.iter().map(ty));
    let known = known.filter(|(value, _)| !others.contains(value));
    Some(program.declaring(&known.filter_map(|(value, ty)| Some((value, ty?))).collect()))
}

/// The values of the main graph that are sequences or optionals, as far as their operators tell. If there are
/// any, the results of nodes that may pass one on are counted among them.
fn no_tensors(program: &Program) -> BTreeSet<ValueId> {
    let mut others = BTreeSet::new();
    for node in &program.main.body.nodes {
        let passes_one = node.bodies().next().is_some() || node.rest.op_type() == "Identity";
        let may_be = passes_one && !others.is_empty();
        let ports =
            node.outputs.iter().enumerate().filter(|(port, _)| may_be || !composite::is_tensor(node, *port));
        others.extend(ports.filter_map(|(_, &value)| value));
    }
    others
}

/// The program with constants for all operands that this program has as attributes.
fn with_parameters(program: &Program, inputs: &BTreeMap<String, Datum>) -> Option<Program> {
    with_parameters_of(program, inputs, &|_| true)
}

/// The program with constants for those operands of some nodes of the main graph that this program has as attributes.
fn with_parameters_of(
    program: &Program,
    inputs: &BTreeMap<String, Datum>,
    is_meant: &dyn Fn(usize) -> bool,
) -> Option<Program> {
    let mut open = program.open_parameters();
    open.retain(|&(at, ..)| is_meant(at));
    if open.is_empty() {
        return None;
    }
    let values: Vec<ValueId> =
        open.iter().map(|&(.., value)| value).collect::<BTreeSet<_>>().into_iter().collect();
    let Led { model, inputs, .. } = lead(&program.giving_all(&values), inputs).ok()?;
    let outputs = interp::evaluate(&model, &inputs, &Profile::DECLARED, Taps::Outputs).ok()?.outputs;
    let known: BTreeMap<ValueId, Tensor> =
        values.into_iter().zip(outputs.into_iter().map(|o| o.tensor)).collect();
    let constants: Vec<_> = open.iter().map(|(at, slot, value)| (*at, *slot, known[value].clone())).collect();
    Some(program.with_constants(&constants)?.pruned())
}

/// The program with its tensor inputs declared by their full types. `None` if they already are.
fn with_sizes(program: &Program, inputs: &BTreeMap<String, Datum>) -> Option<Program> {
    let mut said = program.clone();
    let mut is_new = false;
    for (port, there) in said.main.body.inputs.iter_mut().zip(&program.main.body.inputs) {
        let known = inputs.get(program.main.name(there.value));
        let Some(ty) = known.and_then(Datum::tensor).map(Tensor::ty) else { continue };
        is_new |= onnx::import::declared_type(&there.declared).as_ref() != Some(&ty);
        port.declared = unnamed(&ty);
    }
    is_new.then_some(said)
}

fn unnamed(ty: &Type) -> onnx::proto::ValueInfoProto {
    onnx::proto::ValueInfoProto { name: None, ..value_info("", ty) }
}

#[cfg(test)]
mod tests {
    use ir::DType;

    use super::*;

    #[test]
    fn what_is_no_tensor_is_not_said_to_be_one() {
        let text = "<ir_version: 10, opset_import: [\"\" : 21]>\n\
                    g (float[2] x) => (y) {\n  a = Abs(x)\n  o = Optional(a)\n  s = SequenceConstruct(a, a)\n  \
                    n = Neg(a)\n  e = OptionalGetElement(o)\n  l = SequenceLength(s)\n  y = Add(e, n)\n}\n";
        let program = Program::from_text(text).expect("a text");
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |i| i as f64);
        let typed = with_types(&program, &[("x".to_owned(), x.into())].into()).expect("types are not said");
        let said: Vec<(&str, String)> = (typed.main.body.declared.iter())
            .filter_map(|said| {
                let ty = onnx::import::declared_type(&said.declared)?;
                Some((typed.main.name(said.value?), ty.to_string()))
            })
            .collect();
        let wanted = [("a", "f32[2]"), ("n", "f32[2]"), ("e", "f32[2]"), ("l", "i64[]")];
        assert_eq!(said, wanted.map(|(name, ty)| (name, ty.to_owned())));
    }
}
