//! What comes into a model and what it gives: tensors of the graph that is made, and how they make up the program's inputs
//! and outputs.

use std::collections::BTreeSet;
use std::rc::Rc;

use ir::datum::{item_of, length_of, presence_of, shape_of};
use ir::{DType, Datum, DatumKind, Held, Interface, NodeKind, Strings, Tensor, Type, Value, Wanted};

use super::declared::Declared;
use super::frame::{Bound, Sequence, Texts};
use super::known::{Elements, Known};
use super::sequence::{length, presence};
use super::strings;
use super::terms::check_countable;
use super::translation;
use super::walk::Walk;
use crate::Error;
use crate::program::{Body, Port, ValueId};

/// The inputs of the model. One that is an initializer as well has a default value; it is read as that constant, unless
/// it is given.
pub(super) fn inputs(walk: &mut Walk<'_, '_>, body: &Body, interface: &mut Interface) -> Result<(), Error> {
    let defaults: BTreeSet<ValueId> = body.initializers.iter().map(|i| i.value).collect();
    for port in &body.inputs {
        let name = walk.frame.scope.name(port.value).to_owned();
        let declared = Declared::read(&name, &port.declared)?;
        let known = walk.context.options.known_inputs.known(&name);
        if defaults.contains(&port.value) && known.is_none() {
            continue;
        }
        let kind = declared.kind(format!("input `{name}`"))?.filter(|_| declared.dtype().is_some());
        let kind = kind.ok_or_else(|| Error::invalid(format!("input `{name}`"), "it has no element type"))?;
        walk.context.is_written_out |= declared.complete().is_none();
        let made_of = known.as_ref().map_or_else(|| Datum::Tensor(name.clone()), |known| known.names(&name));
        let bound = match &known {
            Some(known) => {
                check(&name, kind, &declared, known)?;
                declared.tell(&known.clone().map(Tensor::ty), &mut walk.context.sizes);
                known_input(walk, &name, known)?
            }
            None => Bound::Tensor(unknown_input(walk, &name, &declared)?),
        };
        interface.inputs.push((name, made_of));
        walk.define(port.value, bound)?;
    }
    Ok(())
}

/// Requires that a value is what an input is declared to be.
fn check(name: &str, kind: DatumKind, declared: &Declared, known: &Datum<&Tensor>) -> Result<(), Error> {
    declared.check(name, &known.clone().map(Tensor::ty))?;
    if kind.admits(known) {
        return Ok(());
    }
    Err(Error::invalid(
        format!("input `{name}`"),
        format!("it is declared {declared}, but no {kind} comes in"),
    ))
}

/// An input whose value is known: a variable for each of its tensors.
fn known_input<'p>(walk: &mut Walk<'p, '_>, name: &str, known: &Datum<&'p Tensor>) -> Result<Bound, Error> {
    let mut sequence = |items: &[&'p Tensor]| {
        let items =
            items.iter().enumerate().map(|(i, item)| known_variable(walk, &item_of(name, i), name, item));
        let items = items.collect::<Result<_, Error>>()?;
        Ok(Bound::Sequence(Sequence { items, ..Sequence::default() }))
    };
    match known {
        Datum::Sequence(items) | Datum::Optional(Some(Held::Sequence(items))) => sequence(items),
        Datum::Tensor(tensor) | Datum::Optional(Some(Held::Tensor(tensor))) => {
            known_variable(walk, name, name, tensor).map(Bound::Tensor)
        }
        Datum::Optional(None) => Ok(Bound::Nothing(Vec::new())),
        Datum::Strings(Strings { shape, items }) => {
            strings::few(items.len())?;
            let items =
                items.iter().enumerate().map(|(i, item)| known_variable(walk, &item_of(name, i), name, item));
            let items = items.collect::<Result<_, Error>>()?;
            Ok(Bound::Strings(Texts { shape: shape.clone(), items, given: Vec::new() }))
        }
    }
}

/// The variable of a tensor that is known as a part of an input.
fn known_variable<'p>(
    walk: &mut Walk<'p, '_>,
    name: &str,
    input: &str,
    tensor: &'p Tensor,
) -> Result<Value, Error> {
    let value = variable(walk, name, &tensor.ty())?;
    let inputs = Rc::new(BTreeSet::from([input.to_owned()]));
    walk.knowledge.learn(value, Known { tensor: Elements::Given(tensor), inputs });
    Ok(value)
}

/// An input of which the type alone is known.
fn unknown_input(walk: &mut Walk<'_, '_>, name: &str, declared: &Declared) -> Result<Value, Error> {
    let what = || format!("input `{name}`");
    if declared.kind(what())?.is_some_and(|kind| kind != DatumKind::Tensor) {
        let why = format!("it is of type {declared}: its value must be given, and none is");
        return Err(Error::unsupported(what(), why));
    }
    let ty = declared.complete().ok_or_else(|| {
        Error::unsupported(what(), format!("its type {declared} has sizes that only a value would tell"))
    })?;
    variable(walk, name, &ty)
}

