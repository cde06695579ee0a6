//! The forms of a program (branches, loops, computed parameters, sizes that are not said), and the program with one of
//! them undone.
//!
//! If a target is wrong about a program and right about the model that the program leads to, a form is to blame: the
//! one without which the target is right.

mod plainer;

use std::collections::{BTreeMap, BTreeSet};

use harness::{case, reference};
use ir::{Datum, Interface, Tensor, Type};
use onnx::import::{Imported, Inside, Origin};
use onnx::program::edit::Way;
use onnx::program::{Program, ValueId};
use ops::Model;

use crate::composite;
pub(crate) use plainer::without_overridden_defaults;
use plainer::{PLAINER, Plainer, with_parameters_of};

/// A form of a program, by its name in signatures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProgramForm {
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
    /// Operands that are attributes in our models, and are computed here or come in as inputs.
    Parameters,
    /// Inputs that have a default.
    Defaults,
    /// Inputs that have a default and another value.
    OverriddenDefaults,
    /// Constant nodes.
    Constants,
    /// Tensors whose elements are in the fields of their types, not bytes.
    Fields,
    /// Names that are no identifiers, or of several nodes.
    Names,
    /// Initializers in sparse form.
    Sparse,
    /// Functions, called with attributes or several times.
    Functions,
    /// An opset before those that flat models are written in.
    FormerOpset,
}

impl ProgramForm {
    /// The form's name in place of an operator's.
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
            Self::Fields => "form tensor fields",
            Self::Names => "form names",
            Self::Sparse => "form sparse initializer",
            Self::Functions => "form function",
            Self::FormerOpset => "form opset",
        }
    }

    /// What a model written in this form contains, in words.
    const fn means(self) -> &'static str {
        match self {
            Self::If => "a branch (If)",
            Self::Loop => "a Loop",
            Self::Scan => "a Scan",
            Self::Sizes => "sizes that are names, or not said at all",
            Self::Types => "values within of which no type is said (`value_info`)",
            Self::Parameters => "an operand that is computed or comes in, where it could be a constant",
            Self::Defaults => "an input with a default, which is an initializer of its name",
            Self::OverriddenDefaults => "an input with a default and another value",
            Self::Constants => "Constant nodes in place of initializers",
            Self::Fields => {
                "tensors whose elements are in a field of their type (such as `int32_data`) and not bytes"
            }
            Self::Names => "values and nodes that are named as exporters name them",
            Self::Sparse => "initializers in sparse form (`sparse_initializer`)",
            Self::Functions => "functions of the model's own and calls of these",
            Self::FormerOpset => "an earlier opset",
        }
    }

    const ALL: [Self; 14] = [
        Self::If,
        Self::Loop,
        Self::Scan,
        Self::Sizes,
        Self::Types,
        Self::Parameters,
        Self::Defaults,
        Self::OverriddenDefaults,
        Self::Constants,
        Self::Fields,
        Self::Names,
        Self::Sparse,
        Self::Functions,
        Self::FormerOpset,
    ];

    /// Whether nodes are inside of it.
    pub(crate) const fn has_body(self) -> bool {
        matches!(self, Self::If | Self::Loop | Self::Scan)
    }
}

/// What a model contains that is written in a form after which a finding is named, such as `form If` or `form parameter
/// of Pad`; `None` if the name is no form's.
pub fn meaning(name: &str) -> Option<&'static str> {
    let is_it = |form: &ProgramForm| {
        name.strip_prefix(form.name()).is_some_and(|rest| rest.is_empty() || rest.starts_with(" of "))
    };
    ProgramForm::ALL.into_iter().find(is_it).map(ProgramForm::means)
}

/// A program as targets get it.
#[derive(Clone, PartialEq, Debug)]
pub struct TargetProgram {
    /// The program.
    pub program: Program,
    /// How its inputs and outputs are made of the variables and outputs of the model that it leads to.
    pub interface: Interface,
}

