//! GroupQueryAttention: groups of queries share keys and values, which may be rotated here.

use ir::{Attributes, DType, Value};

use super::super::super::attention::{by_heads, sizes};
use super::super::super::decoding::turn;
use super::super::super::frame::Bound;
use super::super::super::given::GivenAttributes;
use super::super::super::opaque;
use super::super::super::terms::{misshapen, there};
use super::super::super::translation::{SourceNode, bind, need};
use super::super::super::walk::Walk;
use super::super::rotary::turned;
use super::super::{floats, tensors};
use super::multi_head::check_bias;
use super::{Heads, Mask, Scoring, after, asked_scale, attended};
use crate::Error;

/// The attributes.
struct Settings {
    query_heads: i64,
    heads: i64,
    scale: Option<f32>,
    cap: f32,
    is_causal: bool,
    window: Option<i64>,
    is_rotated: bool,
    is_interleaved: bool,
}

impl Settings {
    /// `None` where they ask for what the description leaves to the runtime.
    fn read(source: &SourceNode<'_, '_>) -> Result<Option<Self>, Error> {
        let given = GivenAttributes::of(source);
        let is_off =
            ["qk_output", "sliding_window_cache", "smooth_softmax"].map(|name| given.int(name, 0) <= 0);
        let is_plain = ["k_quant_type", "v_quant_type"].map(|name| given.text(name, "NONE") == "NONE");
        for of_what_is_off in ["kv_cache_bit_width", "qk_norm_epsilon"] {
            given.ignore(of_what_is_off);
        }
        let heads = [given.needed("num_heads")?, given.needed("kv_num_heads")?];
        if heads.iter().any(|count| *count < 1) {
            return Err(Error::invalid("attributes `num_heads` and `kv_num_heads`", "they must be positive"));
        }
        let settings = Self {
            query_heads: heads[0],
            heads: heads[1],
            scale: asked_scale(given.float("scale")),
            cap: given.float("softcap").unwrap_or(0.0),
            is_causal: given.int("causal", 1) != 0,
            window: given.whole("local_window_size").filter(|size| *size >= 0),
            is_rotated: given.int("do_rotary", 0) != 0,
            is_interleaved: given.int("rotary_interleaved", 0) != 0,
        };
        given.finish()?;
        let is_told = is_off.into_iter().chain(is_plain).all(|is| is);
        Ok(is_told.then_some(settings))
    }
}

/// Why a node is not written out.
const LEFT_OPEN: &str = "its description leaves this use of it to the runtime";

/// What is attended to, all keys, all values. Every sequence of the batch is as long as there are keys; of shorter ones the
/// description does not say where their new keys are put, nor what becomes of the rest.
pub(super) fn attention<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let Some(settings) = Settings::read(source)? else { return opaque::stand_in(walk, source, LEFT_OPEN) };
    let operands = tensors::<16>(walk, source)?;
    let is_capped_and_biased = settings.cap != 0.0 && operands[10].is_some();
    // Places of queries; sinks, scales of caches and weights of norms.
    let has_open_operand = operands[9].is_some() || operands[11..].iter().any(Option::is_some);
    let is_asked_for_scores = source.node.outputs.get(3).is_some_and(Option::is_some);
    if is_capped_and_biased || has_open_operand || is_asked_for_scores {
        return opaque::stand_in(walk, source, LEFT_OPEN);
    }
    let [mut queries, mut keys, values] = told(walk, &operands, &settings)?;
    let past = match (operands[3], operands[4]) {
        (keys, values) if keys.is_some() == values.is_some() => [keys, values],
        _ => return Err(Error::invalid("operands", "past keys and past values must be there together")),
    };
    let earlier = past[0].map_or(0, |past| walk.ty(past).shape.get(2).copied().unwrap_or(0));
    if settings.is_rotated {
        let tables = [floats(walk, &operands, 7)?, floats(walk, &operands, 8)?];
        queries = rotated(walk, queries, tables, earlier, settings.is_interleaved)?;
        keys = rotated(walk, keys, tables, earlier, settings.is_interleaved)?;
    }
    let (keys, values) = (after(walk, past[0], keys)?, after(walk, past[1], values)?);
    let sizes = sizes(walk, queries, keys, values)?;
    // "When past context is present, … sequence_length > 1 requires batch_size == 1."
    if past[0].is_some() && sizes.queries > 1 && sizes.batch > 1 {
        let why = format!("there are {} queries and a past for each of {}", sizes.queries, sizes.batch);
        return Err(Error::invalid("operands", why));
    }
    if let Some(bias) = operands[10] {
        check_bias(walk, bias, &sizes)?;
    }
    let mut mask = Mask::default();
    if settings.is_causal {
        if earlier + sizes.queries != sizes.keys {
            return opaque::stand_in(walk, source, LEFT_OPEN);
        }
        mask.keep_near(walk, &sizes, earlier, settings.window)?;
    } else if settings.window.is_some() {
        return Err(Error::invalid("attribute `local_window_size`", "it must be -1 where `causal` is 0"));
    }
    if is_known_as_other(walk, source, 5, sizes.keys - 1)? || is_known_as_other(walk, source, 6, sizes.keys)?
    {
        return opaque::stand_in(walk, source, LEFT_OPEN);
    }
    let lengths = only(walk, (5, there(&operands, 5)?), &[sizes.batch], sizes.keys - 1)?;
    let lengths = walk.reshaped(lengths, &[sizes.batch, 1, 1, 1])?;
    let total = only(walk, (6, there(&operands, 6)?), &[], sizes.keys)?;
    let are_told = walk.op("And", &[lengths, total])?;
    mask.and_near(walk, are_told)?;
    let heads = Heads { queries, keys, values };
    let scoring = Scoring { scale: settings.scale, cap: settings.cap, bias: operands[10], mask };
    let y = attended(walk, &heads, &sizes, &scoring)?;
    let keys = walk.op("Where", &[are_told, keys, keys])?;
    let values = walk.op("Where", &[are_told, values, values])?;
    bind(walk, source.node, [y, keys, values].map(Bound::Tensor).to_vec())
}

