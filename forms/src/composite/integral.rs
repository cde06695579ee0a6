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

/// A scale and a zero point for all of so many slices, or in half of the draws for each of them, as exporters have it
/// for weights.
fn scaled_each(p: &mut Piece<'_>, dtype: DType, count: i64) {
    if p.chance(0.5) {
        return scaled(p, dtype);
    }
    let scales: Vec<f64> = (0..count).map(|_| (2.0_f64).powi(p.size(-6..=0) as i32)).collect();
    p.reals(DType::F32, &[count], &scales);
    zeros(p, dtype, &[count]);
}

/// Zero points, as many as a shape has places.
fn zeros(p: &mut Piece<'_>, dtype: DType, shape: &[i64]) {
    let near = if dtype == DType::I8 { -20..=20 } else { 100..=140 };
    let zeros: Vec<i64> = (0..shape.iter().product()).map(|_| p.size(near.clone())).collect();
    p.integers(dtype, shape, &zeros);
}

/// Zero points for each of so many slices, for all at once, or none.
fn zero_points(p: &mut Piece<'_>, dtype: DType, shape: &[i64]) {
    if p.chance(0.4) { zeros(p, dtype, shape) } else { zero_point(p, dtype) }
}

fn mat_mul_integer(p: &mut Piece<'_>) -> Option<()> {
    let (a, b) = (p.dtype()?, p.other_dtype(BYTES)?);
    let batch: Vec<i64> = if p.chance(0.4) { vec![p.count(1..=3)] } else { Vec::new() };
    let (rows, inner, columns) = (p.count(1..=4), p.size(1..=6), p.count(1..=4));
    p.of(a, &[&batch[..], &[rows, inner]].concat());
    p.of(b, &[inner, columns]);
    // By row of the first, and by column of the second.
    if batch.is_empty() {
        zero_points(p, a, &[rows]);
    } else {
        zero_point(p, a);
    }
    zero_points(p, b, &[columns]);
    Some(())
}

/// The sizes of a convolution's operands, with its attributes.
struct Windows {
    x: Vec<i64>,
    w: Vec<i64>,
}

/// Draws a convolution's sizes and attributes: groups, dilations, batches, one to three axes.
fn windows(p: &mut Piece<'_>) -> Option<Windows> {
    let axes = p.choose(&[1, 2, 2, 2, 3])?;
    let (batch, group) = (p.count(1..=2), p.choose(&[1, 1, 1, 2, 3])?);
    let (channels, filters) = (p.size(1..=2), p.size(1..=2));
    let kernel: Vec<i64> = (0..axes).map(|_| p.size(1..=3)).collect();
    let dilations: Vec<i64> = (0..axes).map(|_| if p.chance(0.2) { 2 } else { 1 }).collect();
    let reach = kernel.iter().zip(&dilations).map(|(kernel, dilation)| (kernel - 1) * dilation + 1);
    let sizes: Vec<i64> = reach.map(|reach| reach + p.size(0..=3)).collect();
    if group > 1 {
        p.int("group", group);
    }
    if dilations.contains(&2) {
        p.ints("dilations", &dilations);
    }
    match p.size(0..=9) {
        0..=3 => {
            let pads: Vec<i64> = (0..2 * axes).map(|_| p.size(0..=1)).collect();
            p.ints("pads", &pads);
        }
        4 => p.text("auto_pad", "SAME_UPPER"),
        5 => p.text("auto_pad", "SAME_LOWER"),
        6 => p.text("auto_pad", "VALID"),
        _ => {}
    }
    if p.chance(0.3) {
        let strides: Vec<i64> = (0..axes).map(|_| p.size(1..=2)).collect();
        p.ints("strides", &strides);
    }
    if p.chance(0.3) {
        p.ints("kernel_shape", &kernel);
    }
    let x = [&[batch, group * channels], &sizes[..]].concat();
    let w = [&[group * filters, channels], &kernel[..]].concat();
    Some(Windows { x, w })
}

fn conv_integer(p: &mut Piece<'_>) -> Option<()> {
    let (x, w) = (p.dtype()?, p.other_dtype(BYTES)?);
    let windows = windows(p)?;
    p.of(x, &windows.x);
    p.of(w, &windows.w);
    zero_point(p, x);
    zero_points(p, w, &windows.w[..1]);
    Some(())
}

fn q_linear_mat_mul(p: &mut Piece<'_>) -> Option<()> {
    let (a, b) = (p.dtype()?, p.other_dtype(BYTES)?);
    let (rows, inner, columns) = (p.size(1..=4), p.size(1..=6), p.size(1..=4));
    p.of(a, &[rows, inner]);
    scaled_each(p, a, rows);
    p.of(b, &[inner, columns]);
    scaled_each(p, b, columns);
    let y = result(p, a)?;
    scaled(p, y);
    Some(())
}

fn q_linear_conv(p: &mut Piece<'_>) -> Option<()> {
    let (x, w) = (p.dtype()?, p.other_dtype(BYTES)?);
    let windows = windows(p)?;
    p.of(x, &windows.x);
    scaled(p, x);
    p.of(w, &windows.w);
    scaled_each(p, w, windows.w[0]);
    let y = result(p, x)?;
    scaled(p, y);
    p.perhaps(0.4, DType::I32, &windows.w[..1]);
    Some(())
}
