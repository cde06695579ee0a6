//! What language models decode with, written out: RotaryEmbedding, SwiGLU, CausalConvWithState and LinearAttention.
//!
//! ONNX: [RotaryEmbedding](https://onnx.ai/onnx/operators/onnx__RotaryEmbedding.html),
//! [SwiGLU](https://onnx.ai/onnx/operators/onnx__SwiGLU.html),
//! [CausalConvWithState](https://onnx.ai/onnx/operators/onnx__CausalConvWithState.html),
//! [LinearAttention](https://onnx.ai/onnx/operators/onnx__LinearAttention.html).

mod linear;

use ir::{Attributes, Value};

use super::frame::Bound;
use super::given::GivenAttributes;
use super::terms::{misshapen, operands, there};
use super::translation::{SourceNode, Translation, bind};
use super::walk::Walk;
use crate::Error;

/// The function that writes out an operator of this name, if it is one of this module.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "CausalConvWithState" => Some(convolved),
        "LinearAttention" => Some(linear::attention),
        "RotaryEmbedding" => Some(rotated),
        "SwiGLU" => Some(gated),
        _ => None,
    }
}

/// SwiGLU: a · sigmoid(α · a) · b, of tensors of one shape.
fn gated<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<2>(walk, source)?;
    let (a, b) = (there(&operands, 0)?, there(&operands, 1)?);
    let given = GivenAttributes::of(source);
    let alpha = given.float("alpha").unwrap_or(1.0);
    given.finish()?;
    if walk.ty(a) != walk.ty(b) {
        return Err(misshapen(1, &walk.ty(b), &format!("like the first, {}", walk.ty(a))));
    }
    let swish = walk.op_with("Swish", &Attributes::new().float("alpha", alpha), &[a])?;
    let y = walk.op("Mul", &[swish, b])?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// CausalConvWithState: what came before is put in front, and each channel has a kernel of its own.
fn convolved<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<4>(walk, source)?;
    let (x, kernel) = (there(&operands, 0)?, there(&operands, 1)?);
    let given = GivenAttributes::of(source);
    let activation = given.text("activation", "none");
    given.finish()?;
    let (ty, kernel_ty) = (walk.ty(x), walk.ty(kernel));
    let &[batch, channels, places] = &ty.shape[..] else {
        return Err(misshapen(0, &ty, "of batch, channels and places"));
    };
    let size = match kernel_ty.shape[..] {
        [of, 1, size] if of == channels && size > 0 => size,
        _ => return Err(misshapen(1, &kernel_ty, &format!("a kernel for each of {channels} channels"))),
    };
    let state = [batch, channels, size - 1];
    let before = match operands[3] {
        Some(before) if walk.ty(before).shape[..] == state => before,
        Some(before) => return Err(misshapen(3, &walk.ty(before), &format!("{state:?}"))),
        None => walk.reals(ty.dtype, &state, |_| 0.0)?,
    };
    let whole = walk.joined(&[before, x], 2)?;
    let mut y = by_channel(walk, whole, kernel, operands[2], places)?;
    match activation.as_str() {
        "none" => {}
        "silu" | "swish" => y = walk.op("Swish", &[y])?,
        other => {
            return Err(Error::invalid("attribute `activation`", format!("there is no activation {other}")));
        }
    }
    let end = walk.ty(whole).shape[2];
    let after = walk.slice(whole, 2, end - size + 1, end)?;
    bind(walk, source.node, vec![Bound::Tensor(y), Bound::Tensor(after)])
}

/// A convolution of each channel by itself, for so many places. Conv gives one at least: where none is asked for, one
/// more comes in.
fn by_channel(
    walk: &mut Walk<'_, '_>,
    x: Value,
    kernel: Value,
    bias: Option<Value>,
    places: i64,
) -> Result<Value, Error> {
    let ty = walk.ty(x);
    let (batch, channels) = (ty.shape[0], ty.shape[1]);
    let mut seen = x;
    if places == 0 {
        let more = walk.reals(ty.dtype, &[batch, channels, 1], |_| 0.0)?;
        seen = walk.joined(&[x, more], 2)?;
    }
    let operands: Vec<Value> = [Some(seen), Some(kernel), bias].into_iter().flatten().collect();
    let y = walk.op_with("Conv", &Attributes::new().int("group", channels), &operands)?;
    if places == 0 { walk.slice(y, 2, 0, 0) } else { Ok(y) }
}

