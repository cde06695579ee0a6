//! Tensors of strings, and what operators make of them.
//!
//! A graph holds numbers: a string is a list of bytes in it, and a tensor of strings a shape and such lists
//! ([`Texts`]). What operators make of strings is read from them, as are the branches that an If takes: it is constant,
//! and given the strings. So it is the same for the reference and for our engines, which walk over the program alike.
//!
//! ONNX: [StringConcat](https://onnx.ai/onnx/operators/onnx__StringConcat.html),
//! [StringSplit](https://onnx.ai/onnx/operators/onnx__StringSplit.html),
//! [StringNormalizer](https://onnx.ai/onnx/operators/onnx__StringNormalizer.html),
//! [RegexFullMatch](https://onnx.ai/onnx/operators/onnx__RegexFullMatch.html), Equal, Shape and Size of strings, and
//! some that move them.

mod moved;
mod normalized;
mod pattern;
mod split;

use std::sync::Arc;

use ir::datum::text_of;
use ir::{DType, Strings, Value};

use super::frame::{Bound, Texts};
use super::given::GivenAttributes;
use super::terms::misshapen;
use super::translation::{SourceNode, Translation, bind, given_value, need};
use super::walk::Walk;
use crate::external::External;
use crate::program::{Node, ValueId};
use crate::proto::AttributeProto;
use crate::{Error, tensor};

/// How many strings there may be in one tensor.
const MOST: usize = 1 << 16;

/// How many bytes the strings of one result may have together.
const MOST_BYTES: usize = 1 << 26;

/// The function that writes out an operator of this name, if it takes strings alone.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "RegexFullMatch" => Some(pattern::matched),
        "StringConcat" => Some(concatenated),
        "StringNormalizer" => Some(normalized::normalized),
        "StringSplit" => Some(split::split),
        _ => None,
    }
}

/// Whether an operator that others take as well has strings here, and takes them.
pub(super) fn takes(walk: &Walk<'_, '_>, node: &Node, op_type: &str) -> bool {
    let is_text =
        |id: &Option<ValueId>| id.is_some_and(|id| matches!(walk.frame.get(id), Ok(Bound::Strings(_))));
    (matches!(op_type, "Equal" | "Shape" | "Size") || moved::moves(op_type))
        && node.inputs.iter().any(is_text)
}

/// Adds such an operator.
pub(super) fn apply<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    match source.node.rest.op_type() {
        "Equal" => equal(walk, source),
        "Shape" | "Size" => measured(walk, source),
        _ => moved::moved(walk, source),
    }
}

/// Requires that there are not too many strings.
pub(super) fn few(count: usize) -> Result<(), Error> {
    if count <= MOST {
        return Ok(());
    }
    Err(Error::unsupported("strings", format!("there are {count}, of at most {MOST}")))
}

/// Strings that were read.
pub(super) struct Read {
    pub(super) shape: Vec<i64>,
    pub(super) texts: Vec<String>,
    /// The values that they were read from.
    pub(super) from: Vec<Value>,
}

/// The strings that an operand is.
pub(super) fn read(walk: &mut Walk<'_, '_>, node: &Node, i: usize) -> Result<Read, Error> {
    let id = need(node, i)?;
    let Bound::Strings(Texts { shape, items, given }) = walk.frame.get(id)?.clone() else {
        return Err(Error::invalid(format!("operand {i}"), "it must be of strings"));
    };
    let (mut texts, mut from) = (Vec::with_capacity(items.len()), given);
    for item in items {
        let (bytes, read) = walk.read_value(item, format!("operand {i}"))?;
        let text =
            text_of(&bytes).ok_or_else(|| Error::invalid(format!("operand {i}"), "it is not UTF-8"))?;
        texts.push(text);
        from.extend(read);
    }
    Ok(Read { shape, texts, from })
}

/// Whether an operand is of strings.
pub(super) fn is_text(walk: &Walk<'_, '_>, node: &Node, i: usize) -> bool {
    let id = node.inputs.get(i).copied().flatten();
    id.is_some_and(|id| matches!(walk.frame.get(id), Ok(Bound::Strings(_))))
}

/// A constant of strings, with the values that it was read from.
pub(super) fn made(
    walk: &mut Walk<'_, '_>,
    shape: Vec<i64>,
    texts: &[String],
    given: Vec<Value>,
) -> Result<Bound, Error> {
    few(texts.len())?;
    let strings = Strings::of_texts(shape, texts)
        .ok_or_else(|| Error::invalid("strings", "there are not as many as the shape has places"))?;
    let Strings { shape, items } = strings;
    let items = items.into_iter().map(|item| walk.push_constant(Arc::new(item), None));
    let items = items.collect::<Result<Vec<Value>, Error>>()?;
    Ok(Bound::Strings(Texts { shape, items, given }))
}

/// A constant of strings.
pub(super) fn constant(walk: &mut Walk<'_, '_>, id: ValueId, strings: Strings) -> Result<(), Error> {
    walk.context.is_written_out = true;
    few(strings.items.len())?;
    let texts = strings.texts().ok_or_else(|| Error::invalid("constant", "it is not UTF-8"))?;
    let bound = made(walk, strings.shape, &texts, Vec::new())?;
    walk.frame.constants.insert(id, bound.clone());
    walk.define(id, bound)
}

