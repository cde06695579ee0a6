//! MultiHeadAttention, and Attention, which projects what comes in first.

use ir::Value;

use super::super::super::attention::{Sizes, by_heads, sizes};
use super::super::super::frame::Bound;
use super::super::super::given::GivenAttributes;
use super::super::super::opaque;
use super::super::super::terms::misshapen;
use super::super::super::translation::{SourceNode, bind, stack};
use super::super::super::walk::Walk;
use super::super::{floats, tensors};
use super::{Heads, Mask, Scoring, after, asked_scale, attended};
use crate::Error;

/// What both operators are told.
struct Settings {
    heads: i64,
    scale: Option<f32>,
    /// What is added to scores of padding.
    filter: f32,
    /// Whether a query attends no key behind its own place.
    is_causal: bool,
}

impl Settings {
    fn read(given: &GivenAttributes<'_>) -> Result<Self, Error> {
        let heads = given.needed("num_heads")?;
        if heads < 1 {
            return Err(Error::invalid("attribute `num_heads`", format!("it is {heads}")));
        }
        Ok(Self {
            heads,
            scale: asked_scale(given.float("scale")),
            filter: given.float("mask_filter_value").unwrap_or(-10_000.0),
            is_causal: given.int("unidirectional", 0) != 0,
        })
    }
}

/// Why a node is not written out.
const MASK: &str = "its description does not say what this mask means";
const PLACES: &str = "its description does not say which places queries have that are fewer than keys";

/// MultiHeadAttention: its results are what is attended to, and all keys and values.
pub(super) fn attention<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let settings = Settings::read(&given)?;
    given.finish()?;
    let operands = tensors::<10>(walk, source)?;
    if operands[8].is_some() || operands[9].is_some() {
        return opaque::stand_in(walk, source, "buffers that past and present share are a runtime's own");
    }
    if source.node.outputs.get(3).is_some_and(Option::is_some) {
        return opaque::stand_in(walk, source, "its description does not say what normalised scores are");
    }
    let Some([queries, keys, values]) = told(walk, &operands, settings.heads)? else {
        return opaque::stand_in(
            walk,
            source,
            "its description does not say what bias keys of the past have",
        );
    };
    let past = [operands[6], operands[7]];
    let (mask, bias) = (operands[4].map(|mask| (4, mask)), operands[5]);
    match scored(walk, &settings, [queries, keys, values], past, mask, bias)? {
        Ok((y, all)) => bind(walk, source.node, [y].into_iter().chain(all).map(Bound::Tensor).collect()),
        Err(why) => opaque::stand_in(walk, source, why),
    }
}

/// Queries, keys and values by heads: each for itself, keys and values in one tensor, or all three. `None` if keys come by
/// heads, and so from elsewhere, but with a bias.
fn told(
    walk: &mut Walk<'_, '_>,
    operands: &[Option<Value>],
    heads: i64,
) -> Result<Option<[Value; 3]>, Error> {
    let query = floats(walk, operands, 0)?;
    let rank = |walk: &Walk<'_, '_>, i: usize| operands[i].map(|x| walk.ty(x).rank());
    let flat = match (walk.ty(query).rank(), rank(walk, 1), rank(walk, 2)) {
        (5, None, None) => {
            let [q, k, v] = [0, 1, 2].map(|part| unpacked(walk, (0, query), part, 3, heads));
            [q?, k?, v?]
        }
        (3, Some(5), None) => {
            let packed = (1, floats(walk, operands, 1)?);
            let [k, v] = [0, 1].map(|part| unpacked(walk, packed, part, 2, heads));
            [query, k?, v?]
        }
        (3, Some(4), Some(4)) => {
            if operands[3].is_some() {
                return Ok(None);
            }
            let queries = by_heads(walk, 0, query, Some(heads), true)?;
            return Ok(Some([queries, floats(walk, operands, 1)?, floats(walk, operands, 2)?]));
        }
        (3, Some(3), Some(3)) => [query, floats(walk, operands, 1)?, floats(walk, operands, 2)?],
        _ => {
            let why = "they must be a query, a key and a value of three axes, or packed ones of five";
            return Err(Error::invalid("operands", why));
        }
    };
    let mut from = 0;
    let mut all = flat;
    for (i, x) in all.iter_mut().enumerate() {
        if let Some(bias) = operands[3] {
            let width = walk.ty(*x).shape[2];
            let part = walk.slice(bias, 0, from, from + width)?;
            if walk.ty(part).shape[..] != [width] {
                return Err(misshapen(3, &walk.ty(bias), "a number for each of queries, keys and values"));
            }
            *x = walk.op("Add", &[*x, part])?;
            from += width;
        }
        *x = by_heads(walk, i, *x, Some(heads), true)?;
    }
    Ok(Some(all))
}

/// One of so many parts of a tensor with the axes batch, places, heads, parts and numbers; heads are beside each other then.
fn unpacked(
    walk: &mut Walk<'_, '_>,
    (operand, packed): (usize, Value),
    part: i64,
    parts: i64,
    heads: i64,
) -> Result<Value, Error> {
    let ty = walk.ty(packed);
    let &[batch, places, h, p, width] = &ty.shape[..] else { return Err(misshapen(operand, &ty, "packed")) };
    if [h, p] != [heads, parts] {
        return Err(misshapen(operand, &ty, &format!("{parts} of {heads} heads")));
    }
    let one = walk.slice(packed, 3, part, part + 1)?;
    walk.reshaped(one, &[batch, places, heads.saturating_mul(width)])
}