/// RotaryEmbedding: pairs of numbers, turned by the angle of their place. The text has no negative places.
fn rotated<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<4>(walk, source)?;
    let x = there(&operands, 0)?;
    let given = GivenAttributes::of(source);
    let (heads, dim) = (given.whole("num_heads"), given.int("rotary_embedding_dim", 0));
    let is_interleaved = given.int("interleaved", 0) != 0;
    given.finish()?;
    let ty = walk.ty(x);
    let (split, axis) = in_heads(walk, x, heads)?;
    let split_ty = walk.ty(split);
    let (batch, places, size) = (split_ty.shape[0], split_ty.shape[3 - axis], split_ty.shape[3]);
    let turned = if dim == 0 { size } else { dim };
    if turned % 2 != 0 || !(0..=size).contains(&turned) {
        let why = format!("{turned} of {size} numbers are not in pairs");
        return Err(Error::invalid("attribute `rotary_embedding_dim`", why));
    }
    let mut angles = Vec::with_capacity(2);
    for i in [1, 2] {
        let mut table = there(&operands, i)?;
        if let Some(at) = operands[3] {
            if walk.ty(at).shape[..] != [batch, places] || walk.ty(table).rank() != 2 {
                let wanted = format!("of {batch} by {places} places in tables with two axes");
                return Err(misshapen(3, &walk.ty(at), &wanted));
            }
            let at = walk.counted_from_first(at, walk.ty(table).shape[0])?;
            table = walk.op_with("Gather", &Attributes::new().int("axis", 0), &[table, at])?;
        }
        if walk.ty(table).shape[..] != [batch, places, turned / 2] {
            return Err(misshapen(i, &walk.ty(table), &format!("{:?}", [batch, places, turned / 2])));
        }
        angles.push(walk.unsqueezed(table, &[axis as i64])?);
    }
    let mut y = turn(walk, split, [angles[0], angles[1]], turned, is_interleaved)?;
    if ty.rank() == 3 {
        y = walk.reshaped(y, &ty.shape)?;
    }
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// Numbers on the last of four axes, of which so many are in pairs. These are turned by the angles that have these cosines and
/// sines; the others stay.
pub(super) fn turn(
    walk: &mut Walk<'_, '_>,
    x: Value,
    [cos, sin]: [Value; 2],
    turned: i64,
    is_interleaved: bool,
) -> Result<Value, Error> {
    let ty = walk.ty(x);
    let first = half(walk, x, turned, 0, is_interleaved)?;
    let second = half(walk, x, turned, 1, is_interleaved)?;
    let across = [walk.op("Mul", &[cos, first])?, walk.op("Mul", &[sin, second])?];
    let real = walk.op("Sub", &across)?;
    let along = [walk.op("Mul", &[sin, first])?, walk.op("Mul", &[cos, second])?];
    let imaginary = walk.op("Add", &along)?;
    let y = if is_interleaved {
        let pairs = super::translation::stack(walk, &[real, imaginary], 4, &[])?;
        let shape = [&ty.shape[..3], &[turned]].concat();
        walk.reshaped(pairs, &shape)?
    } else {
        walk.joined(&[real, imaginary], 3)?
    };
    if turned == ty.shape[3] {
        return Ok(y);
    }
    let rest = walk.slice(x, 3, turned, ty.shape[3])?;
    walk.joined(&[y, rest], 3)
}

/// What has an axis of heads, and which one that is: they stand before the places, or with three axes behind them.
pub(super) fn in_heads(
    walk: &mut Walk<'_, '_>,
    x: Value,
    heads: Option<i64>,
) -> Result<(Value, usize), Error> {
    let ty = walk.ty(x);
    match (&ty.shape[..], heads) {
        ([_, _, _, _], _) => Ok((x, 1)),
        (&[batch, places, all], Some(heads)) if heads > 0 && all % heads == 0 => {
            Ok((walk.reshaped(x, &[batch, places, heads, all / heads])?, 2))
        }
        (_, heads) => {
            let heads =
                heads.map_or_else(|| "no count of heads".to_owned(), |heads| format!("{heads} heads"));
            Err(misshapen(0, &ty, &format!("of four axes, or of three with {heads}")))
        }
    }
}

/// The first or second number of all pairs: they are next to each other, or half of the numbers apart.
fn half(
    walk: &mut Walk<'_, '_>,
    x: Value,
    turned: i64,
    i: i64,
    is_interleaved: bool,
) -> Result<Value, Error> {
    if !is_interleaved {
        return walk.slice(x, 3, i * (turned / 2), (i + 1) * (turned / 2));
    }
    let every = Attributes::new().ints("starts", &[i]).ints("ends", &[turned]).ints("axes", &[3]);
    walk.op_with("Slice", &every.ints("steps", &[2]), &[x])
}