/// Queries, keys and values by heads: each for itself, or beside each other in one tensor.
fn told(
    walk: &mut Walk<'_, '_>,
    operands: &[Option<Value>],
    settings: &Settings,
) -> Result<[Value; 3], Error> {
    let Settings { query_heads, heads, .. } = *settings;
    let query = floats(walk, operands, 0)?;
    let flat = match (operands[1], operands[2]) {
        (Some(keys), Some(values)) => [query, keys, values],
        (None, None) => {
            let ty = walk.ty(query);
            let all = query_heads.saturating_add(heads.saturating_mul(2));
            let width = match ty.shape[..] {
                [_, _, numbers] if numbers % all == 0 => numbers / all,
                _ => return Err(misshapen(0, &ty, &format!("{all} heads beside each other"))),
            };
            let [first, second, end] = [query_heads, query_heads + heads, all].map(|count| count * width);
            [
                walk.slice(query, 2, 0, first)?,
                walk.slice(query, 2, first, second)?,
                walk.slice(query, 2, second, end)?,
            ]
        }
        _ => return Err(Error::invalid("operands", "a key and a value must be there together")),
    };
    Ok([
        by_heads(walk, 0, flat[0], Some(query_heads), true)?,
        by_heads(walk, 1, flat[1], Some(heads), true)?,
        by_heads(walk, 2, flat[2], Some(heads), true)?,
    ])
}

/// Heads, turned by the angles of their places behind the earlier ones.
fn rotated(
    walk: &mut Walk<'_, '_>,
    x: Value,
    tables: [Value; 2],
    earlier: i64,
    is_interleaved: bool,
) -> Result<Value, Error> {
    let count = turned(walk, tables)?;
    let (places, width) = {
        let shape = walk.ty(x).shape;
        (shape[2], shape[3])
    };
    let held = walk.ty(tables[0]).shape[0];
    if held < earlier + places || count > width {
        let why = format!("for {} places and at most {width} numbers", earlier + places);
        return Err(misshapen(7, &walk.ty(tables[0]), &why));
    }
    let mut angles = tables;
    for table in &mut angles {
        *table = walk.slice(*table, 0, earlier, earlier + places)?;
    }
    turn(walk, x, angles, count, is_interleaved)
}

/// Whether it is known beforehand that not all of some integers are this number: then not even the shapes of keys and values
/// follow from the description.
fn is_known_as_other(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    operand: usize,
    number: i64,
) -> Result<bool, Error> {
    let id = need(source.node, operand)?;
    let Some(known) = walk.known(id)? else { return Ok(false) };
    let is_other = known.to_i128s().iter().any(|&known| known != i128::from(number));
    if is_other {
        walk.read(id)?;
    }
    Ok(is_other)
}

/// True of each of some integers, which are this number. There is no reading for another one.
fn only(
    walk: &mut Walk<'_, '_>,
    (operand, x): (usize, Value),
    shape: &[i64],
    number: i64,
) -> Result<Value, Error> {
    let ty = walk.ty(x);
    let is_one = shape.is_empty() && ty.count() == 1;
    if ty.dtype != DType::I32 || !(is_one || ty.shape[..] == *shape) {
        return Err(misshapen(operand, &ty, &format!("i32{shape:?}")));
    }
    let (wide, number) = (walk.cast(x, DType::I64)?, walk.integers(DType::I64, &[], |_| number.into())?);
    let off = walk.op("Sub", &[wide, number])?;
    let off = walk.counted_from_first(off, 1)?;
    let truth = walk.integers(DType::Bool, &[1], |_| 1)?;
    let truths = walk.op_with("Gather", &Attributes::new().int("axis", 0), &[truth, off])?;
    walk.reshaped(truths, shape)
}
