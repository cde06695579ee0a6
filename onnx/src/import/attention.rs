//! Attention, written out.
//!
//! ONNX: [Attention](https://onnx.ai/onnx/operators/onnx__Attention.html). Scores of each query with each key, capped,
//! with what the mask adds, as probabilities, times the values. Which keys a query may attend is one tensor of truth
//! values (`allowed`), and what it may not scores -∞: the text adds -∞, which is the same for all scores that are
//! numbers. A query without a key gets zeros.

mod allowed;
pub(super) mod flexible;

use ir::{Attributes, DType, Type, Value};

use allowed::{Allowed, Places};

use super::frame::Bound;
use super::given::GivenAttributes;
use super::terms::{misshapen, operands, there};
use super::translation::{SourceNode, Translation, bind};
use super::walk::Walk;
use crate::Error;

/// The function that writes out an operator of this name, if it is Attention.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "Attention" => Some(attention),
        _ => None,
    }
}

/// The attributes.
struct Settings {
    scale: Option<f32>,
    cap: f32,
    precision: Option<i64>,
    /// The step whose result is the last output.
    shown: i64,
    heads: [Option<i64>; 2],
    places: Places,
}

impl Settings {
    fn read(source: &SourceNode<'_, '_>) -> Result<Self, Error> {
        let given = GivenAttributes::of(source);
        let window = |name: &str| match given.int(name, -1) {
            -1 => Ok(None),
            size @ 0.. => Ok(Some(size)),
            size => Err(Error::invalid(format!("attribute `{name}`"), format!("it is {size}"))),
        };
        let places = Places {
            left: window("left_window_size")?,
            right: window("right_window_size")?,
            is_causal: given.int("is_causal", 0) != 0,
        };
        let settings = Self {
            scale: given.float("scale"),
            cap: given.float("softcap").unwrap_or(0.0),
            precision: given.whole("softmax_precision"),
            shown: given.int("qk_matmul_output_mode", 0),
            heads: [given.whole("q_num_heads"), given.whole("kv_num_heads")],
            places,
        };
        given.finish()?;
        if !(0..=3).contains(&settings.shown) {
            let why = format!("there is no mode {}", settings.shown);
            return Err(Error::invalid("attribute `qk_matmul_output_mode`", why));
        }
        if settings.scale.is_some_and(|scale| scale.is_nan() || scale < 0.0) {
            return Err(Error::unsupported("attribute `scale`", "its square root is multiplied with"));
        }
        Ok(settings)
    }
}

/// The dtype that a softmax is computed in, by its code.
fn precise(code: Option<i64>) -> Result<Option<DType>, Error> {
    Ok(Some(match code {
        None => return Ok(None),
        Some(1) => DType::F32,
        Some(10) => DType::F16,
        Some(11) => DType::F64,
        Some(16) => DType::BF16,
        Some(other) => {
            let why = format!("{other} is none of 1, 10, 11 and 16");
            return Err(Error::invalid("attribute `softmax_precision`", why));
        }
    }))
}

fn attention<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let settings = Settings::read(source)?;
    let operands = operands::<7>(walk, source)?;
    let [q, k, v] = [there(&operands, 0)?, there(&operands, 1)?, there(&operands, 2)?];
    let is_flat = walk.ty(q).rank() == 3;
    let [query_heads, heads] = settings.heads;
    let q = by_heads(walk, 0, q, query_heads, is_flat)?;
    let keys = by_heads(walk, 1, k, heads, is_flat)?;
    let values = by_heads(walk, 2, v, heads, is_flat)?;
    let past = match (operands[4], operands[5]) {
        (Some(_), Some(_)) if operands[6].is_some() => {
            return Err(Error::invalid("operand 6", "there are past keys as well"));
        }
        (Some(keys), Some(values)) => Some([keys, values]),
        (None, None) => None,
        _ => return Err(Error::invalid("operands", "past keys and past values must be there together")),
    };
    let earlier = past.map_or(0, |[keys, _]| walk.ty(keys).shape.get(2).copied().unwrap_or(0));
    let (keys, values) = match past {
        Some([before, valued]) => (walk.joined(&[before, keys], 2)?, walk.joined(&[valued, values], 2)?),
        None => (keys, values),
    };
    let sizes = sizes(walk, q, keys, values)?;
    let (each_key, each_value) = (repeated(walk, keys, &sizes)?, repeated(walk, values, &sizes)?);
    let mut steps = Vec::with_capacity(4);
    steps.push(scores(walk, q, each_key, settings.scale)?);
    steps.push(capped(walk, steps[0], settings.cap)?);
    let allowed = Allowed::read(walk, &settings.places, &sizes, operands[3], operands[6], earlier)?;
    steps.push(allowed.scores(walk, steps[1])?);
    let dtype = walk.ty(q).dtype;
    let cast = walk.cast(steps[2], precise(settings.precision)?.unwrap_or(dtype))?;
    let shares = walk.op_with("Softmax", &Attributes::new().int("axis", -1), &[cast])?;
    let shares = allowed.shares(walk, shares)?;
    steps.push(walk.cast(shares, dtype)?);
    if walk.ty(steps[3]).shape[..] != sizes.scores()[..] {
        let ty = walk.ty(steps[3]);
        let why = format!("with it scores are {ty}, and must be {:?}", sizes.scores());
        return Err(Error::invalid("operand 3", why));
    }
    let mut y = walk.op("MatMul", &[steps[3], each_value])?;
    if is_flat {
        let by_place = walk.transposed(y, &[0, 2, 1, 3])?;
        y = walk.reshaped(
            by_place,
            &[sizes.batch, sizes.queries, sizes.query_heads.saturating_mul(sizes.value)],
        )?;
    }
    let results = [y, keys, values, steps[settings.shown as usize]];
    bind(walk, source.node, results.map(Bound::Tensor).to_vec())
}

