//! Attention as ONNX Runtime's optimiser fuses it: with the projections in front of it, with past keys and values, with masks of
//! several forms, and with rotated keys of groups of queries.
//!
//! What the descriptions leave open is not written out: padding between keys of the past and new ones, buffers that past
//! and present share, caches of few bits, smoothed probabilities.

mod grouped;
mod masks;
mod multi_head;

use ir::{Attributes, DType, Value};

use masks::Mask;

use super::super::attention::{Sizes, capped, repeated, usual_scale};
use super::super::translation::Translation;
use super::super::walk::Walk;
use crate::Error;

pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "Attention" => Some(multi_head::projected),
        "GroupQueryAttention" => Some(grouped::attention),
        "MultiHeadAttention" => Some(multi_head::attention),
        _ => None,
    }
}

/// How scores become what is attended to.
struct Scoring {
    /// What scores are multiplied with; one through the root of the size of a head if there is none.
    scale: Option<f32>,
    /// Scores are nowhere further from 0, if it is not 0.
    cap: f32,
    /// What is added to scores.
    bias: Option<Value>,
    mask: Mask,
}

/// Queries, keys and values, each with the axes batch, heads, places and numbers.
struct Heads {
    queries: Value,
    keys: Value,
    values: Value,
}

/// What is attended to: batch, places, and the numbers of all heads beside each other. Of 16 bits it may be computed in more.
fn attended(
    walk: &mut Walk<'_, '_>,
    heads: &Heads,
    sizes: &Sizes,
    scoring: &Scoring,
) -> Result<Value, Error> {
    let floats: Vec<Value> =
        [heads.queries, heads.keys, heads.values].into_iter().chain(scoring.bias).collect();
    let by_heads = walk.in_f32_or_by_steps(&floats, |walk, floats| {
        let each = [repeated(walk, floats[1], sizes)?, repeated(walk, floats[2], sizes)?];
        let mut scores = scores(walk, floats[0], each[0], scoring.scale)?;
        scores = capped(walk, scores, scoring.cap)?;
        if let Some(&bias) = floats.get(3) {
            scores = walk.op("Add", &[scores, bias])?;
        }
        let scores = scoring.mask.applied(walk, scores)?;
        let shares = walk.op_with("Softmax", &Attributes::new().int("axis", -1), &[scores])?;
        walk.op("MatMul", &[shares, each[1]])
    })?;
    let by_place = walk.transposed(by_heads, &[0, 2, 1, 3])?;
    walk.reshaped(by_place, &[sizes.batch, sizes.queries, sizes.query_heads.saturating_mul(sizes.value)])
}

/// Products of queries and keys times the scale.
fn scores(walk: &mut Walk<'_, '_>, queries: Value, keys: Value, scale: Option<f32>) -> Result<Value, Error> {
    let ty = walk.ty(queries);
    let scale = match scale {
        Some(scale) => walk.real(DType::F32, scale.into())?,
        None => usual_scale(walk, ty.shape[3])?,
    };
    let scale = walk.cast(scale, ty.dtype)?;
    let across = walk.transposed(keys, &[0, 1, 3, 2])?;
    let products = walk.op("MatMul", &[queries, across])?;
    let after = walk.op("Mul", &[products, scale])?;
    // As well before: then a term that cancels with others is rounded.
    let scaled = walk.op("Mul", &[queries, scale])?;
    let before = walk.op("MatMul", &[scaled, across])?;
    walk.within(after, before)
}

/// What was there before and what is new, along the axis of places.
fn after(walk: &mut Walk<'_, '_>, past: Option<Value>, new: Value) -> Result<Value, Error> {
    match past {
        Some(past) => walk.joined(&[past, new], 2),
        None => Ok(new),
    }
}

/// The scale that an attribute asks for. ONNX Runtime takes 0 as if it were left out, of which its description has nothing.
fn asked_scale(scale: Option<f32>) -> Option<f32> {
    scale.filter(|scale| *scale != 0.0)
}