impl TargetProgram {
    /// Whether a program says more than the model that it leads to: the model holds only for these values, or lacks
    /// forms of the program.
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

/// The model that a program leads to for inputs by name. Names that are no inputs of the program are passed over.
pub(crate) fn lead(program: &Program, inputs: &BTreeMap<String, Datum>) -> Result<Led, onnx::Error> {
    let Imported { model, interface, is_specialised, origins, .. } = case::trace(program, inputs)?;
    let inputs = reference::bind(&model, inputs).map_err(|why| onnx::Error::invalid("inputs", why))?;
    Ok(Led { model, interface, inputs, is_specialised, origins })
}

/// A program without one of its forms, or without one use of it.
pub(crate) struct Undone {
    /// The form.
    pub(crate) form: ProgramForm,
    /// The value of the main graph that the form is about: a result of its node, or a value that comes in by it. `None`
    /// for a form in a body, where no value can be looked at.
    pub(crate) about: Option<ValueId>,
    /// The program without the form, which computes the same for the inputs at hand.
    pub(crate) program: Program,
}

/// A node with computed operands, and the program with constants for these.
pub(crate) struct Parameter {
    /// The operator's name.
    pub(crate) name: String,
    /// What the node gives first.
    pub(crate) gives: Option<ValueId>,
    /// The program with constants.
    pub(crate) program: Program,
}

/// The forms of a program, and the way that its inputs take through them.
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
    pub(crate) fn undone(&self) -> Vec<Undone> {
        let mut all: Vec<Undone> = self.of_today().into_iter().collect();
        for Plainer { form, without, about } in PLAINER {
            let without = without(self.program, self.inputs);
            all.extend(without.map(|program| Undone {
                form: *form,
                about: about(self.program, self.inputs),
                program,
            }));
        }
        all.extend(self.in_bytes());
        for held in held(self.program) {
            let without = self.written_out(&held);
            let about = held.way.is_empty().then(|| gives(self.program, held.at)).flatten();
            all.extend(without.map(|(form, program)| Undone { form, about, program }));
        }
        all
    }

    /// The program of a former opset, rewritten for an opset in which other forms can be undone.
    fn of_today(&self) -> Option<Undone> {
        let program = self.program.in_first_opset(self.inputs)?;
        let first = program.main.body.nodes.first();
        let about = first.and_then(|node| node.outputs.first().copied().flatten());
        Some(Undone { form: ProgramForm::FormerOpset, about, program })
    }

    /// The name of the operator of the main graph, or of what holds its bodies, where it has no other.
    pub(crate) fn only_operator(&self) -> Option<&str> {
        let nodes = &self.program.main.body.nodes;
        let all: BTreeSet<&str> = nodes.iter().map(|node| node.rest.op_type()).collect();
        let holding = nodes.iter().filter(|node| node.bodies().next().is_some());
        let holding: BTreeSet<&str> = holding.map(|node| node.rest.op_type()).collect();
        [all, holding].into_iter().find(|names| names.len() == 1)?.pop_first()
    }

    /// The program with the elements of tensors as bytes: once for each element type, and once for all.
    fn in_bytes(&self) -> Vec<Undone> {
        let types = self.program.types_in_fields();
        let undone = |about: Option<ValueId>, is_meant: &dyn Fn(i32) -> bool| {
            let program = self.program.without_tensor_fields(is_meant)?;
            Some(Undone { form: ProgramForm::Fields, about, program })
        };
        let each = types.iter().filter_map(|(&ty, &value)| undone(value, &|other| other == ty));
        let all = (types.len() > 1).then(|| undone(None, &|_| true)).flatten();
        each.chain(all).collect()
    }

    /// The program with what a node holds written out in its place.
    fn written_out(&self, held: &Held) -> Option<(ProgramForm, Program)> {
        let Held { way, at, .. } = held;
        match held.op_type.as_str() {
            "If" => {
                let side = if self.side(held)? { "then_branch" } else { "else_branch" };
                Some((ProgramForm::If, self.program.with_side(way, *at, side)?))
            }
            "Loop" => Some((ProgramForm::Loop, self.with_iterations(held, self.iterations(held)?)?)),
            "Scan" => {
                let type_of = |value| self.type_in(way, value);
                let program = self.program.with_slices(way, *at, self.iterations(held)?, &type_of)?;
                Some((ProgramForm::Scan, program))
            }
            _ => None,
        }
    }

    /// The program in which a number of iterations takes the place of a Loop.
    fn with_iterations(&self, held: &Held, iterations: usize) -> Option<Program> {
        let type_of = |value| self.type_in(&held.way, value);
        self.program.with_iterations(&held.way, held.at, iterations, &type_of)
    }

