//! Forms in which a program says something in more words than it has to. For each form: the program in plainer words,
//! and the value that the form is about.

use std::collections::{BTreeMap, BTreeSet};

use interp::{Profile, Taps};
use ir::{Datum, DatumKind, Tensor, Type, Wanted};
use onnx::export::value_info;
use onnx::program::{Port, Program, ValueId};

use super::{Led, ProgramForm, gives, lead};
use crate::composite;

/// A form whose uses are all put in plainer words at once.
pub(super) struct Plainer {
    /// The form.
    pub(super) form: ProgramForm,
    /// The program without any use of the form, which computes the same for inputs by name; `None` if it has none.
    pub(super) without: fn(&Program, &BTreeMap<String, Datum>) -> Option<Program>,
    /// The first value of the main graph that the form is about.
    pub(super) about: fn(&Program, &BTreeMap<String, Datum>) -> Option<ValueId>,
}

/// All of them.
pub(super) const PLAINER: &[Plainer] = &[
    // Nothing else changes with it, where a parameter that is computed from one would be written in its place.
    Plainer {
        form: ProgramForm::Sparse,
        without: |program, _| program.without_sparse_initializers(),
        about: |program, _| program.first_sparse_initializer(),
    },
    Plainer { form: ProgramForm::Sizes, without: with_sizes, about: |p, inputs| open_input(p, inputs) },
    Plainer { form: ProgramForm::Types, without: with_types, about: |p, _| p.undeclared().first().copied() },
    Plainer {
        form: ProgramForm::Parameters,
        without: with_parameters,
        about: |p, _| gives(p, p.open_parameters().first()?.0),
    },
    Plainer {
        form: ProgramForm::Defaults,
        without: |program, inputs| program.without_defaults(|name| inputs.contains_key(name)),
        about: |program, inputs| default(program, |name| !inputs.contains_key(name)),
    },
    Plainer {
        form: ProgramForm::OverriddenDefaults,
        without: without_overridden_defaults,
        about: |program, inputs| default(program, |name| inputs.contains_key(name)),
    },
    Plainer {
        form: ProgramForm::Constants,
        without: |program, _| program.without_constant_nodes(),
        about: |program, _| {
            let at = program.main.body.nodes.iter().position(|node| node.rest.op_type() == "Constant")?;
            gives(program, at)
        },
    },
    Plainer {
        form: ProgramForm::Functions,
        without: |program, _| program.without_calls(),
        about: |program, _| gives(program, program.first_call()?),
    },
    Plainer {
        form: ProgramForm::Names,
        without: |program, _| program.with_plain_names(),
        about: |_, _| None,
    },
];

/// The first input of the main graph with a default, of those whose names are meant.
fn default(program: &Program, is_meant: impl Fn(&str) -> bool) -> Option<ValueId> {
    let body = &program.main.body;
    let has_default = |value: ValueId| body.initializers.iter().any(|i| i.value == value);
    let mut inputs = body.inputs.iter().map(|port| port.value);
    inputs.find(|&value| has_default(value) && is_meant(program.main.name(value)))
}

/// The program without the defaults of inputs that have other values, as an engine sees it that makes constants of
/// defaults.
pub(crate) fn without_overridden_defaults(
    program: &Program,
    inputs: &BTreeMap<String, Datum>,
) -> Option<Program> {
    program.without_overridden_defaults(|name| inputs.contains_key(name))
}

/// The program with the types of all values of the main graph declared.
fn with_types(program: &Program, inputs: &BTreeMap<String, Datum>) -> Option<Program> {
    let open = program.undeclared();
    if open.is_empty() {
        return None;
    }
    let Led { model, interface, .. } = lead(&program.giving_all(&open), inputs).ok()?;
    // A sequence is several outputs of the model, or one of another type.
    let ty = |wanted: &Wanted| {
        let output = model.graph.outputs.iter().find(|output| output.name == wanted.name);
        output.filter(|_| wanted.kind == DatumKind::Tensor).map(|output| model.graph.ty(output.value).clone())
    };
    // An optional that holds a tensor has the type of that there.
    let others = no_tensors(program);
    let known = open.into_iter().zip(interface.outputs.iter().map(ty));
    let known = known.filter(|(value, _)| !others.contains(value));
    Some(program.declaring(&known.filter_map(|(value, ty)| Some((value, ty?))).collect()))
}

/// The values of the main graph that are sequences or optionals, as far as their operators tell. If there are any,
/// values that may be such are among them.
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

/// The program with constants for all operands that are attributes in our models.
fn with_parameters(program: &Program, inputs: &BTreeMap<String, Datum>) -> Option<Program> {
    with_parameters_of(program, inputs, &|_| true)
}

/// The program with constants for those operands of some nodes of the main graph that are attributes in our models.
pub(super) fn with_parameters_of(
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

/// The program with all sizes of its tensor inputs declared; `None` if they are declared already.
fn with_sizes(program: &Program, inputs: &BTreeMap<String, Datum>) -> Option<Program> {
    let mut said = program.clone();
    let mut is_new = false;
    for port in &mut said.main.body.inputs {
        let Some(ty) = input_type(program, port, inputs) else { continue };
        is_new |= is_open(port, &ty);
        port.declared = unnamed(&ty);
    }
    is_new.then_some(said)
}

/// The first tensor input with a size that is not declared.
fn open_input(program: &Program, inputs: &BTreeMap<String, Datum>) -> Option<ValueId> {
    let mut ports = program.main.body.inputs.iter();
    let open = ports.find(|port| input_type(program, port, inputs).is_some_and(|ty| is_open(port, &ty)));
    open.map(|port| port.value)
}

/// The type that comes in, of a tensor.
fn input_type(program: &Program, port: &Port, inputs: &BTreeMap<String, Datum>) -> Option<Type> {
    inputs.get(program.main.name(port.value)).and_then(Datum::tensor).map(Tensor::ty)
}

fn is_open(port: &Port, ty: &Type) -> bool {
    onnx::import::declared_type(&port.declared).as_ref() != Some(ty)
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
