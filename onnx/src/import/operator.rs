//! One operator: attributes and operands as its opset writes them, and its type.

use std::collections::BTreeSet;
use std::sync::Arc;

use ir::{Attribute, Attributes, BadAttribute, DType, NodeKind, Operation, Tensor, Type, Value};
use ops::spec::{Arity, Place};
use ops::{Op, Operator, Reject, Spec};

use super::Context;
use super::attribute;
use super::body::{self, Body, Known};
use super::standard;
use crate::Error;
use crate::names::{self, static_slots};
use crate::proto::{AttributeProto, NodeProto};

/// The most elements of a tensor that is computed while the model is read.
const MAX_FOLDED: i64 = 64;

/// The most scalar operations that may take.
const MAX_FOLDED_FLOPS: u64 = 1 << 16;

/// Attributes that change nothing for the dtypes there are here: they are about 8-bit floats.
const IMMATERIAL: [&str; 2] = ["saturate", "round_mode"];

/// The operands among those that become attributes that may have any dtype.
const ANY_DTYPE: [(&str, &str); 1] = [("OneHot", "depth")];

/// Adds the operator of a node.
pub(super) fn read<'p>(
    body: &mut Body<'p, '_>,
    node: &'p NodeProto,
    given: &[&AttributeProto],
) -> Result<(), Error> {
    let declared = body.context.declared;
    let spec = standard::operator(node.op_type(), declared)?;
    add(body, spec, node, given).map_err(|e| match e {
        Error::Invalid { what, why } if standard::is_redefined(spec.name, declared) => {
            Error::unsupported(what, format!("{why} (as of opset 26; opset {declared} may allow it)"))
        }
        e => e,
    })
}

fn add<'p>(
    body: &mut Body<'p, '_>,
    spec: &'static Spec,
    node: &'p NodeProto,
    given: &[&AttributeProto],
) -> Result<(), Error> {
    let mut attributes = Attributes::new();
    for proto in given {
        check_name(spec, proto.name(), body.context)?;
        if let Some(value) = attribute::read(proto, body.context.options.external)? {
            attributes.set(proto.name(), value);
        }
    }
    let given = attributes.clone();
    let inputs = operands(body, spec, node, &mut attributes)?;
    let types: Vec<Option<&Type>> = inputs.iter().map(|v| v.map(|v| body.graph.ty(v))).collect();
    if spec.name == "Split" {
        split_sizes(
            &mut attributes,
            types.first().copied().flatten(),
            node.output.len(),
            body.context.opset,
        )?;
    }
    let op = (spec.parse)(&attributes).map_err(|e| bad_attribute(&e))?;
    check_understood(&op, &given)?;
    check_dtypes(body.context.opset, spec, &types)?;
    let outputs = Operation::infer(&op, &types).map_err(|e| reject(&e))?;
    let folded = fold(body, &op, node, &types, &outputs);
    let position = names::position(node.name(), 'n');
    body.push_named(node, NodeKind::Operator(op), inputs, &outputs, position)?;
    for (name, known) in folded.into_iter().flatten() {
        body.learn(name, known);
    }
    Ok(())
}

/// An attribute must be one of the operator's in the opset.
fn check_name(spec: &Spec, name: &str, context: &Context<'_>) -> Result<(), Error> {
    let lack = standard::lacks_attribute(spec.name, name, context.declared);
    let why = match (spec.place(name, context.opset), lack) {
        (Place::List(slot) | Place::Scalar(slot) | Place::Single(slot), _) => {
            format!("in this opset it is operand {slot}")
        }
        (_, Some(why)) => why,
        (Place::Attribute, None) => return Ok(()),
        (Place::Absent | Place::Outputs, None) => {
            "the operator has no such attribute in this opset".to_owned()
        }
    };
    Err(Error::invalid(format!("attribute `{name}`"), why))
}

