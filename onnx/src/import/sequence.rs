//! Sequences and optionals: lists of tensors that no node holds. What is taken out of them is given the values that
//! positions and lengths were read from.

use ir::{Attributes, DType, Value};

use super::declared::Declared;
use super::frame::{Bound, Sequence};
use super::given::GivenAttributes;
use super::origin::Inside;
use super::terms::{axis_of, misshapen, operands, there};
use super::translation::{
    Read, SourceNode, Translation, apply, bind, body, given_value, if_given, need, number, stack, tensor,
    whole,
};
use super::walk::{Walk, few};
use crate::Error;
use crate::program::{Node, ValueId};

/// What adds an operator of that name, if it handles sequences or optionals.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "SequenceEmpty" => Some(none),
        "SequenceConstruct" => Some(construct),
        "SequenceInsert" => Some(insert),
        "SequenceErase" => Some(erase),
        "SequenceAt" => Some(at),
        "SequenceLength" => Some(sequence_length),
        "SequenceMap" => Some(map),
        "ConcatFromSequence" => Some(concat),
        "SplitToSequence" => Some(split),
        "Optional" => Some(optional),
        "OptionalHasElement" => Some(has_element),
        "OptionalGetElement" => Some(get_element),
        _ => None,
    }
}

/// The sequence that an operand is.
fn sequence(walk: &Walk<'_, '_>, node: &Node, i: usize) -> Result<Sequence, Error> {
    let id = need(node, i)?;
    if let Bound::Sequence(sequence) = walk.frame.get(id)? {
        return Ok(sequence.clone());
    }
    let what = format!("value `{}`", walk.frame.scope.name(id));
    Err(Error::invalid(what, "it must be a sequence"))
}

/// A position in a sequence: negative ones count from its end. `beyond` positions more than it has may be named.
fn position(
    walk: &mut Walk<'_, '_>,
    sequence: &mut Sequence,
    id: ValueId,
    beyond: usize,
) -> Result<usize, Error> {
    let Read { is, from } = whole(walk, id)?;
    sequence.given.extend(from);
    let length = sequence.items.len();
    let at = if is < 0 { is.checked_add(length as i64) } else { Some(is) };
    let at = at.and_then(|at| usize::try_from(at).ok()).filter(|&at| at < length + beyond);
    at.ok_or_else(|| {
        let what = format!("value `{}`", walk.frame.scope.name(id));
        Error::invalid(what, format!("it is position {is} of a sequence of {length}"))
    })
}

fn none<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let dtype = given.dtype("dtype")?.unwrap_or(DType::F32);
    given.finish()?;
    bind(walk, source.node, vec![Bound::Sequence(Sequence { dtype: Some(dtype), ..Sequence::default() })])
}

/// Requires that a tensor has the dtype that others of a sequence have.
fn fits(walk: &Walk<'_, '_>, sequence: &Sequence, item: Value, slot: usize) -> Result<(), Error> {
    let ty = walk.graph.ty(item);
    let first = sequence.items.first().map(|&item| walk.graph.ty(item).dtype);
    match sequence.dtype.or(first) {
        Some(dtype) if dtype != ty.dtype => {
            Err(Error::invalid(format!("operand {slot}"), format!("it is {ty}, and the sequence of {dtype}")))
        }
        _ => Ok(()),
    }
}

fn construct<'p>(
    walk: &mut Walk<'p, '_>,
    &SourceNode { node, .. }: &SourceNode<'p, '_>,
) -> Result<(), Error> {
    let mut sequence = Sequence::default();
    for slot in 0..node.inputs.len() {
        let item = tensor(walk, node, slot)?;
        fits(walk, &sequence, item, slot)?;
        sequence.items.push(item);
    }
    bind(walk, node, vec![Bound::Sequence(sequence)])
}

fn insert<'p>(walk: &mut Walk<'p, '_>, &SourceNode { node, .. }: &SourceNode<'p, '_>) -> Result<(), Error> {
    let mut sequence = sequence(walk, node, 0)?;
    let item = tensor(walk, node, 1)?;
    fits(walk, &sequence, item, 1)?;
    let at = match if_given(walk, node, 2) {
        Some(id) => position(walk, &mut sequence, id, 1)?,
        None => sequence.items.len(),
    };
    sequence.items.insert(at, item);
    bind(walk, node, vec![Bound::Sequence(sequence)])
}

fn erase<'p>(walk: &mut Walk<'p, '_>, &SourceNode { node, .. }: &SourceNode<'p, '_>) -> Result<(), Error> {
    let mut sequence = sequence(walk, node, 0)?;
    let at = match if_given(walk, node, 1) {
        Some(id) => Some(position(walk, &mut sequence, id, 0)?),
        None => sequence.items.len().checked_sub(1),
    };
    let at = at.ok_or_else(|| Error::invalid("operand 0", "it is a sequence of nothing"))?;
    sequence.items.remove(at);
    bind(walk, node, vec![Bound::Sequence(sequence)])
}

