//! What the operators have in common that import writes out in others: branches, loops, sequences, filled tensors, transforms,
//! recurrent nets, trees.
//!
//! Which way they go is read from values. What comes out of them is given those values ([`ir::Node::given`]).

use ir::{Attributes, DType, NodeKind, Operation, Tensor, Type, Value};
use ops::Op;

use super::frame::Bound;
use super::operator;
use super::walk::{Walk, too_many_outputs};
use crate::Error;
use crate::program::{Body, Node, ValueId};
use crate::proto::AttributeProto;

/// A node with its attributes. An attribute that refers to one of the function's has the value from the call.
pub(super) struct SourceNode<'p, 'a> {
    pub(super) node: &'p Node,
    pub(super) attributes: &'a [&'a AttributeProto],
}

/// What adds the nodes that an operator is written out in.
pub(super) type Translation = for<'p, 'c, 'a> fn(&mut Walk<'p, 'c>, &SourceNode<'p, 'a>) -> Result<(), Error>;

/// The body that an attribute holds.
pub(super) fn body<'p>(node: &'p Node, name: &str) -> Result<&'p Body, Error> {
    let held = node.attributes.iter().find(|a| a.rest.name() == name).and_then(|a| a.body.as_ref());
    held.ok_or_else(|| Error::invalid(format!("attribute `{name}`"), "it must be there and hold a graph"))
}

/// An operand that must not be left out.
pub(super) fn need(node: &Node, i: usize) -> Result<ValueId, Error> {
    let id = node.inputs.get(i).copied().flatten();
    id.ok_or_else(|| Error::invalid(format!("operand {i}"), "it must be there"))
}

/// An operand that may be left out: `None` where it is, here or by the call of the function.
pub(super) fn if_given(walk: &Walk<'_, '_>, node: &Node, i: usize) -> Option<ValueId> {
    node.inputs.get(i).copied().flatten().filter(|&id| !walk.is_absent(Some(id)))
}

/// An operand that must be a tensor.
pub(super) fn tensor(walk: &mut Walk<'_, '_>, node: &Node, i: usize) -> Result<Value, Error> {
    let value = walk.operand(Some(need(node, i)?))?;
    value.ok_or_else(|| Error::invalid(format!("operand {i}"), "it must be there"))
}

/// A number or truth value that was read, and the value it was read from where that depends on the model's inputs.
#[derive(Clone, Copy)]
pub(super) struct Read<T> {
    pub(super) is: T,
    pub(super) from: Option<Value>,
}

/// A truth value that decides where to go.
pub(super) fn flag(walk: &mut Walk<'_, '_>, id: ValueId) -> Result<Read<bool>, Error> {
    let read = scalar(walk, id, &[DType::Bool])?;
    Ok(Read { is: read.is != 0, from: read.from })
}

/// A whole number that decides where to go.
pub(super) fn whole(walk: &mut Walk<'_, '_>, id: ValueId) -> Result<Read<i64>, Error> {
    scalar(walk, id, &[DType::I64, DType::I32])
}

/// How often something is done: that is told in int64 alone.
pub(super) fn times(walk: &mut Walk<'_, '_>, id: ValueId) -> Result<Read<i64>, Error> {
    scalar(walk, id, &[DType::I64])
}

fn scalar(walk: &mut Walk<'_, '_>, id: ValueId, dtypes: &[DType]) -> Result<Read<i64>, Error> {
    let (tensor, from) = walk.read(id)?;
    match tensor.to_i128s()[..] {
        [is] if dtypes.contains(&tensor.dtype()) => Ok(Read { is: is as i64, from }),
        _ => {
            let names: Vec<String> = dtypes.iter().map(ToString::to_string).collect();
            let what = format!("value `{}`", walk.frame.scope.name(id));
            let why = format!("it must be one element of {}, but is {}", names.join(" or "), tensor.ty());
            Err(Error::invalid(what, why))
        }
    }
}

