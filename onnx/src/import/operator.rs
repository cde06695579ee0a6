//! One operator: attributes and operands as its opset writes them, and its type.

use ir::{Attribute, Attributes, BadAttribute, DType, NodeKind, Operation, Spelling, Type, Unnamed, Value};
use ops::movement::split;
use ops::spec::{ABOUT_NARROW, Arity, Place};
use ops::{Op, Operator, Reject, Spec, schema};

use super::attribute;
use super::context::Context;
use super::translation::apply;
use super::walk::{Walk, too_many_outputs};
use super::{old, standard};
use crate::Error;
use crate::names::static_slots;
use crate::program::{Node, ValueId};
use crate::proto::AttributeProto;

/// Of the operands that become attributes, those that may have any dtype.
const ANY_DTYPE: [(&str, &str); 1] = [("OneHot", "depth")];

/// Lists that may be one number without an axis: the operator, and the attribute that the operand is. The text calls it a
/// tensor with one axis, but ONNX's own tests have it without, and runtimes take that.
const ONE_FOR_A_LIST: [(&str, &str); 1] = [("Unsqueeze", "axes")];

/// GridSample's modes have these names from opset 20 on. Before, some had others, by which the same was meant, and
/// images two axes: such a use is read, and not written.
const RENAMED: (u32, [(&str, &str); 2]) = (20, [("linear", "bilinear"), ("cubic", "bicubic")]);

/// An operator that was for training where it had more than one output, and the first opset in which an attribute says
/// so instead.
const TRAINED_BY_OUTPUTS: (&str, u32) = ("BatchNormalization", 14);

/// Adds the operator of a node.
pub(super) fn read<'p>(
    walk: &mut Walk<'p, '_>,
    node: &'p Node,
    given: &[&AttributeProto],
) -> Result<(), Error> {
    let declared = walk.context.declared;
    let spec = standard::operator(node.rest.op_type(), declared)?;
    check_training(spec, node, declared)?;
    add(walk, spec, node, given)
}

/// Adds the operator of a node as this one.
pub(super) fn add<'p>(
    walk: &mut Walk<'p, '_>,
    spec: &'static Spec,
    node: &'p Node,
    written: &[&AttributeProto],
) -> Result<(), Error> {
    let mut attributes = Attributes::new();
    for proto in written {
        check_name(spec, proto.name(), walk.context)?;
        if let Some(value) = attribute::read(proto, walk.context.options.external)? {
            attributes.set(proto.name(), value);
        }
    }
    let written = attributes.clone();
    let Operands { inputs, given } = operands(walk, spec, node, &mut attributes)?;
    let types = walk.graph.types(&inputs);
    let (opset, spelled) = (walk.context.opset, walk.context.spelled);
    if spec.name == "Split" {
        split_sizes(&mut attributes, types.first().copied().flatten(), node.outputs.len(), spelled)?;
    }
    check_stage(spec.name, &written)?;
    let op = Op::from_attributes(spec, &attributes).map_err(|e| bad_attribute(&e))?;
    check_understood(&op, &written, walk.context.declared)?;
    old::check(spec.name, walk.context.declared, &written, &types)?;
    check_dtypes([opset, walk.context.declared], spec, &types)?;
    let outputs =
        Operation::infer(&op, &types).map_err(|e| with_attributes(reject(&e, &types), &e, &written))?;
    if !is_renamed(&op, &written, opset, &types)? {
        check_meaning(opset, &op, &types)?;
    }
    let spelling = Spelling {
        is_terse: op.leaves_out_of(&written, spelled),
        unnamed: op.listed(unnamed(node), inputs.len(), outputs.len(), opset),
    };
    let id = walk.push_named(node, NodeKind::Operator(op), inputs, given, &outputs)?;
    walk.graph.nodes[id.index()].spelling = spelling;
    Ok(())
}

/// How many operands and outputs at the end of a node's lists have the empty name.
fn unnamed(node: &Node) -> Unnamed {
    let at_the_end =
        |list: &[Option<ValueId>]| list.iter().rev().take_while(|id| id.is_none()).count() as u32;
    Unnamed { operands: at_the_end(&node.inputs), outputs: at_the_end(&node.outputs) }
}

/// Outputs of training are not read in opsets where nothing but these says that a node trains.
fn check_training(spec: &Spec, node: &Node, declared: u32) -> Result<(), Error> {
    let (name, since) = TRAINED_BY_OUTPUTS;
    let trains = spec.name == name && declared < since && node.outputs.iter().skip(1).any(Option::is_some);
    if trains {
        let why = format!("those of training are there, and before opset {since} such a node is not read");
        return Err(Error::unsupported("outputs", why));
    }
    Ok(())
}