    /// The type of a value where it can be looked at: of the main graph.
    fn type_in(&self, way: &Way, value: ValueId) -> Option<Type> {
        way.is_empty().then(|| self.type_of(value)).flatten()
    }

    /// For each operator that has computed operands where this program has attributes, the program with constants for these.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        let nodes: BTreeSet<usize> = self.program.open_parameters().iter().map(|&(at, ..)| at).collect();
        let without = |at: usize| {
            let name = self.program.main.body.nodes[at].rest.op_type().to_owned();
            let program = with_parameters_of(self.program, self.inputs, &|other| other == at)?;
            Some(Parameter { name, gives: gives(self.program, at), program })
        };
        nodes.into_iter().filter_map(without).collect()
    }

    /// The type of a value of the main graph for the inputs at hand. If the value is no tensor, it is the type of the
    /// first tensor in it.
    pub(crate) fn type_of(&self, value: ValueId) -> Option<Type> {
        let given = self.program.main.body.inputs.iter().find(|port| port.value == value);
        if let Some(Datum::Tensor(tensor)) =
            given.and_then(|port| self.inputs.get(self.program.main.name(port.value)))
        {
            return Some(tensor.ty());
        }
        let graph = lead(&self.program.giving(value), self.inputs).ok()?.model.graph;
        graph.outputs.first().map(|output| graph.ty(output.value).clone())
    }

    /// The program with fewer iterations of each loop: none, one, half of them, all but one.
    pub(crate) fn fewer_iterations(&self) -> Vec<Program> {
        let mut all = Vec::new();
        for held in held(self.program).iter().filter(|held| held.op_type == "Loop") {
            let iterations = self.iterations(held).unwrap_or(0);
            if iterations > 0 {
                all.extend(self.with_iterations(held, 0));
            }
            let counts: BTreeSet<usize> = [1, iterations / 2, iterations.saturating_sub(1)].into();
            let counts = counts.into_iter().filter(|count| (1..iterations).contains(count));
            all.extend(counts.filter_map(|n| self.program.with_count(&held.way, held.at, n as i64)));
        }
        all
    }

    /// The side that an If takes; `None` if its condition changes, and it takes both. A side that leaves no nodes in
    /// the model, such as one that makes sequences, cannot be told so: then the condition decides, if the If is outside
    /// of all bodies.
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

    /// The value of the condition of a node of the main graph.
    fn condition(&self, at: usize) -> Option<bool> {
        let condition = self.program.main.body.nodes.get(at)?.inputs.first().copied().flatten()?;
        let values = composite::values(self.program, &[condition], self.inputs)?;
        values.first()?.tensor()?.to_i128s().first().map(|&is| is != 0)
    }

    /// How many iterations a loop has; `None` if its body has no nodes that could tell.
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

/// How many forms a program has: each body is one, and each kind of statement that could be put in plainer words.
pub(crate) fn count(program: &Program) -> usize {
    let has_open_sizes = onnx::import::inputs(program)
        .is_ok_and(|inputs| inputs.iter().any(|input| input.open().next().is_some()));
    let kinds = [
        has_open_sizes,
        !program.undeclared().is_empty(),
        !program.open_parameters().is_empty(),
        program.without_defaults(|_| false).is_some(),
        program.without_constant_nodes().is_some(),
        !program.types_in_fields().is_empty(),
        !program.has_plain_names(),
        program.has_former_opset(),
        program.has_functions_of_its_own(),
        program.first_sparse_initializer().is_some(),
    ];
    held(program).len() + kinds.into_iter().filter(|&has| has).count()
}

/// The first result of a node of the main graph.
fn gives(program: &Program, at: usize) -> Option<ValueId> {
    program.main.body.nodes[at].outputs.iter().flatten().next().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_form_says_what_the_model_has() {
        assert_eq!(
            ProgramForm::ALL.map(|form| meaning(form.name())),
            ProgramForm::ALL.map(|form| Some(form.means()))
        );
        assert_eq!(meaning("form parameter of Pad"), meaning("form parameter"));
        assert_ne!(meaning("form overridden default"), meaning("form default"));
        assert_eq!((meaning("If"), meaning("form names of")), (None, None));
    }
}
