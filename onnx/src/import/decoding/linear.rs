//! LinearAttention, written out step by step: a state that keys write values to and queries read from, in f32 as ONNX's
//! function body has it.

use ir::{DType, Value};

use crate::Error;
use crate::import::attention::usual_scale;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::terms::{misshapen, operands, there};
use crate::import::translation::{SourceNode, bind};
use crate::import::walk::{Walk, few};

/// How the state changes.
#[derive(Clone, Copy)]
struct Rule {
    /// Whether it fades before each step.
    fades: bool,
    /// Whether only what differs from what the key reads is written.
    corrects: bool,
}

impl Rule {
    fn of(name: &str) -> Result<Self, Error> {
        let (fades, corrects) = match name {
            "linear" => (false, false),
            "gated" => (true, false),
            "delta" => (false, true),
            "gated_delta" => (true, true),
            other => return Err(Error::invalid("attribute `update_rule`", format!("there is no {other}"))),
        };
        Ok(Self { fades, corrects })
    }
}

/// The sizes of the axes.
#[derive(Clone, Copy)]
struct Sizes {
    batch: i64,
    steps: i64,
    heads: i64,
    /// How many heads of queries there are to one of keys.
    group: i64,
    key: i64,
    value: i64,
}

pub(super) fn attention<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<6>(walk, source)?;
    let given = GivenAttributes::of(source);
    // Without effect on the result, says the text.
    given.ignore("chunk_size");
    let rule = Rule::of(&given.text("update_rule", "gated_delta"))?;
    let heads = [given.int("q_num_heads", 0), given.int("kv_num_heads", 0)];
    let scale = given.float("scale").filter(|&scale| scale != 0.0);
    given.finish()?;
    let [query, key, value] = [there(&operands, 0)?, there(&operands, 1)?, there(&operands, 2)?];
    let sizes = sizes(walk, [query, key, value], heads)?;
    let dtype = walk.ty(query).dtype;
    let wanted = |i: usize, is_wanted: bool| match (operands[i], is_wanted) {
        (Some(value), true) => Ok(Some(value)),
        (None, false) => Ok(None),
        (None, true) => Err(Error::invalid(format!("operand {i}"), "the rule needs it")),
        (Some(_), false) => Err(Error::invalid(format!("operand {i}"), "the rule has no use for it")),
    };
    let (decay, beta) = (wanted(4, rule.fades)?, wanted(5, rule.corrects)?);
    let mut parts = [Some(query), Some(key), Some(value), decay, beta];
    for part in parts.iter_mut().flatten() {
        *part = walk.cast(*part, DType::F32)?;
    }
    let state_shape = [sizes.batch, sizes.heads, sizes.key, sizes.value];
    let (mut state, state_dtype) = match operands[3] {
        Some(state) if walk.ty(state).shape[..] == state_shape => {
            (walk.cast(state, DType::F32)?, walk.ty(state).dtype)
        }
        Some(state) => return Err(misshapen(3, &walk.ty(state), &format!("{state_shape:?}"))),
        None => (walk.reals(DType::F32, &state_shape, |_| 0.0)?, dtype),
    };
    let scale = match scale {
        Some(scale) => walk.real(DType::F32, scale.into())?,
        None => usual_scale(walk, sizes.key)?,
    };
    let mut read = Vec::with_capacity(sizes.steps as usize);
    let mut faded = None;
    for t in 0..sizes.steps {
        let mut outputs = Vec::with_capacity(5);
        for (i, part) in parts.iter().enumerate() {
            outputs.push(part.map(|part| of_step(walk, i, part, t, sizes)).transpose()?);
        }
        if let Some(decay) = outputs[3] {
            let (decay, all) = in_chunks(walk, decay, faded)?;
            (outputs[3], faded) = (Some(decay), Some(all));
        }
        let step = [there(&outputs, 0)?, there(&outputs, 1)?, there(&outputs, 2)?];
        state = updated(walk, state, step, [outputs[3], outputs[4]], sizes)?;
        let sums = walk.op("MatMul", &[step[0], state])?;
        let sums = walk.op("Mul", &[sums, scale])?;
        read.push(
            walk.reshaped(sums, &[sizes.batch, 1, (sizes.heads * sizes.group).saturating_mul(sizes.value)])?,
        );
        walk.check_size(|| format!("LinearAttention after {} of {} steps", t + 1, sizes.steps))?;
    }
    let y = walk.joined(&read, 1)?;
    let (y, state) = (walk.cast(y, dtype)?, walk.cast(state, state_dtype)?);
    bind(walk, source.node, vec![Bound::Tensor(y), Bound::Tensor(state)])
}

