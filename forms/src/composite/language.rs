//! Language models, and the losses that networks are trained with.

use ir::{DType, DTypes};

use super::piece::Piece;
use super::sequences::body;
use super::{Composite, REALS};

/// What language models are computed in.
const UP_TO_32: DTypes = DTypes::of(&[DType::F16, DType::BF16, DType::F32]);

/// The first opset whose Attention is told how many of the keys are there.
const PADDED: u32 = 24;

/// The first opset whose Attention has windows of keys.
const WINDOWS: u32 = 25;

pub(super) const ALL: &[Composite] = &[
    Composite::new("Attention", 23, REALS, attention),
    Composite::new("CausalConvWithState", 27, UP_TO_32, causal_conv_with_state),
    Composite {
        domain: "ai.onnx.preview",
        version: 1,
        ..Composite::new("FlexAttention", 26, REALS, flex_attention)
    },
    Composite::new("LinearAttention", 27, UP_TO_32, linear_attention),
    Composite::new("RotaryEmbedding", 23, UP_TO_32, rotary_embedding),
    Composite::new("SwiGLU", 28, DTypes::of(&[DType::F16, DType::BF16, DType::F32, DType::F64]), swi_glu),
    Composite::new("TensorScatter", 24, DTypes::IR4, tensor_scatter),
    Composite::new("NegativeLogLikelihoodLoss", 13, REALS, |p| loss(p, false)),
    Composite::new("SoftmaxCrossEntropyLoss", 13, REALS, |p| loss(p, true)),
];

fn attention(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, heads, queries, keys) = (p.count(1..=2), p.size(1..=2), p.count(1..=4), p.size(1..=4));
    let (width, value_width, shared) = (p.size(1..=4), p.size(1..=4), p.size(1..=2));
    let query_heads = heads * shared;
    let is_flat = p.chance(0.4);
    let shape = |heads: i64, count: i64, width: i64| {
        if is_flat { vec![batch, count, heads * width] } else { vec![batch, heads, count, width] }
    };
    p.of(dtype, &shape(query_heads, queries, width));
    p.of(dtype, &shape(heads, keys, width));
    p.of(dtype, &shape(heads, keys, value_width));
    if is_flat {
        p.int("q_num_heads", query_heads);
        p.int("kv_num_heads", heads);
    }
    let has_past = p.chance(0.3);
    let past = if has_past { p.size(1..=3) } else { 0 };
    mask(p, dtype, [batch, query_heads, queries, past + keys])?;
    if has_past {
        p.of(dtype, &[batch, heads, past, width]);
        p.of(dtype, &[batch, heads, past, value_width]);
        p.results = 3;
        if p.chance(0.4) {
            p.results = 4;
            let shown = p.size(0..=3);
            p.int("qk_matmul_output_mode", shown);
        }
    } else if p.opset >= PADDED && p.chance(0.3) {
        p.absent();
        p.absent();
        let filled: Vec<i64> = (0..batch).map(|_| p.size(1..=keys)).collect();
        p.integers(DType::I64, &[batch], &filled);
    }
    if p.chance(0.3) {
        p.int("is_causal", 1);
    }
    if p.chance(0.3) {
        p.float("scale", 0.25);
    }
    if p.chance(0.2) {
        p.float("softcap", 2.0);
    }
    if p.chance(0.2) {
        let precision = p.choose(&[DType::F32, DType::F64, DType::F16, DType::BF16])?;
        p.int("softmax_precision", onnx::tensor::code_of(precision).into());
    }
    if p.opset >= WINDOWS {
        for side in ["left_window_size", "right_window_size"] {
            if p.chance(0.2) {
                let size = p.size(0..=3);
                p.int(side, size);
            }
        }
    }
    Some(())
}

/// What may be attended to, in a share of draws: as numbers to add or as truth values, for each head and batch or for all.
fn mask(p: &mut Piece<'_>, dtype: DType, [batch, heads, queries, keys]: [i64; 4]) -> Option<()> {
    if !p.chance(0.5) {
        p.absent();
        return Some(());
    }
    let (of_batch, of_head) = (p.choose(&[1, batch])?, p.choose(&[1, heads])?);
    let shape = match p.size(0..=3) {
        0 | 1 => vec![queries, keys],
        2 => vec![of_head, queries, keys],
        _ => vec![of_batch, of_head, queries, keys],
    };
    if p.chance(0.5) {
        p.of(dtype, &shape);
        return Some(());
    }
    // Of nothing there is no average: each query attends to one key at least.
    let count: i64 = shape.iter().product();
    let allowed: Vec<i64> = (0..count).map(|at| if at % keys == 0 { 1 } else { p.size(0..=1) }).collect();
    p.integers(DType::Bool, &shape, &allowed);
    Some(())
}

/// Without graphs of its own.
fn flex_attention(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, heads, queries, keys) = (p.count(1..=2), p.size(1..=2), p.count(1..=4), p.size(1..=4));
    let (width, value_width, shared) = (p.size(1..=4), p.size(1..=4), p.size(1..=2));
    p.of(dtype, &[batch, heads * shared, queries, width]);
    p.of(dtype, &[batch, heads, keys, width]);
    p.of(dtype, &[batch, heads, keys, value_width]);
    if p.chance(0.5) {
        p.float("scale", 0.25);
    }
    let usual = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let precision = p.choose(&[usual, DType::F64])?;
    if precision != usual || p.chance(0.2) {
        p.int("softmax_precision", onnx::tensor::code_of(precision).into());
    }
    for name in ["score_mod", "prob_mod"] {
        if p.chance(0.3) {
            let function = p.choose(&["Neg", "Abs", "Tanh"])?;
            p.body(name, body(precision, function, 1, false, 1));
        }
    }
    Some(())
}

