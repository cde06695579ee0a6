//! TfIdfVectorizer, written out: how often n-grams of a pool are there.
//!
//! ONNX: [TfIdfVectorizer](https://onnx.ai/onnx/operators/onnx__TfIdfVectorizer.html). For each length and each number
//! of elements that are skipped, all that could be an n-gram is compared with all that are. A single element is counted
//! once, whatever is skipped. The text gives a weight to each n-gram, and ONNX's reference implementation and ONNX
//! Runtime to each element of the result: where these differ, weights are refused.

use std::collections::{BTreeMap, BTreeSet};

use ir::{Attributes, DType, Value};

use super::frame::Bound;
use super::given::GivenAttributes;
use super::strings;
use super::terms::{misshapen, operands, there};
use super::translation::{SourceNode, Translation, bind, given_value};
use super::walk::Walk;
use crate::Error;
use crate::amount::MOST_ELEMENTS;

/// How many elements are compared at once.
const MOST: i64 = 1 << 26;

/// The function that writes out an operator of this name, if it counts n-grams.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "TfIdfVectorizer" => Some(vectorizer),
        _ => None,
    }
}

/// The n-grams of one length.
struct Grams<'a> {
    length: i64,
    /// One behind the other.
    pool: &'a [i64],
    /// The elements of the result that count them.
    columns: &'a [i64],
}

fn vectorizer<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let mode = given.text("mode", "");
    let (starts, columns, weights) =
        (given.ints("ngram_counts"), given.ints("ngram_indexes"), given.floats("weights"));
    let (pool, texts) = (given.ints("pool_int64s"), given.texts("pool_strings"));
    let (least, most, skipped) =
        (given.int("min_gram_length", 1), given.int("max_gram_length", 1), given.int("max_skip_count", 0));
    given.finish()?;
    let (x, pool, from) = if strings::is_text(walk, source.node, 0) {
        numbered(walk, source, &texts)?
    } else {
        (there(&operands::<1>(walk, source)?, 0)?, pool.to_vec(), Vec::new())
    };
    let ty = walk.ty(x);
    if !(1..=2).contains(&ty.rank()) {
        return Err(misshapen(0, &ty, "a sequence, or rows of them"));
    }
    if !(1 <= least && least <= most && (0..=1 << 20).contains(&skipped)) {
        let why = format!("n-grams of {least} to {most} elements, with {skipped} between");
        return Err(Error::invalid("attributes", why));
    }
    let width = width(columns)?;
    let is_straight = columns.iter().enumerate().all(|(i, &column)| column == i as i64);
    if mode != "TF" && !weights.is_empty() && (weights.len() as i64 != width || !is_straight) {
        let why = "whether they are those of n-grams or of elements of the result, ONNX's text and implementations differ";
        return Err(Error::unsupported("attribute `weights`", why));
    }
    let mut all = grams(starts, &pool, columns)?;
    all.retain(|grams| (least..=most).contains(&grams.length));
    let counts = placed(walk, x, &all, skipped, width)?;
    let weights = if weights.is_empty() {
        walk.real(DType::F32, 1.0)?
    } else {
        walk.reals(DType::F32, &[width], |i| weights[i].into())?
    };
    let y = by_mode(walk, &mode, counts, weights)?;
    let y = given_value(walk, y, &from)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// How many elements the result has for each sequence: n-grams say at which element they count.
fn width(columns: &[i64]) -> Result<i64, Error> {
    if columns.is_empty() || columns.iter().any(|column| !(0..MOST_ELEMENTS).contains(column)) {
        return Err(Error::invalid("attribute `ngram_indexes`", "they are not the numbers of elements"));
    }
    Ok(columns.iter().copied().max().map_or(0, |last| last + 1))
}