fn at<'p>(walk: &mut Walk<'p, '_>, &SourceNode { node, .. }: &SourceNode<'p, '_>) -> Result<(), Error> {
    let mut sequence = sequence(walk, node, 0)?;
    let at = position(walk, &mut sequence, need(node, 1)?, 0)?;
    let item = given_value(walk, sequence.items[at], &sequence.given)?;
    bind(walk, node, vec![Bound::Tensor(item)])
}

fn sequence_length<'p>(
    walk: &mut Walk<'p, '_>,
    &SourceNode { node, .. }: &SourceNode<'p, '_>,
) -> Result<(), Error> {
    let sequence = sequence(walk, node, 0)?;
    let length = length(walk, &sequence)?;
    bind(walk, node, vec![Bound::Tensor(length)])
}

/// How many tensors a sequence has.
pub(super) fn length(walk: &mut Walk<'_, '_>, sequence: &Sequence) -> Result<Value, Error> {
    let length = number(walk, sequence.items.len() as i64)?;
    given_value(walk, length, &sequence.given)
}

/// `SequenceMap`: its body once for each element of the first sequence, with the elements at its place in the others, and
/// with the tensors among its operands.
fn map<'p>(walk: &mut Walk<'p, '_>, &SourceNode { node, .. }: &SourceNode<'p, '_>) -> Result<(), Error> {
    let body = body(node, "body")?;
    let length = sequence(walk, node, 0)?.items.len();
    let operands = node.inputs.iter().map(|id| walk.frame.get(id.ok_or_else(absent)?).cloned());
    let operands: Vec<Bound> = operands.collect::<Result<_, Error>>()?;
    let given = given_to_all(&operands, length)?;
    let mut outputs = vec![Sequence { given, ..Sequence::default() }; body.outputs.len()];
    for i in 0..length {
        let argument = |operand: &Bound| match operand {
            Bound::Sequence(sequence) => Bound::Tensor(sequence.items[i]),
            other => other.clone(),
        };
        let arguments = operands.iter().map(argument).collect();
        let results = walk.inside(Inside::Iteration(i), body, arguments)?;
        for ((output, result), port) in outputs.iter_mut().zip(results).zip(&body.outputs) {
            let item = match result {
                Bound::Tensor(value) => value,
                Bound::Static(tensor) => walk.push_constant(tensor, None)?,
                bound => return Err(walk.not_a_tensor(port.value, &bound)),
            };
            output.items.push(item);
        }
        walk.check_size(|| format!("{} after {} elements", node.called(), i + 1))?;
    }
    bind(walk, node, outputs.into_iter().map(Bound::Sequence).collect())
}

/// What the sequences among some operands were read from, each of which must have that length.
fn given_to_all(operands: &[Bound], length: usize) -> Result<Vec<Value>, Error> {
    let mut all = Vec::new();
    for (i, operand) in operands.iter().enumerate() {
        let Bound::Sequence(Sequence { items, given, .. }) = operand else { continue };
        if items.len() != length {
            let why = format!("it is a sequence of {}, and the first is one of {length}", items.len());
            return Err(Error::invalid(format!("operand {i}"), why));
        }
        for &from in given {
            if !all.contains(&from) {
                all.push(from);
            }
        }
    }
    Ok(all)
}

fn absent() -> Error {
    Error::invalid("operands", "none of them may be left out")
}

/// `ConcatFromSequence`: along an axis that is there, or along a new one.
fn concat<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let Sequence { items, given: from, .. } = sequence(walk, source.node, 0)?;
    let given = GivenAttributes::of(source);
    let (axis, new_axis) = (given.needed("axis")?, given.int("new_axis", 0));
    given.finish()?;
    let Some(first) = items.first() else {
        return Err(Error::invalid("operand 0", "it is a sequence of nothing"));
    };
    let is_new = match new_axis {
        0 => false,
        1 => true,
        other => {
            return Err(Error::invalid(
                "attribute `new_axis`",
                format!("it is {other}, and neither 0 nor 1"),
            ));
        }
    };
    let rank = walk.graph.ty(*first).rank() + usize::from(is_new);
    let axis = axis_of("attribute `axis`", axis, rank)? as i64;
    let joined = if is_new {
        stack(walk, &items, axis, &from)?
    } else {
        apply(walk, "Concat", &Attributes::new().int("axis", axis), &items, &from)?[0]
    };
    bind(walk, source.node, vec![Bound::Tensor(joined)])
}

