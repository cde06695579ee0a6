//! What a fused transformer is made of: attention with its masks, caches and rotations, and embeddings.

use ir::{DType, DTypes};

use super::super::Composite;
use super::super::piece::Piece;

const F32: DTypes = DTypes::of(&[DType::F32]);

/// What ONNX Runtime has on processors.
const HALVES: DTypes = DTypes::of(&[DType::F16, DType::F32]);

pub(in super::super) const ALL: &[Composite] = &[
    Composite::microsoft("EmbedLayerNormalization", 17, HALVES, embeddings),
    Composite::microsoft("GroupQueryAttention", 13, HALVES, grouped),
    Composite::microsoft("MultiHeadAttention", 13, F32, multi_head),
];

fn multi_head(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, heads, width) = (p.size(1..=2), p.size(1..=3), p.size(1..=4));
    let (queries, keys) = (p.size(1..=4), p.size(1..=4));
    let is_causal = p.flag("unidirectional");
    let past = if p.chance(0.3) { p.size(1..=3) } else { 0 };
    // Past values are as wide as keys.
    let value_width = if past == 0 && p.chance(0.4) { p.size(1..=4) } else { width };
    // Queries have places where they come one with each new key.
    let keys = if is_causal { queries } else { keys };
    let (all, flat) = (past + keys, heads * width);
    // Queries, keys and values in one tensor; keys and values in one; each in its own.
    let (packed, values) = match p.size(0..=4) {
        0 if queries == keys => (3, flat),
        1 => (2, flat),
        _ => (1, heads * value_width),
    };
    match packed {
        3 => {
            p.of(dtype, &[batch, queries, heads, 3, width]);
            p.absent();
            p.absent();
        }
        2 => {
            p.of(dtype, &[batch, queries, flat]);
            p.of(dtype, &[batch, keys, heads, 2, width]);
            p.absent();
        }
        _ => {
            p.of(dtype, &[batch, queries, flat]);
            p.of(dtype, &[batch, keys, flat]);
            p.of(dtype, &[batch, keys, values]);
        }
    }
    p.perhaps(0.4, dtype, &[2 * flat + values]);
    padding(p, [batch, queries, all]);
    bias(p, dtype, [batch, heads, queries, all])?;
    if past > 0 {
        p.of(dtype, &[batch, heads, past, width]);
        p.of(dtype, &[batch, heads, past, values / heads]);
        p.results = 3;
    }
    p.int("num_heads", heads);
    if p.chance(0.3) {
        p.float("scale", 0.25);
    }
    if p.chance(0.2) {
        p.float("mask_filter_value", -30_000.0);
    }
    Some(())
}

/// Which keys are padding, in a share of draws: as counts, or as truth values for all queries or each. The first never is.
fn padding(p: &mut Piece<'_>, [batch, queries, keys]: [i64; 3]) {
    let shape = match p.size(0..=5) {
        0 => {
            let counts: Vec<i64> = (0..batch).map(|_| p.size(1..=keys)).collect();
            return p.integers(DType::I32, &[batch], &counts);
        }
        1 => vec![batch, keys],
        2 => vec![batch, queries, keys],
        _ => return p.absent(),
    };
    let count: i64 = shape.iter().product();
    let truths: Vec<i64> = (0..count).map(|at| if at % keys == 0 { 1 } else { p.size(0..=1) }).collect();
    p.integers(DType::I32, &shape, &truths);
}

/// What is added to scores, in a share of draws: for each head and batch or for all.
fn bias(p: &mut Piece<'_>, dtype: DType, [batch, heads, queries, keys]: [i64; 4]) -> Option<()> {
    let (of_batch, of_head) = (p.choose(&[1, batch])?, p.choose(&[1, heads])?);
    p.perhaps(0.3, dtype, &[of_batch, of_head, queries, keys]);
    Some(())
}

fn grouped(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, heads, shared) = (p.size(1..=2), p.size(1..=2), p.size(1..=3));
    // ONNX Runtime takes heads of a multiple of eight numbers alone.
    let pairs = p.choose(&[1, 2, 3, 4, 4, 4, 8])?;
    let (queries, width) = (p.size(1..=4), 2 * pairs);
    let past = if p.chance(0.5) { p.size(1..=4) } else { 0 };
    // Several places with a past are of one sequence alone.
    let batch = if past > 0 && queries > 1 { 1 } else { batch };
    let (query_heads, all) = (heads * shared, past + queries);
    if p.chance(0.3) {
        p.of(dtype, &[batch, queries, (query_heads + 2 * heads) * width]);
        p.absent();
        p.absent();
    } else {
        p.of(dtype, &[batch, queries, query_heads * width]);
        p.of(dtype, &[batch, queries, heads * width]);
        p.of(dtype, &[batch, queries, heads * width]);
    }
    for _ in ["past keys", "past values"] {
        if past > 0 {
            p.of(dtype, &[batch, heads, past, width]);
        } else {
            p.absent();
        }
    }
    p.integers(DType::I32, &[batch], &vec![all - 1; batch as usize]);
    p.integers(DType::I32, &[], &[all]);
    let is_rotated = p.flag("do_rotary");
    let held = all + p.size(0..=2);
    for _ in ["cosines", "sines"] {
        if is_rotated {
            p.of(dtype, &[held, pairs]);
        } else {
            p.absent();
        }
    }
    if is_rotated {
        p.flag("rotary_interleaved");
    }
    p.absent();
    if p.chance(0.2) {
        // As models have it: of a small one a shader's tanh is far out.
        p.float("softcap", 30.0);
    } else {
        bias(p, dtype, [batch, query_heads, queries, all])?;
    }
    p.results = 3;
    p.int("num_heads", query_heads);
    p.int("kv_num_heads", heads);
    if p.chance(0.3) {
        let window = p.size(1..=4);
        p.int("local_window_size", window);
    }
    if p.chance(0.3) {
        p.float("scale", 0.25);
    }
    Some(())
}

fn embeddings(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, length, width) = (p.size(1..=2), p.size(1..=4), p.size(2..=6));
    let (words, places, sentences) = (p.size(1..=5), length + p.size(0..=2), p.size(1..=3));
    let rows = |p: &mut Piece<'_>, count: i64| -> Vec<i64> {
        (0..batch * length).map(|_| p.size(0..=count - 1)).collect()
    };
    let at = rows(p, words);
    p.integers(DType::I32, &[batch, length], &at);
    let has_sentences = p.chance(0.6);
    if has_sentences {
        let at = rows(p, sentences);
        p.integers(DType::I32, &[batch, length], &at);
    } else {
        p.absent();
    }
    p.of(dtype, &[words, width]);
    p.of(dtype, &[places, width]);
    if has_sentences {
        p.of(dtype, &[sentences, width]);
    } else {
        p.absent();
    }
    p.of(dtype, &[width]);
    p.of(dtype, &[width]);
    // Words, and padding behind them.
    if p.chance(0.8) {
        let ends: Vec<i64> = (0..batch).map(|_| p.size(0..=length)).collect();
        let mask: Vec<i64> =
            ends.iter().flat_map(|end| (0..length).map(move |at| i64::from(at < *end))).collect();
        p.integers(DType::I32, &[batch, length], &mask);
        p.results = 2;
    } else {
        p.absent();
    }
    if p.chance(0.3) {
        let at = rows(p, places);
        p.integers(DType::I32, &[batch, length], &at);
    }
    if p.chance(0.7) {
        p.float("epsilon", 1e-3);
    }
    Some(())
}
