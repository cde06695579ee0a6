//! Embeddings of words, of their places and of their sentences.

use ir::{Attributes, DType, Value};

use super::super::frame::Bound;
use super::super::given::GivenAttributes;
use super::super::opaque;
use super::super::terms::{misshapen, there};
use super::super::translation::{SourceNode, Translation, bind};
use super::super::walk::Walk;
use super::{floats, tensors};
use crate::Error;

pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "EmbedLayerNormalization" => Some(normalized),
        _ => None,
    }
}

/// The sum of the embeddings, normalised; how many words there are; the sum.
fn normalized<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let epsilon = given.float("epsilon").unwrap_or(1e-12);
    given.ignore("mask_index_type");
    given.finish()?;
    let operands = tensors::<9>(walk, source)?;
    let asked = |i: usize| source.node.outputs.get(i).is_some_and(Option::is_some);
    if asked(1) && operands[7].is_none() {
        return opaque::stand_in(
            walk,
            source,
            "its description does not say how many words there are without a mask",
        );
    }
    let words = there(&operands, 0)?;
    let &[batch, length] = &walk.ty(words).shape[..] else {
        return Err(misshapen(0, &walk.ty(words), "words by sentence, of two axes"));
    };
    let word = embedding(walk, &operands, 2, words)?;
    let place = match operands[8] {
        Some(places) => places,
        None => walk.integers(DType::I64, &[1, length], |i| i as i128)?,
    };
    let place = embedding(walk, &operands, 3, place)?;
    let both = walk.op("Add", &[word, place])?;
    let sum = match operands[1] {
        Some(sentences) if operands[4].is_some() => {
            let sentence = embedding(walk, &operands, 4, sentences)?;
            walk.op("Add", &[both, sentence])?
        }
        _ => both,
    };
    let (gamma, beta) = (floats(walk, &operands, 5)?, floats(walk, &operands, 6)?);
    let attributes = Attributes::new().int("axis", -1).float("epsilon", epsilon);
    let y = walk.op_with("LayerNormalization", &attributes, &[sum, gamma, beta])?;
    let count = match operands[7] {
        Some(mask) if walk.ty(mask).shape[..] != [batch, length] => {
            return Err(misshapen(7, &walk.ty(mask), &format!("[{batch}, {length}]")));
        }
        Some(mask) if asked(1) => Bound::Tensor(filled(walk, mask, length)?),
        _ => Bound::Absent,
    };
    // "Sum of word_embedding and position_embedding": of sentences it does not say.
    let sum = if asked(2) { walk.either(sum, both)? } else { sum };
    bind(walk, source.node, vec![Bound::Tensor(y), count, Bound::Tensor(sum)])
}

/// The rows of a table of embeddings for each index, which counts from the first row.
fn embedding(
    walk: &mut Walk<'_, '_>,
    operands: &[Option<Value>],
    table: usize,
    at: Value,
) -> Result<Value, Error> {
    let rows = floats(walk, operands, table)?;
    let ty = walk.ty(rows);
    let &[count, _] = &ty.shape[..] else { return Err(misshapen(table, &ty, "a row for each, of two axes")) };
    let at = walk.cast(at, DType::I64)?;
    let at = walk.counted_from_first(at, count)?;
    walk.op_with("Gather", &Attributes::new().int("axis", 0), &[rows, at])
}

/// "Position of first 0 in mask, or number of words": of a mask with a 1 behind a 0 these are two.
fn filled(walk: &mut Walk<'_, '_>, mask: Value, length: i64) -> Result<Value, Error> {
    let dtype = walk.ty(mask).dtype;
    let zero = walk.integers(dtype, &[], |_| 0)?;
    let is_none = walk.op("Equal", &[mask, zero])?;
    let [none, word] = [0, 1].map(|is| walk.integers(dtype, &[], |_| is));
    let ones = walk.op("Where", &[is_none, none?, word?])?;
    let last = Attributes::new().ints("axes", &[-1]).int("keepdims", 0);
    let words = walk.op_with("ReduceSum", &last, &[ones])?;
    let places = walk.integers(dtype, &[length], |i| i as i128)?;
    let beyond = walk.integers(dtype, &[], |_| length.into())?;
    let ends = walk.op("Where", &[is_none, places, beyond])?;
    let first = if length == 0 { words } else { walk.op_with("ReduceMin", &last, &[ends])? };
    walk.either(first, words)
}