/// `SplitToSequence`: in pieces of one size, of sizes that are listed, or of one element each.
fn split<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let node = source.node;
    let x = there(&operands::<2>(walk, source)?, 0)?;
    let given = GivenAttributes::of(source);
    let (axis, keeps) = (given.int("axis", 0), given.int("keepdims", 1) != 0);
    given.finish()?;
    let ty = walk.graph.ty(x).clone();
    let axis = axis_of("attribute `axis`", axis, ty.rank())?;
    let extent = ty.shape[axis];
    let given_sizes = if_given(walk, node, 1);
    let (sizes, from) = match given_sizes {
        None => (equal_parts(extent, 1)?, None),
        Some(id) => {
            let (tensor, from) = walk.read(id)?;
            if tensor.shape().len() > 1 {
                return Err(misshapen(1, &tensor.ty(), "a number or a list of numbers"));
            }
            few(tensor.len() as i64, "operand 1", "tensors")?;
            let list: Vec<i64> = tensor.to_i128s().into_iter().map(|v| v as i64).collect();
            (if tensor.shape().is_empty() { equal_parts(extent, list[0])? } else { list }, from)
        }
    };
    let mut items = Vec::new();
    if !sizes.is_empty() {
        let attributes = Attributes::new().int("axis", axis as i64).ints("split", &sizes);
        items = apply(walk, "Split", &attributes, &[x], from.as_slice())?;
    }
    if given_sizes.is_none() && !keeps {
        let axes = Attributes::new().ints("axes", &[axis as i64]);
        items = items
            .into_iter()
            .map(|item| Ok(apply(walk, "Squeeze", &axes, &[item], &[])?[0]))
            .collect::<Result<Vec<Value>, Error>>()?;
    }
    let given = from.into_iter().collect();
    bind(walk, node, vec![Bound::Sequence(Sequence { items, given, dtype: Some(ty.dtype) })])
}

/// Parts of one size, of which the last may be smaller.
fn equal_parts(extent: i64, size: i64) -> Result<Vec<i64>, Error> {
    if size < 1 {
        return Err(Error::invalid("operand 1", format!("parts of {size} elements")));
    }
    few(extent / size, "operator SplitToSequence", "tensors")?;
    let (whole, rest) = (extent / size, extent % size);
    Ok((0..whole).map(|_| size).chain((rest > 0).then_some(rest)).collect())
}

/// Optional: what it is given, or nothing.
fn optional<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let node = source.node;
    let given = GivenAttributes::of(source);
    let ty = given.ty("type");
    given.finish()?;
    let held = match if_given(walk, node, 0) {
        Some(id) => {
            let held = walk.frame.get(id)?.clone();
            if let Some(ty) = ty {
                let declared = Declared::of(walk.frame.scope.name(id), ty);
                declared
                    .and_then(|of| walk.check_is(&of, id, &held))
                    .map_err(|e| e.inside("attribute `type`"))?;
            }
            held
        }
        None => Bound::Nothing(Vec::new()),
    };
    bind(walk, node, vec![held])
}

fn has_element<'p>(
    walk: &mut Walk<'p, '_>,
    &SourceNode { node, .. }: &SourceNode<'p, '_>,
) -> Result<(), Error> {
    let held = match node.inputs.first().copied().flatten() {
        Some(id) => walk.frame.get(id)?.clone(),
        None => Bound::Absent,
    };
    let presence = presence(walk, &held)?;
    bind(walk, node, vec![Bound::Tensor(presence)])
}

/// Whether an optional holds something.
pub(super) fn presence(walk: &mut Walk<'_, '_>, held: &Bound) -> Result<Value, Error> {
    let (is_there, from) = match held {
        Bound::Absent => (false, &[][..]),
        Bound::Nothing(given) => (false, &given[..]),
        Bound::Sequence(sequence) => (true, &sequence.given[..]),
        Bound::Strings(texts) => (true, &texts.given[..]),
        Bound::Tensor(_) | Bound::Static(_) => (true, &[][..]),
    };
    let ty = ir::Type::new(ir::DType::Bool, []);
    let truth = walk.push_constant(ir::Tensor::from_i128_fn(&ty, |_| i128::from(is_there)).into(), None)?;
    given_value(walk, truth, from)
}

fn get_element<'p>(
    walk: &mut Walk<'p, '_>,
    &SourceNode { node, .. }: &SourceNode<'p, '_>,
) -> Result<(), Error> {
    let id = need(node, 0)?;
    match walk.frame.get(id)?.clone() {
        Bound::Nothing(_) | Bound::Absent => {
            let what = format!("value `{}`", walk.frame.scope.name(id));
            Err(Error::invalid(what, "it is an optional that holds nothing"))
        }
        held => bind(walk, node, vec![held]),
    }
}
