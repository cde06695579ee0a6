//! Products of quantized integers.

use ir::{DType, DTypes};

use super::Composite;
use super::piece::Piece;

pub(super) const BYTES: DTypes = DTypes::of(&[DType::I8, DType::U8]);

pub(super) const ALL: &[Composite] = &[
    Composite::new("MatMulInteger", 13, BYTES, mat_mul_integer),
    Composite::new("ConvInteger", 13, BYTES, conv_integer),
    Composite::new("QLinearMatMul", 13, BYTES, q_linear_mat_mul),
    Composite::new("QLinearConv", 13, BYTES, q_linear_conv),
];

/// A scale and a zero point, as constants.
pub(super) fn scaled(p: &mut Piece<'_>, dtype: DType) {
    scale(p);
    zero(p, dtype);
}

/// A scale that is a power of two.
pub(super) fn scale(p: &mut Piece<'_>) {
    let scale = (2.0_f64).powi(p.size(-6..=0) as i32);
    p.reals(DType::F32, &[], &[scale]);
}

/// A zero point near the middle of the dtype.
pub(super) fn zero(p: &mut Piece<'_>, dtype: DType) {
    let zero = if dtype == DType::I8 { p.size(-20..=20) } else { p.size(100..=140) };
    p.integers(dtype, &[], &[zero]);
}

fn zero_point(p: &mut Piece<'_>, dtype: DType) {
    if p.chance(0.6) {
        zero(p, dtype);
    } else {
        p.absent();
    }
}

/// The dtype of a result: mostly that of the first operand, as in the models of the world.
fn result(p: &mut Piece<'_>, first: DType) -> Option<DType> {
    if p.chance(0.7) { Some(first) } else { p.other_dtype(BYTES) }
}

fn mat_mul_integer(p: &mut Piece<'_>) -> Option<()> {
    let (a, b) = (p.dtype()?, p.other_dtype(BYTES)?);
    let batch: Vec<i64> = if p.chance(0.4) { vec![p.size(1..=3)] } else { Vec::new() };
    let (rows, inner, columns) = (p.size(1..=4), p.size(1..=6), p.size(1..=4));
    p.of(a, &[&batch[..], &[rows, inner]].concat());
    p.of(b, &[inner, columns]);
    zero_point(p, a);
    zero_point(p, b);
    Some(())
}

fn conv_integer(p: &mut Piece<'_>) -> Option<()> {
    let (x, w) = (p.dtype()?, p.other_dtype(BYTES)?);
    let (channels, filters, size, kernel) = (p.size(1..=3), p.size(1..=3), p.size(2..=5), p.size(1..=2));
    p.of(x, &[1, channels, size, size]);
    p.of(w, &[filters, channels, kernel, kernel]);
    zero_point(p, x);
    zero_point(p, w);
    if p.chance(0.4) {
        p.ints("pads", &[1; 4]);
    }
    if p.chance(0.3) {
        p.ints("strides", &[2, 2]);
    }
    Some(())
}

fn q_linear_mat_mul(p: &mut Piece<'_>) -> Option<()> {
    let (a, b) = (p.dtype()?, p.other_dtype(BYTES)?);
    let (rows, inner, columns) = (p.size(1..=4), p.size(1..=6), p.size(1..=4));
    p.of(a, &[rows, inner]);
    scaled(p, a);
    p.of(b, &[inner, columns]);
    scaled(p, b);
    let y = result(p, a)?;
    scaled(p, y);
    Some(())
}

fn q_linear_conv(p: &mut Piece<'_>) -> Option<()> {
    let (x, w) = (p.dtype()?, p.other_dtype(BYTES)?);
    let (channels, filters, size, kernel) = (p.size(1..=3), p.size(1..=3), p.size(2..=5), p.size(1..=2));
    p.of(x, &[1, channels, size, size]);
    scaled(p, x);
    p.of(w, &[filters, channels, kernel, kernel]);
    scaled(p, w);
    let y = result(p, x)?;
    scaled(p, y);
    p.perhaps(0.4, DType::I32, &[filters]);
    if p.chance(0.4) {
        p.ints("pads", &[1; 4]);
    }
    Some(())
}