/// A parameter of a function, which is a tensor.
pub(super) fn parameter(walk: &mut Walk<'_, '_>, id: ValueId, ty: &Type) -> Result<(), Error> {
    let name = walk.frame.scope.name(id);
    let value = variable(walk, name, ty)?;
    walk.define(id, Bound::Tensor(value))
}

/// An input of the graph that is made.
fn variable(walk: &mut Walk<'_, '_>, name: &str, ty: &Type) -> Result<Value, Error> {
    check_countable(format!("input `{name}`"), ty)?;
    let node = walk.push(NodeKind::Variable { name: name.to_owned() }, vec![], vec![ty.clone()], None)?;
    Ok(Value::new(node, 0))
}

/// What a function gives, which is a tensor.
pub(super) fn result(walk: &mut Walk<'_, '_>, port: &Port) -> Result<(), Error> {
    let bound = walk.frame.get(port.value)?.clone();
    walk.check(port, &bound)?;
    let value = walk.operand(Some(port.value))?;
    let value = value.ok_or_else(|| walk.not_a_tensor(port.value, &bound))?;
    walk.graph.output(walk.frame.scope.name(port.value), value);
    Ok(())
}

/// An output of the model. The tensors that it is made of are outputs of the graph.
pub(super) fn output(walk: &mut Walk<'_, '_>, port: &Port) -> Result<Wanted, Error> {
    let name = walk.frame.scope.name(port.value).to_owned();
    let what = || format!("output `{name}`");
    let bound = walk.frame.get(port.value)?.clone();
    walk.check(port, &bound)?;
    let declared = Declared::read(&name, &port.declared)?;
    // onnx.proto, TypeProto.Tensor: "This field MUST NOT have the value of UNDEFINED" and "MUST be present".
    if declared.kind(what())? == Some(DatumKind::Tensor) && declared.dtype().is_none() {
        return Err(Error::invalid(what(), "it is declared a tensor and has no element type"));
    }
    let kind = declared.kind(what())?.or(match bound {
        Bound::Tensor(_) | Bound::Static(_) => Some(DatumKind::Tensor),
        Bound::Sequence(_) => Some(DatumKind::Sequence),
        Bound::Strings(_) => Some(DatumKind::Strings),
        Bound::Nothing(_) | Bound::Absent => None,
    });
    let kind =
        kind.ok_or_else(|| Error::invalid(what(), "it has no value, and nothing is said of its type"))?;
    if kind != DatumKind::Tensor {
        walk.context.is_written_out = true;
    }
    if kind.is_optional() {
        let presence = presence(walk, &bound)?;
        walk.graph.output(presence_of(&name), presence);
    }
    let is_text = matches!(bound, Bound::Strings(_));
    let first = give(walk, port, &name, bound)?;
    if is_text {
        return Ok(Wanted { name, dtype: DType::U8, kind });
    }
    let dtype = first.map(|value| walk.graph.ty(value).dtype).or(declared.dtype());
    let dtype = dtype.ok_or_else(|| Error::unsupported(what(), "its element type is not said"))?;
    Ok(Wanted { name, dtype, kind })
}

/// Makes the tensors in a value outputs of the graph; the first of them, if there is one.
fn give(walk: &mut Walk<'_, '_>, port: &Port, name: &str, bound: Bound) -> Result<Option<Value>, Error> {
    let sequence = match bound {
        Bound::Tensor(_) | Bound::Static(_) => {
            let value = walk.operand(Some(port.value))?;
            if let Some(value) = value {
                walk.graph.output(name, value);
            }
            return Ok(value);
        }
        Bound::Nothing(_) => return Ok(None),
        Bound::Absent => return Err(walk.not_a_tensor(port.value, &bound)),
        Bound::Strings(texts) => {
            let rank = [texts.shape.len() as i64];
            let shape = walk.integers(DType::I64, &rank, |i| texts.shape[i].into())?;
            let shape = translation::given_value(walk, shape, &texts.given)?;
            walk.graph.output(shape_of(name), shape);
            give_items(walk, name, &texts.items, &texts.given)?;
            return Ok(None);
        }
        Bound::Sequence(sequence) => sequence,
    };
    let length = length(walk, &sequence)?;
    walk.graph.output(length_of(name), length);
    give_items(walk, name, &sequence.items, &sequence.given)?;
    Ok(sequence.items.first().copied())
}

fn give_items(walk: &mut Walk<'_, '_>, name: &str, items: &[Value], given: &[Value]) -> Result<(), Error> {
    for (i, &item) in items.iter().enumerate() {
        let item = translation::given_value(walk, item, given)?;
        walk.graph.output(item_of(name, i), item);
    }
    Ok(())
}