/// An attribute must be one of the operator's in the opset.
fn check_name(spec: &Spec, name: &str, context: &Context<'_>) -> Result<(), Error> {
    let lack = standard::lacks_attribute(spec.name, name, context.declared);
    let why = match (spec.place(name, context.spelled), lack) {
        (Place::List(slot) | Place::Scalar(slot) | Place::Single(slot), _) => {
            format!("in this opset it is operand {slot}")
        }
        (_, Some(why)) => why,
        (Place::Attribute, None) => return Ok(()),
        (Place::Absent | Place::Outputs | Place::Found(_), None) => {
            "the operator has no such attribute in this opset".to_owned()
        }
    };
    Err(Error::invalid(format!("attribute `{name}`"), why))
}

/// More operands than this opset has may be those of a later one, which has an attribute as an operand.
pub(super) fn check_form(spec: &Spec, given: usize, opset: u32) -> Result<(), Error> {
    let is_open = spec.inputs.last().is_some_and(|port| port.arity == Arity::Variadic);
    let most = spec.inputs.len() + static_slots(spec, opset).len();
    if is_open || given <= most {
        return Ok(());
    }
    let moved = static_slots(spec, *ir::graph::OPSETS.end());
    match moved.iter().find(|&&(slot, name, place)| slot < given && spec.place(name, opset) != place) {
        Some((slot, name, _)) => {
            let why = format!("opset {opset} has at most {most} operands; `{name}` became one later");
            Err(Error::invalid(format!("operand {slot}"), why))
        }
        None => Ok(()),
    }
}

/// The operands that stay operands, and the values that the others were read from.
struct Operands {
    inputs: Vec<Option<Value>>,
    given: Vec<Value>,
}

/// The operands, less those that become attributes.
fn operands<'p>(
    walk: &mut Walk<'p, '_>,
    spec: &Spec,
    node: &'p Node,
    attributes: &mut Attributes,
) -> Result<Operands, Error> {
    let opset = walk.context.spelled;
    let slots = static_slots(spec, opset);
    let (mut inputs, mut given) = (Vec::with_capacity(node.inputs.len()), Vec::new());
    for (i, &id) in node.inputs.iter().enumerate() {
        match (slots.iter().find(|&&(slot, ..)| slot == i), id) {
            (None, _) => inputs.push(walk.operand(id)?),
            (Some(_), None) => {}
            (Some(_), Some(_)) if walk.is_absent(id) => {}
            (Some(&(_, attribute, place)), Some(id)) => {
                let read = Reading {
                    place,
                    any_dtype: ANY_DTYPE.contains(&(spec.name, attribute)),
                    one_for_a_list: ONE_FOR_A_LIST.contains(&(spec.name, attribute)),
                };
                let (value, from) = static_operand(walk, id, &read)
                    .map_err(|e| e.inside(format!("operand {i} (`{attribute}`)")))?;
                attributes.set(attribute, value);
                given.extend(from);
            }
        }
    }
    while inputs.last() == Some(&None) {
        inputs.pop();
    }
    let named = node.outputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    for field in spec.fields.iter().filter(|f| spec.place(f.name, opset) == Place::Outputs) {
        if named > spec.outputs.len() {
            return Err(too_many_outputs(named, spec.outputs.len()));
        }
        attributes.set(field.name, Attribute::Int(named as i64));
    }
    for field in &spec.fields {
        let Place::Found(operand) = spec.place(field.name, opset) else { continue };
        let (count, from) =
            count(walk, &inputs, operand).map_err(|e| e.inside(format!("`{}`", field.name)))?;
        attributes.set(field.name, Attribute::Int(count));
        given.extend(from);
    }
    Ok(Operands { inputs, given })
}

/// The number of elements of an operand that are not zero: the one thing so far that an attribute is and that only
/// values tell. What it was read from is not the operand but which of its elements are zero: an element may be off and
/// still be none.
fn count(
    walk: &mut Walk<'_, '_>,
    inputs: &[Option<Value>],
    operand: usize,
) -> Result<(i64, Option<Value>), Error> {
    let what = || format!("operand {operand}");
    let x = inputs.get(operand).copied().flatten().ok_or_else(|| reject(&Reject::Missing(operand), &[]))?;
    let (mut tensor, mut from) = walk.read_value(x, what())?;
    if from.is_some() && tensor.dtype() != DType::Bool {
        let truth = apply(walk, "Cast", &Attributes::new().dtype("to", DType::Bool), &[x], &[])?[0];
        (tensor, from) = walk.read_value(truth, what())?;
    }
    let count = if tensor.dtype().is_float() {
        tensor.to_f64s().into_iter().filter(|&x| x != 0.0).count()
    } else {
        tensor.to_i128s().into_iter().filter(|&z| z != 0).count()
    };
    Ok((count as i64, from))
}