/// What is attended to with the keys and values that are there then, or why nobody can say.
type Scored = Result<(Value, [Value; 2]), &'static str>;

fn scored(
    walk: &mut Walk<'_, '_>,
    settings: &Settings,
    [queries, keys, values]: [Value; 3],
    past: [Option<Value>; 2],
    mask: Option<(usize, Value)>,
    bias: Option<Value>,
) -> Result<Scored, Error> {
    if past[0].is_some() != past[1].is_some() {
        return Err(Error::invalid("operands", "past keys and past values must be there together"));
    }
    let (keys, values) = (after(walk, past[0], keys)?, after(walk, past[1], values)?);
    let sizes = sizes(walk, queries, keys, values)?;
    let mut left_out = match mask {
        None => Mask::default(),
        Some(mask) => match Mask::read(walk, mask, settings.filter, &sizes)? {
            Some(mask) => mask,
            None => return Ok(Err(MASK)),
        },
    };
    if settings.is_causal {
        let earlier = past[0].map_or(0, |past| walk.ty(past).shape[2]);
        if earlier + sizes.queries != sizes.keys {
            return Ok(Err(PLACES));
        }
        left_out.keep_near(walk, &sizes, earlier, None)?;
    }
    if let Some(bias) = bias {
        check_bias(walk, bias, &sizes)?;
    }
    let heads = Heads { queries, keys, values };
    let scoring = Scoring { scale: settings.scale, cap: 0.0, bias, mask: left_out };
    let y = attended(walk, &heads, &sizes, &scoring)?;
    Ok(Ok((y, [keys, values])))
}

/// Requires that what is added to scores has their axes; batch and heads may be 1.
pub(super) fn check_bias(walk: &Walk<'_, '_>, bias: Value, sizes: &Sizes) -> Result<(), Error> {
    let ty = walk.ty(bias);
    let [batch, heads, queries, keys] = sizes.scores();
    match ty.shape[..] {
        [b, h, q, k] if (b == batch || b == 1) && (h == heads || h == 1) && [q, k] == [queries, keys] => {
            Ok(())
        }
        _ => {
            let why = format!("it is {ty}, and scores are {:?}", sizes.scores());
            Err(Error::invalid("attention bias", why))
        }
    }
}

/// Attention: what comes in times one matrix is queries, keys and values. Past and present are keys and values in one tensor.
pub(super) fn projected<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let settings = Settings::read(&given)?;
    let widths = given.ints("qkv_hidden_sizes");
    let is_rotated = given.int("do_rotary", 0) != 0;
    let is_shared = given.int("past_present_share_buffer", 0) != 0;
    given.ignore("rotary_embedding_dim");
    given.finish()?;
    let operands = tensors::<7>(walk, source)?;
    if is_rotated || is_shared || operands[6].is_some() {
        let why =
            "its description does not say by which angles it rotates, and shared buffers are a runtime's own";
        return opaque::stand_in(walk, source, why);
    }
    let (x, weights) = (floats(walk, &operands, 0)?, floats(walk, &operands, 1)?);
    let mut product = walk.op("MatMul", &[x, weights])?;
    if let Some(bias) = operands[2] {
        product = walk.op("Add", &[product, bias])?;
    }
    let parts = split(walk, product, widths, settings.heads)?;
    let past = match operands[4] {
        None => [None, None],
        Some(past) => {
            let [keys, values] = [0, 1].map(|i| {
                let one = walk.slice(past, 0, i, i + 1)?;
                walk.squeezed(one, 0)
            });
            [Some(keys?), Some(values?)]
        }
    };
    let mask = operands[3].map(|mask| (3, mask));
    match scored(walk, &settings, parts, past, mask, operands[5])? {
        Ok((y, all)) => {
            let [keys, values] = all.map(|x| walk.ty(x));
            let is_asked = source.node.outputs.get(1).is_some_and(Option::is_some);
            let mut results = vec![Bound::Tensor(y)];
            if is_asked && keys != values {
                return Err(misshapen(1, &keys, &format!("like values, {values}, where both are given")));
            }
            if is_asked {
                results.push(Bound::Tensor(stack(walk, &all, 0, &[])?));
            }
            bind(walk, source.node, results)
        }
        Err(why) => opaque::stand_in(walk, source, why),
    }
}

/// Queries, keys and values by heads, which are beside each other: of the sizes that are told, or a third each.
fn split(walk: &mut Walk<'_, '_>, all: Value, widths: &[i64], heads: i64) -> Result<[Value; 3], Error> {
    let ty = walk.ty(all);
    let &[_, _, width] = &ty.shape[..] else {
        return Err(Error::invalid("operands", format!("their product is {ty}, but must have three axes")));
    };
    let widths = match *widths {
        [] if width % 3 == 0 => [width / 3; 3],
        [q, k, v] if [q, k, v].iter().all(|size| (0..=width).contains(size)) && q + k + v == width => {
            [q, k, v]
        }
        _ => {
            let why = format!("{widths:?} are no parts of {width}");
            return Err(Error::invalid("attribute `qkv_hidden_sizes`", why));
        }
    };
    let mut from = 0;
    let parts = widths.map(|size| {
        let part = walk.slice(all, 2, from, from + size)?;
        from += size;
        by_heads(walk, 1, part, Some(heads), true)
    });
    let [q, k, v] = parts;
    Ok([q?, k?, v?])
}