fn causal_conv_with_state(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, channels, places, kernel) = (p.size(1..=2), p.size(1..=4), p.size(1..=6), p.size(2..=4));
    p.of(dtype, &[batch, channels, places]);
    p.of(dtype, &[channels, 1, kernel]);
    p.perhaps(0.5, dtype, &[channels]);
    p.perhaps(0.5, dtype, &[batch, channels, kernel - 1]);
    p.results = 2;
    p.word("activation", &["none", "silu", "swish"])?;
    Some(())
}

fn linear_attention(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, steps, heads, shared) = (p.size(1..=2), p.size(1..=3), p.size(1..=2), p.size(1..=2));
    let (key, value) = (p.size(1..=3), p.size(1..=3));
    let rule = p.word("update_rule", &["gated_delta", "linear", "gated", "delta"])?;
    p.of(dtype, &[batch, steps, heads * shared * key]);
    p.of(dtype, &[batch, steps, heads * key]);
    p.of(dtype, &[batch, steps, heads * value]);
    p.perhaps(0.5, dtype, &[batch, heads, key, value]);
    if rule.starts_with("gated") {
        let each = p.choose(&[1, key])?;
        p.of(dtype, &[batch, steps, heads * each]);
    } else {
        p.absent();
    }
    if rule.ends_with("delta") {
        let each = p.choose(&[1, heads])?;
        p.of(dtype, &[batch, steps, each]);
    }
    p.int("q_num_heads", heads * shared);
    p.int("kv_num_heads", heads);
    if p.chance(0.4) {
        p.float("scale", 0.25);
    }
    if p.chance(0.3) {
        // Results do not depend on how many steps are taken at once.
        let steps = p.size(1..=3);
        p.int("chunk_size", steps);
    }
    p.results = 2;
    Some(())
}

fn swi_glu(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let gate = p.any(dtype, 0..=4);
    p.of(dtype, &gate.shape);
    if p.chance(0.5) {
        p.float("alpha", 2.0);
    }
    Some(())
}

fn rotary_embedding(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, heads, steps, half) = (p.count(1..=2), p.size(1..=2), p.size(1..=4), p.size(1..=3));
    let is_flat = p.chance(0.4);
    let width = 2 * half;
    let x = if is_flat { vec![batch, steps, heads * width] } else { vec![batch, heads, steps, width] };
    p.of(dtype, &x);
    if is_flat {
        p.int("num_heads", heads);
    }
    let rotated = if p.chance(0.3) && half > 1 { half - 1 } else { half };
    if rotated < half {
        p.int("rotary_embedding_dim", 2 * rotated);
    }
    let is_by_place = p.chance(0.5);
    let places = steps + p.size(0..=2);
    let cache = if is_by_place { vec![places, rotated] } else { vec![batch, steps, rotated] };
    p.of(dtype, &cache);
    p.of(dtype, &cache);
    if is_by_place {
        let ids: Vec<i64> = (0..batch * steps).map(|_| p.size(0..=places - 1)).collect();
        p.integers(DType::I64, &[batch, steps], &ids);
    }
    p.flag("interleaved");
    Some(())
}

fn tensor_scatter(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, rank, most) = (p.size(1..=2), p.size(2..=4), p.size(2..=5));
    // By default the last axis but one, and never that of the batch.
    let axis = if rank > 2 && p.chance(0.6) { rank - 2 } else { p.size(1..=rank - 1) };
    let new = p.size(1..=most);
    let mut shape = vec![batch];
    (1..rank).for_each(|_| shape.push(p.size(1..=3)));
    for size in [most, new] {
        shape[axis as usize] = size;
        p.of(dtype, &shape);
    }
    if axis != rank - 2 || p.chance(0.3) {
        let axis = if p.chance(0.5) { axis - rank } else { axis };
        p.int("axis", axis);
    }
    let is_circular = p.chance(0.4);
    let last = if is_circular { most - 1 } else { most - new };
    let places: Vec<i64> = (0..batch).map(|_| p.size(0..=last)).collect();
    p.integers(DType::I64, &[batch], &places);
    if is_circular {
        p.text("mode", "circular");
    }
    Some(())
}

fn loss(p: &mut Piece<'_>, of_logits: bool) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, classes) = (p.size(1..=4), p.size(1..=5));
    let rest: Vec<i64> = (0..p.size(0..=2)).map(|_| p.size(1..=3)).collect();
    p.of(dtype, &[&[batch, classes][..], &rest].concat());
    let shape = [&[batch][..], &rest].concat();
    let ignored = p.chance(0.4).then(|| p.size(0..=classes - 1));
    let count: i64 = shape.iter().product();
    let mut labels: Vec<i64> = (0..count).map(|_| p.size(0..=classes - 1)).collect();
    // A mean of nothing is undefined.
    if let Some(ignored) = ignored.filter(|_| classes > 1) {
        labels[0] = (ignored + 1) % classes;
        p.int("ignore_index", ignored);
    }
    let whole = p.choose(&[DType::I64, DType::I32])?;
    p.integers(whole, &shape, &labels);
    if p.chance(0.4) {
        p.of(dtype, &[classes]);
    }
    p.word("reduction", &["mean", "sum", "none"])?;
    if of_logits && p.chance(0.5) {
        p.results = 2;
    }
    Some(())
}
