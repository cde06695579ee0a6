//! One operator: what the opset writes as attributes and what as operands.

use std::iter;

use ir::{Attribute, Attributes, Node, NodeId, Tensor, Type, Unnamed};
use ops::spec::Place;
use ops::{Op, Operator, Spec};

use super::body::Writer;
use crate::names::static_slots;
use crate::proto::AttributeProto;
use crate::proto::attribute_proto::AttributeType;
use crate::{Error, tensor};

/// The operands' names and the attributes of an operator.
pub(super) fn write(
    writer: &mut Writer<'_>,
    id: NodeId,
    op: &Op,
) -> Result<(Vec<String>, Vec<AttributeProto>), Error> {
    let (spec, opset) = (op.spec(), writer.model.opset);
    let fail = |why: String| Error::invalid(format!("node %{} ({})", id.0, spec.name), why);
    check_opset(writer, id, op, opset).map_err(fail)?;
    let attributes = op.attributes();
    check_absent(spec, op, &attributes, opset).map_err(fail)?;

    let left_out = if writer.graph.node(id).spelling.is_terse { op.left_out(opset) } else { Vec::new() };
    let is_written = |name: &str| spec.place(name, opset) == Place::Attribute && !left_out.contains(&name);
    let written = attributes.iter().filter(|(name, _)| is_written(name));
    let written = written.map(|(name, value)| attribute(name, value)).collect();

    let mut operands = writer.graph.node(id).inputs.iter();
    let mut names = Vec::new();
    for (slot, name, place) in static_slots(spec, opset) {
        while names.len() < slot {
            names.push(writer.name(operands.next().copied().flatten()));
        }
        names.push(match attributes.get(name) {
            None => String::new(),
            Some(value) => {
                let tensor = constant(value, place)
                    .ok_or_else(|| fail(format!("attribute `{name}` cannot be written as an operand")))?;
                writer.constant(format!("n{}_{name}", id.0), &tensor)
            }
        });
    }
    names.extend(operands.map(|&v| writer.name(v)));
    while names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    names.extend(iter::repeat_n(String::new(), unnamed(writer, id, op).operands as usize));
    Ok((names, written))
}

/// How many operands and outputs a node lists by the empty name, where there is room for them.
pub(super) fn unnamed(writer: &Writer<'_>, id: NodeId, op: &Op) -> Unnamed {
    let Node { inputs, outputs, spelling, .. } = writer.graph.node(id);
    op.listed(spelling.unnamed, inputs.len(), outputs.len(), writer.model.opset)
}

/// The opset must have the operator, for these dtypes and with this meaning.
fn check_opset(writer: &Writer<'_>, id: NodeId, op: &Op, opset: u32) -> Result<(), String> {
    let spec = op.spec();
    if spec.since() > opset {
        return Err(format!("it came with opset {}, but the model has {opset}", spec.since()));
    }
    let node = writer.graph.node(id);
    for (i, value) in node.inputs.iter().enumerate() {
        let dtype = value.map(|v| writer.graph.ty(v).dtype);
        if let Some(dtype) = dtype.filter(|&d| !spec.input_types(i, opset).contains(d)) {
            return Err(format!("opset {opset} does not allow {dtype} for operand {i}"));
        }
    }
    for (i, ty) in node.outputs.iter().enumerate() {
        if !spec.output_types(i, opset).contains(ty.dtype) {
            return Err(format!("opset {opset} does not allow {} for output {i}", ty.dtype));
        }
    }
    let operands = writer.graph.types(&node.inputs);
    let since = op.facts(&operands).since;
    if since > opset {
        let form: Vec<String> =
            op.attributes().iter().map(|(name, value)| format!("{name} = {value}")).collect();
        return Err(format!(
            "with {} it came with opset {since}, but the model has {opset}",
            form.join(", ")
        ));
    }
    Ok(())
}

/// What the opset cannot write must be as it is when nothing is written.
fn check_absent(spec: &Spec, op: &Op, attributes: &Attributes, opset: u32) -> Result<(), String> {
    let is_absent = |name: &str| spec.place(name, opset) == Place::Absent;
    let mut written = attributes.clone();
    attributes.iter().filter(|(name, _)| is_absent(name)).for_each(|(name, _)| _ = written.remove(name));
    if written == *attributes || Op::from_attributes(spec, &written).as_ref() == Ok(op) {
        return Ok(());
    }
    let lost: Vec<&str> = attributes.iter().map(|(name, _)| name).filter(|name| is_absent(name)).collect();
    Err(format!("opset {opset} cannot express `{}`", lost.join("`, `")))
}

/// The tensor that stands for an attribute.
fn constant(value: &Attribute, place: Place) -> Option<Tensor> {
    let (shape, list): (Vec<i64>, &[i64]) = match (value, place) {
        (Attribute::Ints(list), Place::List(_)) => (vec![list.len() as i64], list),
        (Attribute::Int(v), Place::Single(_)) => (vec![1], std::slice::from_ref(v)),
        (Attribute::Int(v), Place::Scalar(_)) => (vec![], std::slice::from_ref(v)),
        _ => return None,
    };
    Some(Tensor::from_i128_fn(&Type::new(ir::DType::I64, shape), |i| i128::from(list[i])))
}

/// The message of an attribute.
pub(crate) fn attribute(name: &str, value: &Attribute) -> AttributeProto {
    let empty = AttributeProto { name: Some(name.to_owned()), ..Default::default() };
    let of = |kind: AttributeType| Some(kind as i32);
    match value {
        Attribute::Int(v) => AttributeProto { r#type: of(AttributeType::Int), i: Some(*v), ..empty },
        Attribute::DType(v) => {
            AttributeProto { r#type: of(AttributeType::Int), i: Some(tensor::code_of(*v).into()), ..empty }
        }
        Attribute::Ints(v) => AttributeProto { r#type: of(AttributeType::Ints), ints: v.clone(), ..empty },
        Attribute::Float(v) => AttributeProto { r#type: of(AttributeType::Float), f: Some(*v), ..empty },
        Attribute::Floats(v) => {
            AttributeProto { r#type: of(AttributeType::Floats), floats: v.clone(), ..empty }
        }
        Attribute::Name(v) => {
            AttributeProto { r#type: of(AttributeType::String), s: Some(v.clone().into_bytes()), ..empty }
        }
        Attribute::Strings(v) => {
            let strings = v.iter().map(|text| text.clone().into_bytes()).collect();
            AttributeProto { r#type: of(AttributeType::Strings), strings, ..empty }
        }
        Attribute::Tensor(v) => {
            let t = Some(tensor::to_proto("", v));
            AttributeProto { r#type: of(AttributeType::Tensor), t, ..empty }
        }
    }
}
