//! Definitions of opsets 7 to 12 that opset 13 has replaced.
//!
//! Most that has changed since is spelling: what was an attribute is an operand, or an attribute came whose default
//! says what held before. The schemas have that ([`Spec::place`](ops::Spec::place) knows older opsets), so such a
//! definition is read as it is spelled, where it holds what it asks for beyond the later one. The others stand in
//! [`CHANGED`], each with what reads it: they are written out in operators of today, or hold less. A test holds the
//! table against the schemas: whatever has other operands or attributes than in opset 13 must be in it.
//!
//! Dtypes are those of the definition that holds in the model ([`allowed_types`](super::allowed_types)).

use std::ops::RangeInclusive;

use ir::{Attribute, Attributes, DType, Tensor, Type};
use ops::schema::{self, Schema};

use super::frame::Bound;
use super::given::GivenAttributes;
use super::terms::{misshapen, operands, there};
use super::translation::{SourceNode, Translation, apply, bind, need, one, tensor};
use super::walk::Walk;
use super::{attribute, operator};
use crate::Error;
use crate::proto::AttributeProto;

/// The opsets before ours whose definitions are read.
pub(super) const OPSETS: RangeInclusive<u32> = 7..=12;

/// How a definition is read that has other operands or attributes than that of opset 13.
#[derive(Clone, Copy)]
enum Reading {
    /// As it is spelled: it means what the later one means.
    Spelled,
    /// As it is spelled, where it holds what the later one no longer asks for.
    Narrower(Check),
    /// Written out.
    Written(Translation),
}

use Reading::{Narrower, Spelled, Written as Out};

/// What a definition asks of the attributes that a node gives, and of the types of its operands.
type Check = fn(&Attributes, &[Option<&Type>]) -> Result<(), Error>;

/// The definitions that opset 13 has replaced by others: the operator, the first opset of the definition, and how it is read.
const CHANGED: &[(&str, u32, Reading)] = &[
    ("ArgMax", 1, Spelled),
    ("ArgMax", 11, Spelled),
    ("ArgMin", 1, Spelled),
    ("ArgMin", 11, Spelled),
    ("AveragePool", 7, Spelled),
    ("BatchNormalization", 7, Out(batch_normalization)),
    ("Clip", 6, Out(clip)),
    ("Constant", 1, Spelled),
    ("Constant", 9, Spelled),
    ("Constant", 11, Spelled),
    ("DepthToSpace", 1, Spelled),
    ("DequantizeLinear", 10, Spelled),
    ("Dropout", 7, Out(dropout)),
    ("Dropout", 10, Out(dropout)),
    ("Flatten", 1, Narrower(axes_from_the_first)),
    ("Flatten", 9, Narrower(axes_from_the_first)),
    ("GatherND", 11, Spelled),
    ("Gemm", 7, Spelled),
    ("Gemm", 9, Spelled),
    ("Hardmax", 1, Out(along_the_rest)),
    ("Hardmax", 11, Out(along_the_rest)),
    ("LogSoftmax", 1, Out(along_the_rest)),
    ("LogSoftmax", 11, Out(along_the_rest)),
    ("Max", 6, Narrower(one_shape)),
    ("MaxPool", 1, Spelled),
    ("MaxPool", 8, Spelled),
    ("Mean", 6, Narrower(one_shape)),
    ("Min", 6, Narrower(one_shape)),
    ("OneHot", 9, Out(one_hot)),
    ("Pad", 2, Out(pad)),
    ("Pow", 7, Spelled),
    ("QuantizeLinear", 10, Spelled),
    ("ReduceSum", 1, Spelled),
    ("ReduceSum", 11, Spelled),
    ("Resize", 10, Spelled),
    ("Resize", 11, Spelled),
    ("Scan", 8, Spelled),
    ("Scatter", 9, Out(scatter)),
    ("Slice", 1, Spelled),
    ("Softmax", 1, Out(along_the_rest)),
    ("Softmax", 11, Out(along_the_rest)),
    ("Split", 2, Spelled),
    ("Split", 11, Spelled),
    ("Squeeze", 1, Narrower(axes_from_the_first)),
    ("Squeeze", 11, Spelled),
    ("Sum", 6, Narrower(one_shape)),
    ("TopK", 1, Spelled),
    ("TopK", 10, Spelled),
    ("Unsqueeze", 1, Narrower(axes_from_the_first)),
    ("Unsqueeze", 11, Spelled),
];

fn reading(schema: &Schema) -> Reading {
    let row = CHANGED.iter().find(|(name, since, _)| (*name, *since) == (schema.name, schema.since));
    row.map_or(Spelled, |&(_, _, reading)| reading)
}

/// What writes out an operator of that name in an opset, if its definition there is an old one with another meaning.
pub(super) fn translation(op_type: &str, declared: u32) -> Option<Translation> {
    let schema = schema::in_force(op_type, declared).filter(|_| OPSETS.contains(&declared))?;
    match reading(schema) {
        Out(form) => Some(form),
        Spelled | Narrower(_) => None,
    }
}