/// How an operand is read that is an attribute.
struct Reading {
    place: Place,
    /// Whether it may be of any dtype.
    any_dtype: bool,
    /// Whether a list of one may be a number without an axis.
    one_for_a_list: bool,
}

/// The attribute that an operand's value amounts to, and the value to name as what it was read from.
fn static_operand(
    walk: &mut Walk<'_, '_>,
    id: ValueId,
    &Reading { place, any_dtype, one_for_a_list }: &Reading,
) -> Result<(Attribute, Option<Value>), Error> {
    let (tensor, from) = walk.read(id)?;
    let what = || format!("value `{}`", walk.frame.scope.name(id));
    if !any_dtype && !matches!(tensor.dtype(), DType::I64 | DType::I32) {
        return Err(Error::invalid(what(), format!("it must be int64, but is {}", tensor.ty())));
    }
    let list: Vec<i64> = tensor.to_i128s().into_iter().map(|v| v as i64).collect();
    let value = match (place, &list[..], tensor.shape().len()) {
        (Place::List(_), _, 1) => Attribute::Ints(list),
        (Place::List(_), _, 0) if one_for_a_list => Attribute::Ints(list),
        (Place::Scalar(_), &[v], 0 | 1) | (Place::Single(_), &[v], 1) => Attribute::Int(v),
        (Place::List(_), ..) => {
            return Err(Error::invalid(what(), format!("it must be a list, but is {}", tensor.ty())));
        }
        _ => return Err(Error::invalid(what(), format!("it must be one number, but is {}", tensor.ty()))),
    };
    Ok((value, from))
}

/// Split without sizes: in equal parts, of which from opset 18 on the last may be smaller.
fn split_sizes(
    attributes: &mut Attributes,
    input: Option<&Type>,
    outputs: usize,
    opset: u32,
) -> Result<(), Error> {
    let input = input.ok_or_else(|| reject(&Reject::Missing(0), &[]))?;
    let parts = attributes.remove("num_outputs");
    if attributes.get("split").is_some() {
        return match parts {
            Some(_) => Err(Error::invalid("attribute `num_outputs`", "the sizes are given as well")),
            None => Ok(()),
        };
    }
    match parts {
        Some(Attribute::Int(n)) if n == outputs as i64 => {}
        Some(n) => {
            let why = format!("it is {n}, but the node has {outputs} outputs");
            return Err(Error::invalid("attribute `num_outputs`", why));
        }
        None if opset >= split::COUNTED => {
            return Err(Error::invalid("attribute `num_outputs`", "neither it nor the sizes are given"));
        }
        None => {}
    }
    let axis = attributes.get_int("axis", Some(0)).map_err(|e| bad_attribute(&e))?;
    // A wrong rank or axis is left to the type rule.
    let size = ops::rule::axis(axis, input.rank()).map_or(0, |axis| input.shape[axis]);
    let sizes = split::equal_parts(size, outputs as i64, opset).ok_or_else(|| {
        Error::invalid("outputs", format!("{size} cannot be split into {outputs} equal parts"))
    })?;
    attributes.set("split", Attribute::Ints(sizes));
    Ok(())
}

/// Attributes that the model gives must mean something to the operator, or say what holds without them.
fn check_understood(op: &Op, given: &Attributes, declared: u32) -> Result<(), Error> {
    let understood = op.attributes();
    let is_lost = |(name, value): &(&str, &Attribute)| {
        let is_empty = matches!(value, Attribute::Ints(list) if list.is_empty());
        let is_split = op.spec().name == "Split" && *name == "num_outputs";
        let is_told = understood.get(name).is_some() || ABOUT_NARROW.contains(name);
        !is_told && !is_empty && !is_split && !standard::is_default(op.spec().name, name, value, declared)
    };
    match given.iter().find(is_lost) {
        Some((name, _)) => {
            Err(Error::unsupported(format!("attribute `{name}`"), "this program does not have it"))
        }
        None => Ok(()),
    }
}

