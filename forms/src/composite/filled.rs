//! Tensors that follow from a few numbers: ranges, fillings, weights of frequencies, and numbers drawn at random.
//!
//! Of numbers drawn at random only the shape and the dtype are known.

use ir::{DType, DTypes};

use super::piece::{Link, Piece};
use super::{Composite, REALS, signal};

/// The dtypes of a range.
const RANGES: DTypes = DTypes::of(&[DType::F32, DType::F64, DType::I16, DType::I32, DType::I64]);

/// What a constant may be of.
const FILLINGS: DTypes =
    DTypes::of(&[DType::F16, DType::F32, DType::F64, DType::I32, DType::I64, DType::U8, DType::Bool]);

const F32: DTypes = DTypes::of(&[DType::F32]);

pub(super) const ALL: &[Composite] = &[
    Composite::new("Bernoulli", 15, REALS, bernoulli),
    Composite::new("ConstantOfShape", 13, FILLINGS, constant_of_shape),
    Composite::new("MelWeightMatrix", 17, F32, mel_weight_matrix),
    Composite::new("Multinomial", 13, REALS, multinomial),
    Composite::new("RandomNormal", 13, REALS, random_normal),
    Composite::new("RandomNormalLike", 13, REALS, random_normal_like),
    Composite::new("RandomUniform", 13, REALS, random_uniform),
    Composite::new("RandomUniformLike", 13, REALS, random_uniform_like),
    Composite::new("Range", 13, RANGES, range),
];

fn range(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (start, distance) = (p.size(-8..=8), p.size(-12..=24));
    let step = p.choose(&[1, 2, 3, -1, -2, 5])?;
    if dtype.is_float() {
        for number in [start, start + distance, step] {
            p.reals(dtype, &[], &[number as f64 / 4.0]);
        }
    } else {
        for number in [start, start + distance, step] {
            p.integers(dtype, &[], &[number]);
        }
    }
    Some(())
}

fn constant_of_shape(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let shape: Vec<i64> = (0..p.size(0..=3)).map(|_| p.size(1..=4)).collect();
    p.list(&shape);
    if dtype != DType::F32 || p.chance(0.7) {
        let value = if dtype == DType::Bool { p.size(0..=1) } else { p.size(0..=9) };
        p.tensor("value", dtype, &[1], &[value as f64]);
    }
    Some(())
}

fn mel_weight_matrix(p: &mut Piece<'_>) -> Option<()> {
    p.dtype()?;
    let (bins, length) = (p.size(1..=8), p.choose(&[8, 16, 32, 64])?);
    let rate = p.choose(&[8000, 16000])?;
    for number in [bins, length, rate] {
        p.integers(DType::I64, &[], &[number]);
    }
    let low = p.choose(&[0.0, 20.0, 300.0])?;
    let high = rate as f64 * p.choose(&[0.25, 0.375, 0.5])?;
    p.reals(DType::F32, &[], &[low]);
    p.reals(DType::F32, &[], &[high]);
    signal::result(p)
}

/// Bernoulli, with probabilities of 0 and 1 alone, so that nothing is left open.
fn bernoulli(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (rows, columns) = (p.size(1..=3), p.size(2..=5));
    let sure: Vec<f64> = (0..rows * columns).map(|_| p.size(0..=1) as f64).collect();
    p.reals(dtype, &[rows, columns], &sure);
    if p.chance(0.5) {
        let to = p.other_dtype(DTypes::of(&[DType::Bool, DType::I32, DType::F32, DType::U8]))?;
        p.int("dtype", onnx::tensor::code_of(to).into());
    }
    seeded(p);
    Some(())
}

/// What is known of numbers drawn at random: their shape; and their dtype, which must be that of others in whose place they are.
fn drawn(p: &mut Piece<'_>, op_type: &'static str, inputs: &[Link], dtype: DType, rank: usize) {
    let drawn = p.step(op_type, inputs);
    let shape = p.step("Shape", &[drawn]);
    p.give(&[shape]);
    if p.chance(0.7) {
        p.integers(DType::Bool, &[], &[0]);
        let never = p.last();
        let ones: Vec<i64> = vec![1; rank];
        p.of(dtype, &ones);
        let instead = p.last();
        let y = p.step("Where", &[never, drawn, instead]);
        p.give(&[y]);
    }
}

fn sizes(p: &mut Piece<'_>) -> Vec<i64> {
    (0..p.size(1..=3)).map(|_| p.size(1..=4)).collect()
}

/// The shape and dtype of what is drawn, as attributes.
fn filled(p: &mut Piece<'_>, op_type: &'static str, parameters: [&str; 2]) -> Option<()> {
    let dtype = p.dtype()?;
    let shape = sizes(p);
    p.ints("shape", &shape);
    if dtype != DType::F32 || p.chance(0.5) {
        p.int("dtype", onnx::tensor::code_of(dtype).into());
    }
    distributed(p, parameters);
    drawn(p, op_type, &[], dtype, shape.len());
    Some(())
}

/// The shape of another tensor, and its dtype or one that is stated.
fn like(p: &mut Piece<'_>, op_type: &'static str, parameters: [&str; 2]) -> Option<()> {
    let mut dtype = p.dtype()?;
    let x = p.any(dtype, 1..=3);
    let inputs = [p.last()];
    if p.chance(0.5) {
        dtype = p.other_dtype(REALS)?;
        p.int("dtype", onnx::tensor::code_of(dtype).into());
    }
    distributed(p, parameters);
    drawn(p, op_type, &inputs, dtype, x.rank());
    Some(())
}

/// Where the numbers are, or by which seed they come.
fn distributed(p: &mut Piece<'_>, parameters: [&str; 2]) {
    if p.chance(0.5) {
        p.float(parameters[0], -1.0);
        p.float(parameters[1], 2.0);
    }
    seeded(p);
}

fn seeded(p: &mut Piece<'_>) {
    if p.chance(0.4) {
        p.float("seed", 7.0);
    }
}

const NORMAL: [&str; 2] = ["mean", "scale"];

const UNIFORM: [&str; 2] = ["low", "high"];

fn random_normal(p: &mut Piece<'_>) -> Option<()> {
    filled(p, "RandomNormal", NORMAL)
}

fn random_uniform(p: &mut Piece<'_>) -> Option<()> {
    filled(p, "RandomUniform", UNIFORM)
}

fn random_normal_like(p: &mut Piece<'_>) -> Option<()> {
    like(p, "RandomNormalLike", NORMAL)
}

fn random_uniform_like(p: &mut Piece<'_>) -> Option<()> {
    like(p, "RandomUniformLike", UNIFORM)
}

fn multinomial(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (rows, classes) = (p.size(1..=3), p.size(1..=4));
    p.of(dtype, &[rows, classes]);
    let inputs = [p.last()];
    let to = p.other_dtype(DTypes::of(&[DType::I32, DType::I64]))?;
    if to != DType::I32 || p.chance(0.5) {
        p.int("dtype", onnx::tensor::code_of(to).into());
    }
    if p.chance(0.7) {
        let size = p.size(1..=4);
        p.int("sample_size", size);
    }
    seeded(p);
    drawn(p, "Multinomial", &inputs, to, 2);
    Some(())
}