/// The decay of a step, and the sum of all up to it. The recurrence "may be implemented using chunk-parallel algorithms", says the
/// text: these take the difference of two such sums for the decay, which has their rounding. Where that is no number, as
/// after a decay of −∞, no such algorithm is right.
fn in_chunks(walk: &mut Walk<'_, '_>, decay: Value, before: Option<Value>) -> Result<(Value, Value), Error> {
    let Some(before) = before else { return Ok((decay, decay)) };
    let all = walk.op("Add", &[before, decay])?;
    let apart = walk.op("Sub", &[all, before])?;
    let is_none = walk.op("IsNaN", &[apart])?;
    let apart = walk.op("Where", &[is_none, decay, apart])?;
    Ok((walk.either(decay, apart)?, all))
}

/// The state after a step.
fn updated(
    walk: &mut Walk<'_, '_>,
    state: Value,
    [_, key, value]: [Value; 3],
    [decay, beta]: [Option<Value>; 2],
    sizes: Sizes,
) -> Result<Value, Error> {
    let mut state = state;
    if let Some(decay) = decay {
        let kept = walk.op("Exp", &[decay])?;
        state = walk.op("Mul", &[state, kept])?;
    }
    let mut new = value;
    if let Some(beta) = beta {
        let across = walk.reshaped(key, &[sizes.batch, sizes.heads, 1, sizes.key])?;
        let there = walk.op("MatMul", &[across, state])?;
        let lacking = walk.op("Sub", &[new, there])?;
        new = walk.op("Mul", &[beta, lacking])?;
    }
    let outer = walk.op("Mul", &[key, new])?;
    walk.op("Add", &[state, outer])
}

/// What an operand has for a step: a row of each query, a column of each key, a row of each value, a number or a column of each
/// decay, a number of each rate.
fn of_step(walk: &mut Walk<'_, '_>, part: usize, x: Value, t: i64, sizes: Sizes) -> Result<Value, Error> {
    let Sizes { batch, heads, group, key, value, .. } = sizes;
    let all = walk.ty(x).shape.last().copied().unwrap_or_default();
    let shape = match part {
        0 => [batch, heads, group, key],
        2 => [batch, heads, 1, value],
        3 if all == heads => [batch, heads, 1, 1],
        1 | 3 => [batch, heads, key, 1],
        _ => [batch, all, 1, 1],
    };
    let ty = walk.ty(x);
    let is_rate = part < 4 || all == heads || all == 1;
    if ty.shape[..] != [batch, sizes.steps, shape[1] * shape[2] * shape[3]] || !is_rate {
        // The state stands between the values and the decay.
        let i = if part < 3 { part } else { part + 1 };
        return Err(misshapen(i, &ty, &format!("for {} steps of {heads} heads", sizes.steps)));
    }
    let at = walk.slice(x, 1, t, t + 1)?;
    walk.reshaped(at, &shape)
}

fn sizes(walk: &mut Walk<'_, '_>, operands: [Value; 3], heads: [i64; 2]) -> Result<Sizes, Error> {
    let [query, key, value] = operands.map(|x| walk.ty(x));
    let [of_queries, heads] = heads;
    if of_queries <= 0 || heads <= 0 || of_queries % heads != 0 {
        let why = format!("{of_queries} heads of queries do not share {heads} of keys");
        return Err(Error::invalid("attribute `q_num_heads`", why));
    }
    let (&[batch, steps, all], &[.., keys], &[.., values]) =
        (&query.shape[..], &key.shape[..], &value.shape[..])
    else {
        return Err(misshapen(0, &query, "of batch, steps and heads beside each other"));
    };
    let divides = all % of_queries == 0 && keys % heads == 0 && values % heads == 0;
    if !divides || all / of_queries != keys / heads {
        let why = format!("queries {query}, keys {key} and values {value} do not belong together");
        return Err(Error::invalid("operands", why));
    }
    if steps == 0 {
        return Err(Error::unsupported("operand 0", "without a step nothing is written out"));
    }
    few(steps, "operand 0", "steps")?;
    let group = of_queries / heads;
    Ok(Sizes { batch, steps, heads, group, key: keys / heads, value: values / heads })
}