/// More operands than this opset has may be those of a later one, which has an attribute as an operand.
fn check_form(spec: &Spec, given: usize, opset: u32) -> Result<(), Error> {
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

/// The operands, less those that become attributes.
fn operands<'p>(
    body: &mut Body<'p, '_>,
    spec: &Spec,
    node: &'p NodeProto,
    attributes: &mut Attributes,
) -> Result<Vec<Option<Value>>, Error> {
    let opset = body.context.opset;
    check_form(spec, node.input.len(), opset)?;
    let slots = static_slots(spec, opset);
    let mut inputs = Vec::with_capacity(node.input.len());
    for (i, name) in node.input.iter().enumerate() {
        match slots.iter().find(|&&(slot, ..)| slot == i) {
            None => inputs.push(body.operand(name)?),
            Some(_) if name.is_empty() => {}
            Some(&(_, attribute, place)) => {
                let any_dtype = ANY_DTYPE.contains(&(spec.name, attribute));
                let value = static_operand(body, name, place, any_dtype)
                    .map_err(|e| e.inside(format!("operand {i} (`{attribute}`)")))?;
                attributes.set(attribute, value);
            }
        }
    }
    while inputs.last() == Some(&None) {
        inputs.pop();
    }
    let named = node.output.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
    for field in spec.fields.iter().filter(|f| spec.place(f.name, opset) == Place::Outputs) {
        if named > spec.outputs.len() {
            return Err(body::too_many_outputs(named, spec.outputs.len()));
        }
        attributes.set(field.name, Attribute::Int(named as i64));
    }
    Ok(inputs)
}

/// The attribute that an operand's value amounts to.
fn static_operand(
    body: &mut Body<'_, '_>,
    name: &str,
    place: Place,
    any_dtype: bool,
) -> Result<Attribute, Error> {
    let what = || format!("value `{name}`");
    let known = body.known(name)?.cloned();
    let Some(Known { tensor, inputs }) = known else {
        return Err(Error::unsupported(what(), "it must be known before the model is run, but is computed"));
    };
    if !any_dtype && !matches!(tensor.dtype(), DType::I64 | DType::I32) {
        return Err(Error::invalid(what(), format!("it must be int64, but is {}", tensor.ty())));
    }
    let list: Vec<i64> = tensor.to_i128s().into_iter().map(|v| v as i64).collect();
    let value = match (place, &list[..], tensor.shape().len()) {
        (Place::List(_), _, 1) => Attribute::Ints(list),
        (Place::Scalar(_) | Place::Single(_), &[v], 0 | 1) => Attribute::Int(v),
        (Place::List(_), ..) => {
            return Err(Error::invalid(what(), format!("it must be a list, but is {}", tensor.ty())));
        }
        _ => return Err(Error::invalid(what(), format!("it must be one number, but is {}", tensor.ty()))),
    };
    for input in inputs {
        if !body.context.specialised.contains(&input) {
            body.context.specialised.push(input);
        }
    }
    Ok(value)
}

/// Split without sizes: in equal parts, of which from opset 18 on the last may be smaller.
fn split_sizes(
    attributes: &mut Attributes,
    input: Option<&Type>,
    outputs: usize,
    opset: u32,
) -> Result<(), Error> {
    let input = input.ok_or_else(|| reject(&Reject::Missing(0)))?;
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
        None if opset >= 18 => {
            return Err(Error::invalid("attribute `num_outputs`", "neither it nor the sizes are given"));
        }
        None => {}
    }
    let axis = attributes.get_int("axis", Some(0)).map_err(|e| bad_attribute(&e))?;
    // A wrong rank or axis is left to the type rule.
    let size = ops::rule::axis(axis, input.rank()).map_or(0, |axis| input.shape[axis]);
    let count = (outputs as i64).max(1);
    if opset < 18 && size % count != 0 {
        return Err(Error::invalid("outputs", format!("{size} cannot be split into {count} equal parts")));
    }
    let part = (size + count - 1) / count;
    let last = size - part * (count - 1);
    let sizes = (1..=count).map(|i| if i < count { part } else { last }).collect();
    attributes.set("split", Attribute::Ints(sizes));
    Ok(())
}