/// The strings that a Constant node stands for, if it does for some.
pub(super) fn of_constant(
    attributes: &[&AttributeProto],
    external: External<'_>,
) -> Result<Option<Strings>, Error> {
    let [proto] = attributes else { return Ok(None) };
    let texts = |bytes: &[Vec<u8>], shape: Vec<i64>| {
        let texts = bytes.iter().map(|bytes| String::from_utf8(bytes.clone()));
        let texts: Option<Vec<String>> = texts.map(Result::ok).collect();
        let strings = texts.and_then(|texts| Strings::of_texts(shape, &texts));
        strings.ok_or_else(|| Error::invalid(format!("attribute `{}`", proto.name()), "it is not UTF-8"))
    };
    match (proto.name(), &proto.t) {
        ("value", Some(held)) if tensor::strings::is_strings(held) => {
            tensor::strings::from_proto(held, external).map(Some)
        }
        ("value_string", _) => texts(&[proto.s().to_vec()], Vec::new()).map(Some),
        ("value_strings", _) => texts(&proto.strings, vec![proto.strings.len() as i64]).map(Some),
        _ => Ok(None),
    }
}

/// The shape that two broadcast to, and for each of its places those in both.
fn broadcast(a: &[i64], b: &[i64]) -> Result<(Vec<i64>, Vec<[usize; 2]>), Error> {
    let rank = a.len().max(b.len());
    let size =
        |shape: &[i64], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |axis| shape[axis]);
    let mut shape = Vec::with_capacity(rank);
    for axis in 0..rank {
        shape.push(match (size(a, axis), size(b, axis)) {
            (a, b) if a == b => a,
            (1, size) | (size, 1) => size,
            (a, b) => return Err(Error::invalid("operands", format!("sizes {a} and {b} do not broadcast"))),
        });
    }
    let count = shape.iter().try_fold(1_usize, |count, &size| count.checked_mul(size as usize));
    let count = count.unwrap_or(usize::MAX);
    few(count)?;
    let place = |of: &[i64], mut number: usize| {
        let (mut place, mut stride) = (0, 1);
        for axis in (0..rank).rev() {
            let (at, size) = (number % shape[axis] as usize, size(of, axis) as usize);
            place += if size == 1 { 0 } else { at * stride };
            (number, stride) = (number / shape[axis] as usize, stride * size);
        }
        place
    };
    let places = (0..count).map(|number| [place(a, number), place(b, number)]).collect();
    Ok((shape, places))
}

/// Two operands of strings, side by side.
struct Pairs {
    shape: Vec<i64>,
    texts: Vec<[String; 2]>,
    from: Vec<Value>,
}

fn pairs(walk: &mut Walk<'_, '_>, node: &Node) -> Result<Pairs, Error> {
    let (a, b) = (read(walk, node, 0)?, read(walk, node, 1)?);
    let (shape, places) = broadcast(&a.shape, &b.shape)?;
    // Before any is made: a string that is put behind itself twenty times is a million times as long.
    let bytes = places.iter().map(|&[i, j]| a.texts[i].len() + b.texts[j].len());
    let bytes = bytes.fold(0, usize::saturating_add);
    if bytes > MOST_BYTES {
        let why = format!("they have {bytes} bytes together, of at most {MOST_BYTES}");
        return Err(Error::unsupported("strings", why));
    }
    let texts = places.into_iter().map(|[i, j]| [a.texts[i].clone(), b.texts[j].clone()]).collect();
    Ok(Pairs { shape, texts, from: a.from.into_iter().chain(b.from).collect() })
}

fn equal<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    GivenAttributes::of(source).finish()?;
    let Pairs { shape, texts, from } = pairs(walk, source.node)?;
    let y = walk.integers(DType::Bool, &shape, |i| (texts[i][0] == texts[i][1]).into())?;
    let y = given_value(walk, y, &from)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

fn concatenated<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    GivenAttributes::of(source).finish()?;
    let Pairs { shape, texts, from } = pairs(walk, source.node)?;
    let texts: Vec<String> = texts.into_iter().map(|pair| pair.concat()).collect();
    let y = made(walk, shape, &texts, from)?;
    bind(walk, source.node, vec![y])
}

/// Shape and Size, which read no string.
fn measured<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let (first, last) = (given.int("start", 0), given.whole("end"));
    given.finish()?;
    let Bound::Strings(Texts { shape, given, items }) = walk.frame.get(need(source.node, 0)?)?.clone() else {
        return Err(Error::invalid("operand 0", "it must be of strings"));
    };
    let y = if source.node.rest.op_type() == "Size" {
        walk.integers(DType::I64, &[], |_| items.len() as i128)?
    } else {
        let rank = shape.len() as i64;
        let place = |at: i64| (if at < 0 { at.saturating_add(rank) } else { at }).clamp(0, rank) as usize;
        let part = shape.get(place(first)..place(last.unwrap_or(rank))).unwrap_or_default();
        walk.integers(DType::I64, &[part.len() as i64], |i| part[i].into())?
    };
    let y = given_value(walk, y, &given)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// Why strings have not the shape that they must have.
fn misshaped(shape: &[i64], wanted: &str) -> Error {
    misshapen(0, &ir::Type::new(DType::U8, shape), wanted)
}