/// Whether this is a GridSample on images of two axes from before opset 20, when modes had other names. Fails
/// if the model gives a mode the name of the other opsets.
fn is_renamed(op: &Op, written: &Attributes, opset: u32, types: &[Option<&Type>]) -> Result<bool, Error> {
    let (since, names) = RENAMED;
    if op.spec().name != "GridSample" {
        return Ok(false);
    }
    let is_other = |(now, then): &&(&str, &str)| {
        let other = if opset < since { *now } else { *then };
        matches!(written.get("mode"), Some(Attribute::Name(mode)) if mode == other)
    };
    if let Some((now, then)) = names.iter().find(is_other) {
        let why = format!("`{now}` is called `{then}` before opset {since}, and the model has {opset}");
        return Err(Error::invalid("attribute `mode`", why));
    }
    let is_flat = types.first().copied().flatten().is_some_and(|ty| ty.rank() == 4);
    Ok(opset < since && is_flat)
}

/// Requires that the use has the same meaning in the model's opset as here.
fn check_meaning(opset: u32, op: &Op, types: &[Option<&Type>]) -> Result<(), Error> {
    let since = op.facts(types).since;
    if since <= opset {
        return Ok(());
    }
    let why = format!("with {} such a use came with opset {since}, but the model has {opset}", listed(types));
    Err(Error::unsupported("operator", why))
}

/// Normalisations have no list of what their first stage may be done in. Here it is f32 or bf16.
fn check_stage(name: &str, written: &Attributes) -> Result<(), Error> {
    match written.get("stash_type") {
        Some(&Attribute::Int(code @ (10 | 11)))
            if matches!(name, "GroupNormalization" | "RMSNormalization") =>
        {
            let why = format!("it is {code}, and this program has 1 and 16 alone");
            Err(Error::unsupported("attribute `stash_type`", why))
        }
        _ => Ok(()),
    }
}

/// Dtypes must be allowed in the opset, which may be older as the model declares it.
fn check_dtypes([opset, declared]: [u32; 2], spec: &Spec, types: &[Option<&Type>]) -> Result<(), Error> {
    for (i, ty) in types.iter().enumerate().take(spec.most_inputs()) {
        let allowed = spec.input_types(i, opset);
        if let Some(ty) = ty.filter(|t| !allowed.contains(t.dtype)) {
            let is_valid = schema::in_force(spec.name, declared)
                .and_then(|schema| schema.inputs.get(i))
                .is_some_and(|operand| operand.dtypes.contains(ty.dtype));
            let what = format!("operand {i}");
            return Err(if is_valid {
                let why = format!("it is {}; taken in opset {opset} are {allowed} alone", ty.dtype);
                Error::unsupported(what, why)
            } else {
                let why = format!("it is {}, but in opset {declared} it must be one of {allowed}", ty.dtype);
                Error::invalid(what, why)
            });
        }
    }
    Ok(())
}

fn bad_attribute(error: &BadAttribute) -> Error {
    match error {
        BadAttribute::Unsupported { .. } => Error::unsupported("operator", error.to_string()),
        _ => Error::invalid("operator", error.to_string()),
    }
}

/// The error for operands of types that the operator does not take.
pub(super) fn reject(error: &Reject, types: &[Option<&Type>]) -> Error {
    let why = || format!("{error}, with {}", listed(types));
    match error {
        Reject::Overflow | Reject::Unsaid(_) => Error::unsupported("operator", why()),
        Reject::Attribute(bad) => bad_attribute(bad),
        Reject::Missing(_)
        | Reject::TooMany { .. }
        | Reject::DType { .. }
        | Reject::MixedDTypes(..)
        | Reject::Rank { .. }
        | Reject::NotEqual(..)
        | Reject::Exceeds(..)
        | Reject::NoBroadcast(..)
        | Reject::Open
        | Reject::Negative(_)
        | Reject::Axis { .. }
        | Reject::RepeatedAxis(_)
        | Reject::Length { .. } => Error::invalid("operator", why()),
    }
}

/// The same, with the attributes that the node has: one of them may be at fault, and type rules tell sizes apart by
/// nothing but numbers.
fn with_attributes(error: Error, reject: &Reject, written: &Attributes) -> Error {
    let all: Vec<String> = written.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    match error {
        Error::Invalid { what, why }
            if matches!(reject, Reject::Exceeds(..) | Reject::Negative(_)) && !all.is_empty() =>
        {
            Error::Invalid { what, why: format!("{why} and the attributes {}", all.join(", ")) }
        }
        other => other,
    }
}

fn listed(types: &[Option<&Type>]) -> String {
    let each: Vec<String> =
        types.iter().map(|ty| ty.map_or_else(|| "none".to_owned(), ToString::to_string)).collect();
    match each.as_slice() {
        [] => "no operands".to_owned(),
        [one] => format!("the operand {one}"),
        more => format!("the operands {}", more.join(", ")),
    }
}