/// How often the n-grams are there, each at its element.
fn placed(
    walk: &mut Walk<'_, '_>,
    x: Value,
    all: &[Grams<'_>],
    skipped: i64,
    width: i64,
) -> Result<Value, Error> {
    let x = walk.cast(x, DType::I64)?;
    let ty = walk.ty(x);
    let mut counts = Vec::new();
    let mut at = Vec::new();
    for grams in all {
        // A single element has nothing between.
        let skipped = if grams.length == 1 { 0 } else { skipped };
        if let Some(count) = counted(walk, x, grams, skipped)? {
            counts.push(count);
            at.extend_from_slice(grams.columns);
        }
    }
    if counts.is_empty() {
        let shape = [&ty.shape[..ty.rank() - 1], &[width]].concat();
        return walk.integers(DType::I32, &shape, |_| 0);
    }
    let counts = walk.joined(&counts, ty.rank() as i64 - 1)?;
    let wide = width as usize;
    let sent = walk
        .integers(DType::I32, &[at.len() as i64, width], |i| i128::from(at[i / wide] == (i % wide) as i64))?;
    walk.op("MatMul", &[counts, sent])
}

/// What a mode makes of counts and weights.
fn by_mode(walk: &mut Walk<'_, '_>, mode: &str, counts: Value, weights: Value) -> Result<Value, Error> {
    match mode {
        "TF" => walk.cast(counts, DType::F32),
        "IDF" => {
            let none = walk.integers(DType::I32, &[], |_| 0)?;
            let are_there = walk.op("Greater", &[counts, none])?;
            let zero = walk.real(DType::F32, 0.0)?;
            walk.op("Where", &[are_there, weights, zero])
        }
        "TFIDF" => {
            let counts = walk.cast(counts, DType::F32)?;
            walk.op("Mul", &[counts, weights])
        }
        other => Err(Error::invalid("attribute `mode`", format!("there is no mode `{other}`"))),
    }
}

/// Strings and the pool of them, each string as its number in the pool, and what they were read from. What is not in
/// the pool is -1.
fn numbered(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    pool: &[String],
) -> Result<(Value, Vec<i64>, Vec<Value>), Error> {
    let strings::Read { shape, texts, from } = strings::read(walk, source.node, 0)?;
    let mut numbers = BTreeMap::new();
    for text in pool {
        let next = numbers.len() as i64;
        numbers.entry(text.as_str()).or_insert(next);
    }
    let number = |text: &String| numbers.get(text.as_str()).copied().unwrap_or(-1);
    let x = walk.integers(DType::I64, &shape, |i| number(&texts[i]).into())?;
    Ok((x, pool.iter().map(number).collect(), from))
}

/// The n-grams by their length, which begin in the pool where it is said.
fn grams<'a>(starts: &[i64], pool: &'a [i64], columns: &'a [i64]) -> Result<Vec<Grams<'a>>, Error> {
    let (mut all, mut seen) = (Vec::with_capacity(starts.len()), 0);
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(pool.len() as i64);
        let ends = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let Some(pool) = ends.and_then(|(start, end)| pool.get(start..end)) else {
            return Err(Error::invalid(
                "attribute `ngram_counts`",
                format!("{start} to {end} is not in the pool"),
            ));
        };
        let length = i + 1;
        let Some(columns) =
            columns.get(seen..seen + pool.len() / length).filter(|_| pool.len() % length == 0)
        else {
            let why = format!("{} elements are no n-grams of {length} that have a place", pool.len());
            return Err(Error::invalid("attribute `ngram_counts`", why));
        };
        seen += columns.len();
        if pool.chunks(length).collect::<BTreeSet<_>>().len() < columns.len() {
            let why = "an n-gram is there twice, and ONNX does not say which place counts it";
            return Err(Error::unsupported("attribute `pool_int64s`", why));
        }
        all.push(Grams { length: length as i64, pool, columns });
    }
    Ok(all)
}

/// How often each n-gram is there, with up to so many elements between any two of its own; `None` of none.
fn counted(
    walk: &mut Walk<'_, '_>,
    x: Value,
    grams: &Grams<'_>,
    skipped: i64,
) -> Result<Option<Value>, Error> {
    let (ty, length, count) = (walk.ty(x), grams.length, grams.columns.len() as i64);
    if count == 0 {
        return Ok(None);
    }
    let (axis, size) = (ty.rank() as i64 - 1, ty.shape[ty.rank() - 1]);
    let compared = ty.count().saturating_mul(count).saturating_mul(length);
    if compared > MOST {
        let why = format!("{count} n-grams of {length} are looked for in {ty}");
        return Err(Error::unsupported("operator TfIdfVectorizer", why));
    }
    let pool = walk.integers(DType::I64, &[count, length], |i| grams.pool[i].into())?;
    let mut sum = None;
    for step in 1..=skipped + 1 {
        let places = size - (length - 1).saturating_mul(step);
        if places <= 0 {
            break;
        }
        let at = walk.integers(DType::I64, &[places, length], |i| {
            let (first, element) = (i as i64 / length, i as i64 % length);
            (first + element * step).into()
        })?;
        let windows = walk.op_with("Gather", &Attributes::new().int("axis", axis), &[x, at])?;
        let windows = walk.unsqueezed(windows, &[axis + 1])?;
        let alike = walk.op("Equal", &[windows, pool])?;
        let alike = walk.cast(alike, DType::I32)?;
        let all = Attributes::new().ints("axes", &[axis + 2]).int("keepdims", 0);
        let found = walk.op_with("ReduceMin", &all, &[alike])?;
        let anywhere = Attributes::new().ints("axes", &[axis]).int("keepdims", 0);
        let found = walk.op_with("ReduceSum", &anywhere, &[found])?;
        sum = Some(match sum {
            Some(sum) => walk.op("Add", &[sum, found])?,
            None => found,
        });
        walk.check_size(|| "operator TfIdfVectorizer".to_owned())?;
    }
    if let Some(sum) = sum {
        Ok(Some(sum))
    } else {
        let shape = [&ty.shape[..ty.rank() - 1], &[count]].concat();
        walk.integers(DType::I32, &shape, |_| 0).map(Some)
    }
}