/// This, given the values that it was read from: a tensor goes through an Identity node, which says so.
pub(super) fn given(walk: &mut Walk<'_, '_>, bound: Bound, from: &[Value]) -> Result<Bound, Error> {
    if from.is_empty() {
        return Ok(bound);
    }
    let value = match bound {
        Bound::Absent => return Ok(Bound::Absent),
        Bound::Nothing(mut given) => {
            given.extend_from_slice(from);
            return Ok(Bound::Nothing(given));
        }
        Bound::Sequence(mut sequence) => {
            sequence.given.extend_from_slice(from);
            return Ok(Bound::Sequence(sequence));
        }
        Bound::Strings(mut texts) => {
            texts.given.extend_from_slice(from);
            return Ok(Bound::Strings(texts));
        }
        Bound::Tensor(value) => value,
        Bound::Static(tensor) => walk.push_constant(tensor, None)?,
    };
    given_value(walk, value, from).map(Bound::Tensor)
}

/// This tensor, given the values that it was read from.
pub(super) fn given_value(walk: &mut Walk<'_, '_>, value: Value, from: &[Value]) -> Result<Value, Error> {
    if from.is_empty() {
        return Ok(value);
    }
    Ok(apply(walk, "Identity", &Attributes::new(), &[value], from)?[0])
}

/// Adds an operator of ours.
pub(super) fn apply(
    walk: &mut Walk<'_, '_>,
    name: &str,
    attributes: &Attributes,
    operands: &[Value],
    given: &[Value],
) -> Result<Vec<Value>, Error> {
    let op = Op::parse(name, attributes).and_then(Result::ok);
    let op = op.ok_or_else(|| Error::unsupported(format!("operator {name}"), "not with these attributes"))?;
    let types: Vec<Option<&Type>> = operands.iter().map(|&v| Some(walk.graph.ty(v))).collect();
    let outputs = Operation::infer(&op, &types).map_err(|e| operator::reject(&e, &types))?;
    let ports = outputs.len();
    let operands = operands.iter().map(|&v| Some(v)).collect();
    let id = walk.push_given(NodeKind::Operator(op), operands, given.to_vec(), outputs, None)?;
    Ok((0..ports).map(|port| Value::new(id, port)).collect())
}

/// The only result of an operator of ours, or the first.
pub(super) fn one(
    walk: &mut Walk<'_, '_>,
    name: &str,
    attributes: &Attributes,
    operands: &[Value],
) -> Result<Value, Error> {
    Ok(apply(walk, name, attributes, operands, &[])?[0])
}

/// Tensors of one shape, one behind the other along a new axis.
pub(super) fn stack(
    walk: &mut Walk<'_, '_>,
    items: &[Value],
    axis: i64,
    given: &[Value],
) -> Result<Value, Error> {
    let axes = Attributes::new().ints("axes", &[axis]);
    let stacked = items.iter().map(|&item| Ok(apply(walk, "Unsqueeze", &axes, &[item], &[])?[0]));
    let stacked = stacked.collect::<Result<Vec<Value>, Error>>()?;
    Ok(apply(walk, "Concat", &Attributes::new().int("axis", axis), &stacked, given)?[0])
}

/// A constant int64 of rank 0.
pub(super) fn number(walk: &mut Walk<'_, '_>, number: i64) -> Result<Value, Error> {
    let tensor = Tensor::from_i128_fn(&Type::new(DType::I64, []), |_| i128::from(number));
    walk.push_constant(tensor.into(), None)
}

/// Lets the outputs of a node stand for what it gives.
pub(super) fn bind(walk: &mut Walk<'_, '_>, node: &Node, results: Vec<Bound>) -> Result<(), Error> {
    let named = node.outputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    if named > results.len() {
        return Err(too_many_outputs(named, results.len()));
    }
    for (output, bound) in node.outputs.iter().zip(results) {
        if let Some(output) = output {
            walk.define(*output, bound)?;
        }
    }
    Ok(())
}
