//! Operators whose results are as many as their operands' values say: these operands are constants.

use ir::{DType, DTypes};

use super::Composite;
use super::piece::Piece;

const ELEMENTS: DTypes = DTypes::of(&[DType::F32, DType::F64, DType::I8, DType::I32, DType::I64, DType::U8]);

const WHOLE: DTypes = DTypes::of(&[DType::I32, DType::I64]);

const F32: DTypes = DTypes::of(&[DType::F32]);

pub(super) const ALL: &[Composite] = &[
    Composite::new("NonMaxSuppression", 13, F32, non_max_suppression),
    Composite::new("TfIdfVectorizer", 13, WHOLE, tf_idf_vectorizer),
    Composite::new("Unique", 13, ELEMENTS, unique),
];

/// A few small numbers, so that some are alike.
fn few(p: &mut Piece<'_>, dtype: DType, shape: &[i64]) {
    let count: i64 = shape.iter().product();
    if dtype.is_float() {
        let numbers: Vec<f64> = (0..count).map(|_| p.size(-3..=3) as f64 / 2.0).collect();
        p.reals(dtype, shape, &numbers);
    } else {
        let numbers: Vec<i64> = (0..count).map(|_| p.size(0..=4)).collect();
        p.integers(dtype, shape, &numbers);
    }
}

fn unique(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let shape: Vec<i64> = (0..p.size(1..=3)).map(|_| p.size(1..=4)).collect();
    few(p, dtype, &shape);
    if p.chance(0.5) {
        let rank = shape.len() as i64;
        let axis = p.size(-rank..=rank - 1);
        p.int("axis", axis);
    }
    if p.chance(0.6) {
        let is_sorted = p.size(0..=1);
        p.int("sorted", is_sorted);
    }
    p.results = p.size(1..=4) as usize;
    Some(())
}

fn non_max_suppression(p: &mut Piece<'_>) -> Option<()> {
    p.dtype()?;
    let (batch, count, classes) = (p.size(1..=2), p.size(1..=6), p.size(1..=2));
    let is_middle = p.chance(0.3);
    let mut boxes = Vec::new();
    for _ in 0..batch * count {
        let (y, x) = (p.size(0..=8) as f64, p.size(0..=8) as f64);
        let (height, width) = (p.size(1..=6) as f64, p.size(1..=6) as f64);
        boxes.extend(if is_middle { [x, y, width, height] } else { [y, x, y + height, x + width] });
    }
    p.reals(DType::F32, &[batch, count, 4], &boxes);
    let scores: Vec<f64> = (0..batch * classes * count).map(|_| p.size(0..=64) as f64 / 64.0).collect();
    p.reals(DType::F32, &[batch, classes, count], &scores);
    let most = p.size(0..=4);
    p.list(&[most]);
    let overlap = p.choose(&[0.1, 0.3, 0.5, 0.75])?;
    p.reals(DType::F32, &[1], &[overlap]);
    if p.chance(0.5) {
        let least = p.size(0..=40) as f64 / 64.0 + 1.0 / 256.0;
        p.reals(DType::F32, &[1], &[least]);
    }
    if is_middle {
        p.int("center_point_box", 1);
    }
    Some(())
}

/// Counts of single elements and of pairs.
fn tf_idf_vectorizer(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let shape: Vec<i64> =
        if p.chance(0.5) { vec![p.size(1..=8)] } else { vec![p.size(1..=3), p.size(1..=6)] };
    if p.chance(0.8) {
        few(p, dtype, &shape);
    } else {
        p.of(dtype, &shape);
    }
    let (singles, pairs) = ([0, 1, 2], [[0, 1], [1, 1], [3, 2]]);
    let pool: Vec<i64> = singles.into_iter().chain(pairs.into_iter().flatten()).collect();
    p.ints("pool_int64s", &pool);
    p.ints("ngram_counts", &[0, singles.len() as i64]);
    let columns: Vec<i64> = (0..singles.len() as i64 + pairs.len() as i64).collect();
    p.ints("ngram_indexes", &columns);
    let least = p.size(1..=2);
    let most = p.size(least..=2);
    let skipped = p.size(0..=2);
    p.int("min_gram_length", least);
    p.int("max_gram_length", most);
    p.int("max_skip_count", skipped);
    let mode = p.choose(&["TF", "IDF", "TFIDF"])?;
    p.text("mode", mode);
    if mode != "TF" && p.chance(0.6) {
        let weights = p.quarters(columns.len() as i64);
        p.floats("weights", &weights);
    }
    Some(())
}