/// Why a definition of an opset before ours cannot be read, if it cannot.
pub(super) fn refused(schema: &Schema, declared: u32) -> Option<String> {
    (!OPSETS.contains(&declared)).then(|| too_old(schema.since))
}

/// Requires of a node what its operator asked for in an opset before ours, and asks for no longer.
pub(super) fn check(
    op_type: &str,
    declared: u32,
    attributes: &Attributes,
    types: &[Option<&Type>],
) -> Result<(), Error> {
    let schema = schema::in_force(op_type, declared).filter(|_| OPSETS.contains(&declared));
    match schema.map(reading) {
        Some(Narrower(holds)) => holds(attributes, types),
        _ => Ok(()),
    }
}

/// Flatten, Squeeze and Unsqueeze had no axes that count from the last one: "the value for axis must be in the range
/// [0, R]", and "list of non-negative integers".
fn axes_from_the_first(attributes: &Attributes, _: &[Option<&Type>]) -> Result<(), Error> {
    for (name, value) in attributes.iter() {
        let axes = match value {
            Attribute::Int(axis) => std::slice::from_ref(axis),
            Attribute::Ints(axes) => &axes[..],
            _ => &[],
        };
        if let Some(axis) = axes.iter().find(|&&axis| axis < 0) {
            let why = format!("it is {axis}, and before opset 11 none is negative");
            return Err(Error::invalid(format!("attribute `{name}`"), why));
        }
    }
    Ok(())
}

/// Sum, Mean, Max and Min did not broadcast: "All inputs and outputs must have the same shape and data type."
fn one_shape(_: &Attributes, types: &[Option<&Type>]) -> Result<(), Error> {
    let mut operands = types.iter().flatten().enumerate();
    let Some((_, first)) = operands.next() else { return Ok(()) };
    match operands.find(|(_, ty)| ty.shape != first.shape) {
        Some((i, ty)) => Err(misshapen(i, ty, &format!("like {first} before opset 8"))),
        None => Ok(()),
    }
}

/// Why a definition of this opset cannot be read, which is older than all that can.
pub(super) fn too_old(since: u32) -> String {
    let first = OPSETS.start();
    format!("as defined in opset {since}; only definitions from opset {first} on are known")
}

/// The attributes that are written, but for one.
fn without(walk: &Walk<'_, '_>, source: &SourceNode<'_, '_>, name: &str) -> Result<Attributes, Error> {
    let mut attributes = Attributes::new();
    for proto in source.attributes.iter().filter(|attribute| attribute.name() != name) {
        if let Some(value) = attribute::read(proto, walk.context.options.external)? {
            attributes.set(proto.name(), value);
        }
    }
    Ok(attributes)
}

/// One number in a tensor of rank 0.
fn scalar(walk: &mut Walk<'_, '_>, dtype: DType, number: f32) -> Result<ir::Value, Error> {
    let tensor = Tensor::from_f64_fn(&Type::new(dtype, []), |_| number.into());
    walk.push_constant(tensor.into(), None)
}

/// Softmax, LogSoftmax and Hardmax took all axes from one on for a single one.
fn along_the_rest<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let node = source.node;
    let x = tensor(walk, node, 0)?;
    let ty = walk.graph.ty(x).clone();
    let given = GivenAttributes::of(source);
    let axis = given.int("axis", 1);
    given.finish()?;
    let name = node.rest.op_type();
    let last = Attributes::new().int("axis", -1);
    let at = ops::rule::axis(axis, ty.rank()).map_err(|e| match walk.context.declared {
        // "Accepted range is [-r, r-1]."
        11.. => Error::invalid("attribute `axis`", e.to_string()),
        _ => {
            Error::unsupported("attribute `axis`", format!("{e}, and ONNX says of no range before opset 11"))
        }
    })?;
    if at + 1 == ty.rank() {
        let y = one(walk, name, &last, &[x])?;
        return bind(walk, node, vec![Bound::Tensor(y)]);
    }
    if ty.shape.contains(&0) {
        return Err(Error::unsupported(format!("operator {name}"), format!("on {ty} in an opset before 13")));
    }
    let rows = one(walk, "Flatten", &Attributes::new().int("axis", axis), &[x])?;
    let each = one(walk, name, &last, &[rows])?;
    let y = one(walk, "Reshape", &Attributes::new().ints("shape", &ty.shape), &[each])?;
    bind(walk, node, vec![Bound::Tensor(y)])
}

/// Clip had its bounds as attributes, whose defaults are the ends of f32.
fn clip<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = tensor(walk, source.node, 0)?;
    let dtype = walk.graph.ty(x).dtype;
    let given = GivenAttributes::of(source);
    let (low, high) = (given.float("min").unwrap_or(f32::MIN), given.float("max").unwrap_or(f32::MAX));
    given.finish()?;
    let (low, high) = (scalar(walk, dtype, low)?, scalar(walk, dtype, high)?);
    let y = one(walk, "Clip", &Attributes::new(), &[x, low, high])?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// Pad had its value as an attribute.
