//! Embeddings of places by rotation, with their tables whole and the places beside them.

use ir::{Attributes, DType, Value};

use super::super::decoding::{in_heads, turn};
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
        "RotaryEmbedding" => Some(rotated),
        _ => None,
    }
}

/// Pairs of numbers, turned by the angle of their place: the one that is given for each, or one behind the other from the one that
/// is given for all.
fn rotated<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let (heads, dim) = (given.int("num_heads", 0), given.int("rotary_embedding_dim", 0));
    let is_interleaved = given.int("interleaved", 0) != 0;
    let is_scaled = given.float("scale").is_some_and(|scale| scale != 1.0);
    let is_packed = given.int("is_packed_batching", 0) != 0;
    given.finish()?;
    if is_scaled || is_packed {
        let why = "its description does not say what becomes of a scale, or of batches that are packed";
        return opaque::stand_in(walk, source, why);
    }
    let operands = tensors::<4>(walk, source)?;
    let x = floats(walk, &operands, 0)?;
    let tables = [floats(walk, &operands, 2)?, floats(walk, &operands, 3)?];
    let (ty, turned) = (walk.ty(x), turned(walk, tables)?);
    let heads = match ty.shape[..] {
        [_, _, all] if dim == 0 && turned > 0 => Some(all / turned),
        _ if dim != 0 && dim != turned => {
            let why = format!("it is {dim}, and tables are of {turned} numbers");
            return Err(Error::invalid("attribute `rotary_embedding_dim`", why));
        }
        _ => Some(heads),
    };
    let (split, axis) = in_heads(walk, x, heads)?;
    let shape = walk.ty(split).shape;
    let at = places(walk, there(&operands, 1)?, [shape[0], shape[3 - axis]])?;
    if turned > shape[3] {
        return Err(misshapen(2, &walk.ty(tables[0]), &format!("for at most {} numbers", shape[3])));
    }
    let mut angles = tables;
    for table in &mut angles {
        let at = walk.counted_from_first(at, walk.ty(*table).shape[0])?;
        let gathered = walk.op_with("Gather", &Attributes::new().int("axis", 0), &[*table, at])?;
        *table = walk.unsqueezed(gathered, &[axis as i64])?;
    }
    let mut y = turn(walk, split, angles, turned, is_interleaved)?;
    if ty.rank() == 3 {
        y = walk.reshaped(y, &ty.shape)?;
    }
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// How many numbers tables of cosines and sines turn: they have an angle for each two.
pub(super) fn turned(walk: &Walk<'_, '_>, tables: [Value; 2]) -> Result<i64, Error> {
    let [cos, sin] = tables.map(|table| walk.ty(table));
    match cos.shape[..] {
        [_, angles] if cos.shape == sin.shape => Ok(angles.saturating_mul(2)),
        _ => Err(Error::invalid("tables of cosines and sines", format!("they are {cos} and {sin}"))),
    }
}

/// A place for each of a batch by so many.
fn places(walk: &mut Walk<'_, '_>, at: Value, [batch, count]: [i64; 2]) -> Result<Value, Error> {
    let ty = walk.ty(at);
    match ty.shape[..] {
        [1] => {
            let behind = walk.integers(DType::I64, &[1, count], |i| i as i128)?;
            let at = walk.op("Add", &[at, behind])?;
            let shape = Attributes::new().ints("shape", &[batch, count]);
            walk.op_with("Expand", &shape, &[at])
        }
        [a, b] if [a, b] == [batch, count] => Ok(at),
        _ => Err(misshapen(1, &ty, &format!("[1] or [{batch}, {count}]"))),
    }
}