/// The axes of what takes part.
pub(super) struct Sizes {
    pub(super) batch: i64,
    pub(super) query_heads: i64,
    pub(super) heads: i64,
    pub(super) queries: i64,
    pub(super) keys: i64,
    pub(super) value: i64,
}

impl Sizes {
    pub(super) fn scores(&self) -> [i64; 4] {
        [self.batch, self.query_heads, self.queries, self.keys]
    }
}

/// An operand as batch, heads, places and numbers. With three axes, it has the heads beside each other.
pub(super) fn by_heads(
    walk: &mut Walk<'_, '_>,
    i: usize,
    x: Value,
    heads: Option<i64>,
    is_flat: bool,
) -> Result<Value, Error> {
    let ty = walk.ty(x);
    match (&ty.shape[..], heads) {
        (&[_, there, ..], heads)
            if ty.rank() == 4 && !is_flat && heads.is_none_or(|heads| heads == there) =>
        {
            Ok(x)
        }
        (&[batch, places, all], Some(heads)) if is_flat && heads > 0 && all % heads == 0 => {
            let split = walk.reshaped(x, &[batch, places, heads, all / heads])?;
            walk.transposed(split, &[0, 2, 1, 3])
        }
        (_, heads) => {
            let heads =
                heads.map_or_else(|| "no count of heads".to_owned(), |heads| format!("{heads} heads"));
            Err(misshapen(i, &ty, &format!("of four axes, or like the others of three, with {heads}")))
        }
    }
}

pub(super) fn sizes(walk: &mut Walk<'_, '_>, q: Value, keys: Value, values: Value) -> Result<Sizes, Error> {
    let [q, k, v] = [q, keys, values].map(|x| walk.ty(x));
    if v.dtype != q.dtype {
        let why = format!("it is {v}, and queries are {q}: ONNX's function body has no such product");
        return Err(Error::unsupported("operand 2", why));
    }
    let axes = |ty: &Type| <[i64; 4]>::try_from(&ty.shape[..]).ok();
    if let (Some([batch, query_heads, queries, size]), Some([b, heads, keys, s]), Some([c, h, places, value])) =
        (axes(&q), axes(&k), axes(&v))
        && [b, c, s, h, places] == [batch, batch, size, heads, keys]
        && heads > 0
        && query_heads % heads == 0
    {
        return Ok(Sizes { batch, query_heads, heads, queries, keys, value });
    }
    Err(Error::invalid("operands", format!("queries {q}, keys {k} and values {v} do not belong together")))
}

/// Keys or values for each head of the queries, of which some share one.
pub(super) fn repeated(walk: &mut Walk<'_, '_>, x: Value, sizes: &Sizes) -> Result<Value, Error> {
    if sizes.query_heads == sizes.heads {
        return Ok(x);
    }
    let ty = walk.ty(x);
    let (places, size, times) = (ty.shape[2], ty.shape[3], sizes.query_heads / sizes.heads);
    let apart = walk.unsqueezed(x, &[2])?;
    let shape = Attributes::new().ints("shape", &[sizes.batch, sizes.heads, times, places, size]);
    let expanded = walk.op_with("Expand", &shape, &[apart])?;
    walk.reshaped(expanded, &[sizes.batch, sizes.query_heads, places, size])
}

/// Products of queries and keys, each times the square root of the scale, which is computed in f32 as in ONNX's function body.
fn scores(walk: &mut Walk<'_, '_>, q: Value, keys: Value, scale: Option<f32>) -> Result<Value, Error> {
    let ty = walk.ty(q);
    let scale = match scale {
        Some(scale) => walk.real(DType::F32, scale.into())?,
        None => usual_scale(walk, ty.shape[3])?,
    };
    let root = walk.op("Sqrt", &[scale])?;
    let root = walk.cast(root, ty.dtype)?;
    let across = walk.transposed(keys, &[0, 1, 3, 2])?;
    let (q, keys) = (walk.op("Mul", &[q, root])?, walk.op("Mul", &[across, root])?);
    walk.op("MatMul", &[q, keys])
}

/// The scale of products of so many numbers: one through the root of their count, in f32.
pub(super) fn usual_scale(walk: &mut Walk<'_, '_>, size: i64) -> Result<Value, Error> {
    let (size, unit) = (walk.real(DType::F32, size as f64)?, walk.real(DType::F32, 1.0)?);
    let root = walk.op("Sqrt", &[size])?;
    walk.op("Div", &[unit, root])
}

/// Scores that are nowhere further from 0 than the cap: cap · tanh(score / cap).
pub(super) fn capped(walk: &mut Walk<'_, '_>, scores: Value, cap: f32) -> Result<Value, Error> {
    if cap == 0.0 {
        return Ok(scores);
    }
    let dtype = walk.ty(scores).dtype;
    let cap = walk.real(dtype, cap.into())?;
    let parts = walk.op("Div", &[scores, cap])?;
    let parts = walk.op("Tanh", &[parts])?;
    walk.op("Mul", &[parts, cap])
}