fn pad<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = tensor(walk, source.node, 0)?;
    let dtype = walk.graph.ty(x).dtype;
    let value = scalar(walk, dtype, GivenAttributes::of(source).float("value").unwrap_or(0.0))?;
    let attributes = without(walk, source, "value")?;
    let y = one(walk, "Pad", &attributes, &[x, value])?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// Dropout was for inference alone, where it does nothing. What its mask holds then is not said, so it must not be read.
fn dropout<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let mask = source.node.outputs.get(1).copied().flatten();
    if mask.is_some_and(|mask| walk.frame.is_used(mask)) {
        let why = "before opset 12 ONNX does not say what Dropout's mask holds, and it is used";
        return Err(Error::unsupported("output 1 (`mask`)", why));
    }
    let x = tensor(walk, source.node, 0)?;
    let y = one(walk, "Identity", &Attributes::new(), &[x])?;
    bind(walk, source.node, vec![Bound::Tensor(y), Bound::Absent])
}

/// BatchNormalization could have statistics for each element instead of each channel (`spatial` of 0).
fn batch_normalization<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    if GivenAttributes::of(source).int("spatial", 1) == 0 {
        return Err(Error::unsupported("attribute `spatial`", "statistics are those of channels"));
    }
    let rest: Vec<&AttributeProto> =
        source.attributes.iter().filter(|attribute| attribute.name() != "spatial").copied().collect();
    operator::read(walk, source.node, &rest)
}

/// Scatter is what ScatterElements is called since.
fn scatter<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let mut operands = Vec::new();
    for i in 0..3 {
        operands.push(tensor(walk, source.node, i)?);
    }
    let attributes = without(walk, source, "")?;
    let y = one(walk, "ScatterElements", &attributes, &operands)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// OneHot had no negative indices that count from the end: "Any entries in the 'indices' input tensor with values
/// outside the range [0, depth) will result in one-hot representation with all 'off_value' values". Of axes below 0 it
/// has the last one.
fn one_hot<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<3>(walk, source)?;
    let (indices, values) = (there(&operands, 0)?, there(&operands, 2)?);
    let given = GivenAttributes::of(source);
    let axis = given.int("axis", -1);
    given.finish()?;
    if axis < -1 {
        let why =
            format!("it is {axis}, and before opset 11 ONNX says what -1 is, and of no other one below 0");
        return Err(Error::unsupported("attribute `axis`", why));
    }
    let (depth, from) = walk.read(need(source.node, 1)?)?;
    let (&[depth], 0 | 1) = (&depth.to_i128s()[..], depth.shape().len()) else {
        let why = format!("it must be one number, but is {}", depth.ty());
        return Err(Error::invalid("operand 1", why));
    };
    let depth =
        i64::try_from(depth).map_err(|_| Error::unsupported("operand 1", format!("it is {depth}")))?;
    let indices = if walk.ty(indices).dtype.is_signed() {
        let whole = walk.cast(indices, DType::I64)?;
        walk.counted_from_first(whole, depth)?
    } else {
        indices
    };
    let hot = Attributes::new().int("depth", depth).int("axis", axis);
    let y = apply(walk, "OneHot", &hot, &[indices, values], from.as_slice())?[0];
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definitions that hold in one of the old opsets and not in 13.
    fn replaced() -> impl Iterator<Item = (&'static Schema, Option<&'static Schema>)> {
        schema::all().flat_map(|(name, definitions)| {
            let held = schema::in_force(name, 13).filter(|schema| !schema.deprecated);
            let is_old = move |schema: &&Schema| {
                let holds = |opset| schema::in_force(name, opset).is_some_and(|s| s.since == schema.since);
                !schema.deprecated && OPSETS.into_iter().any(holds) && !holds(13)
            };
            definitions.iter().filter(is_old).map(move |schema| (schema, held))
        })
    }

    /// Operands, results and attributes, dtypes left out.
    fn form_of(schema: &Schema) -> String {
        let ports =
            |all: &[schema::Parameter]| all.iter().map(|p| (p.name, p.arity, p.ty)).collect::<Vec<_>>();
        let attributes: Vec<_> = schema.attributes.iter().map(|a| (a.name, a.kind, a.absence)).collect();
        format!("{:?} {:?} {attributes:?}", ports(&schema.inputs), ports(&schema.outputs))
    }

    #[test]
    fn whatever_has_another_form_than_in_13_says_how_it_is_read() {
        for (schema, held) in replaced() {
            let is_listed =
                CHANGED.iter().any(|(name, since, _)| (*name, *since) == (schema.name, schema.since));
            let is_known = ops::find(schema.name).is_some() || is_listed;
            let is_other = held.is_none_or(|held| form_of(held) != form_of(schema));
            assert!(is_listed || !is_known || !is_other, "{} {}", schema.name, schema.since);
        }
    }

    #[test]
    fn every_row_is_of_a_definition_that_was_replaced() {
        let all: Vec<_> = replaced().map(|(schema, _)| (schema.name, schema.since)).collect();
        for (name, since, _) in CHANGED {
            assert!(all.contains(&(name, *since)), "{name} {since}");
        }
    }
}