/// Attributes that the model gives must mean something to the operator.
fn check_understood(op: &Op, given: &Attributes) -> Result<(), Error> {
    let understood = Operator::attributes(op);
    let is_lost = |(name, value): &(&str, &Attribute)| {
        let is_empty = matches!(value, Attribute::Ints(list) if list.is_empty());
        let is_split = op.spec().name == "Split" && *name == "num_outputs";
        understood.get(name).is_none() && !IMMATERIAL.contains(name) && !is_empty && !is_split
    };
    match given.iter().find(is_lost) {
        Some((name, _)) => {
            Err(Error::unsupported(format!("attribute `{name}`"), "this program does not have it"))
        }
        None => Ok(()),
    }
}

/// Dtypes must be allowed in the opset.
fn check_dtypes(opset: u32, spec: &Spec, types: &[Option<&Type>]) -> Result<(), Error> {
    for (i, ty) in types.iter().enumerate().take(spec.most_inputs()) {
        let allowed = spec.input_types(i, opset);
        if let Some(ty) = ty.filter(|t| !allowed.contains(t.dtype)) {
            let why = format!("it is {}, but in opset {opset} it must be one of {allowed}", ty.dtype);
            return Err(Error::invalid(format!("operand {i}"), why));
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

fn reject(error: &Reject) -> Error {
    match error {
        Reject::Overflow => Error::unsupported("operator", error.to_string()),
        Reject::Attribute(bad) => bad_attribute(bad),
        _ => Error::invalid("operator", error.to_string()),
    }
}

/// The outputs' elements where they follow from types or from known elements: how exporters compute shapes. Small
/// integers only.
fn fold<'p>(
    body: &Body<'p, '_>,
    op: &Op,
    node: &'p NodeProto,
    types: &[Option<&Type>],
    outputs: &[Type],
) -> Option<Vec<(&'p str, Known)>> {
    let (tensors, inputs) = match (op, types) {
        (Op::Shape(shape), &[Some(x)]) => {
            (vec![list(&outputs[0], &x.shape[shape.axes(x.rank())])], BTreeSet::new())
        }
        (Op::Size(_), &[Some(x)]) => (vec![list(&outputs[0], &[x.count()])], BTreeSet::new()),
        _ => evaluate(body, op, node, types, outputs)?,
    };
    let known = tensors.into_iter().map(|t| Known { tensor: Arc::new(t), inputs: inputs.clone() });
    let names = node.output.iter().map(String::as_str);
    Some(names.zip(known).filter(|(name, _)| !name.is_empty()).collect())
}

fn list(ty: &Type, values: &[i64]) -> Tensor {
    Tensor::from_i128_fn(ty, |i| values[i].into())
}

/// The outputs of an operator on known operands, and the graph inputs that they depend on.
fn evaluate(
    body: &Body<'_, '_>,
    op: &Op,
    node: &NodeProto,
    types: &[Option<&Type>],
    outputs: &[Type],
) -> Option<(Vec<Tensor>, BTreeSet<String>)> {
    let is_small = |ty: &Type| !ty.dtype.is_float() && (1..=MAX_FOLDED).contains(&ty.count());
    let all_there = types.iter().all(Option::is_some) && !types.is_empty();
    if !all_there || !types.iter().copied().flatten().chain(outputs).all(is_small) {
        return None;
    }
    // A window may be huge where its operands are small.
    if op.flops(types, outputs) > MAX_FOLDED_FLOPS {
        return None;
    }
    let slots = static_slots(op.spec(), body.context.opset);
    let (mut operands, mut inputs) = (Vec::with_capacity(types.len()), BTreeSet::new());
    for (i, name) in node.input.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        let known = body.known(name).ok().flatten()?;
        inputs.extend(known.inputs.iter().cloned());
        if slots.iter().all(|&(slot, ..)| slot != i) {
            operands.push(Some(known.tensor.as_ref()));
        }
    }
    Some((ops::plain::evaluate(op, &operands).ok()?, inputs))
}
