//! AffineGrid, written out: positions times matrices.
//!
//! ONNX: [AffineGrid](https://onnx.ai/onnx/operators/onnx__AffineGrid.html). Positions are computed by nodes, because
//! implementations round them on the way: their values in f32 for all narrower types, with the errors of other formulas
//! in use.

use ir::{Attributes, DType, Value};

use super::frame::Bound;
use super::given::GivenAttributes;
use super::placed::list;
use super::terms::{misshapen, operands, there};
use super::translation::{SourceNode, Translation, bind, given_value};
use super::walk::Walk;
use crate::Error;

/// The function that writes out an operator of this name, if it makes a grid.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "AffineGrid" => Some(affine),
        _ => None,
    }
}

fn affine<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<2>(walk, source)?;
    let theta = there(&operands, 0)?;
    let given = GivenAttributes::of(source);
    let is_at_corners = given.int("align_corners", 0) != 0;
    given.finish()?;
    let (sizes, from) = list(walk, source, 1)?;
    let ty = walk.ty(theta);
    let (&[batch, _, ref sizes @ ..], axes) = (&sizes[..], sizes.len().saturating_sub(2) as i64) else {
        return Err(Error::invalid("operand 1", format!("{sizes:?} are not the sizes of an image")));
    };
    if !(2..=3).contains(&axes) || ty.shape[..] != [batch, axes, axes + 1] {
        let wanted =
            format!("a matrix for each of {batch}, of two or three axes and one more, and is for {sizes:?}");
        return Err(misshapen(0, &ty, &wanted));
    }
    // Whatever is too large is refused here.
    let ones = walk.reals(ty.dtype, sizes, |_| 1.0)?;
    // The last axis of the image is the first of a position.
    let mut rows = Vec::with_capacity(sizes.len() + 1);
    for axis in (0..sizes.len()).rev() {
        let along = positions(walk, sizes[axis], is_at_corners, ty.dtype)?;
        let shape: Vec<i64> = (0..sizes.len()).map(|i| if i == axis { sizes[i] } else { 1 }).collect();
        let along = walk.reshaped(along, &shape)?;
        rows.push(walk.op_with("Expand", &Attributes::new().ints("shape", sizes), &[along])?);
    }
    rows.push(ones);
    let positions = super::translation::stack(walk, &rows, 0, &[])?;
    let count: i64 = sizes.iter().product();
    let positions = walk.reshaped(positions, &[axes + 1, count])?;
    let moved = walk.op("MatMul", &[theta, positions])?;
    let moved = walk.transposed(moved, &[0, 2, 1])?;
    let shape = [&[batch], sizes, &[axes]].concat();
    let grid = walk.reshaped(moved, &shape)?;
    let grid = given_value(walk, grid, from.as_slice())?;
    bind(walk, source.node, vec![Bound::Tensor(grid)])
}

/// The positions of an axis: -1 and 1 are its corners' centres, or their outer edges.
fn positions(walk: &mut Walk<'_, '_>, size: i64, is_at_corners: bool, dtype: DType) -> Result<Value, Error> {
    if is_at_corners && size == 1 {
        let why = "where on an axis of one element both corners are, ONNX does not say";
        return Err(Error::unsupported("operand 1", why));
    }
    let computed = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let (first, divisor) = if is_at_corners { (0.0, size - 1) } else { (1.0, size) };
    let places = walk.reals(computed, &[size], |i| 2.0 * i as f64 + first)?;
    let (divisor, one) = (walk.real(computed, divisor as f64)?, walk.real(computed, 1.0)?);
    let parts = walk.op("Div", &[places, divisor])?;
    let positions = walk.op("Sub", &[parts, one])?;
    let positions = walk.cast(positions, dtype)?;
    // Others go by steps, which are rounded where these positions are exact.
    let by_steps = by_steps(walk, size, is_at_corners, dtype)?;
    let positions = walk.within(positions, by_steps)?;
    if is_at_corners || size == 1 {
        return Ok(positions);
    }
    let from_corners = from_corners(walk, size, dtype)?;
    walk.within(positions, from_corners)
}

/// The positions as ONNX's function body has them: steps from the first one on.
fn by_steps(walk: &mut Walk<'_, '_>, size: i64, is_at_corners: bool, dtype: DType) -> Result<Value, Error> {
    let [one, two] = [1.0, 2.0].map(|number| walk.real(dtype, number));
    let (one, two) = (one?, two?);
    let count = walk.real(dtype, (size - i64::from(is_at_corners)) as f64)?;
    let step = walk.op("Div", &[two, count])?;
    let numbers = walk.reals(dtype, &[size], |i| i as f64)?;
    let steps = walk.op("Mul", &[numbers, step])?;
    let before_first = if is_at_corners {
        one
    } else {
        let half = walk.op("Div", &[step, two])?;
        walk.op("Sub", &[one, half])?
    };
    walk.op("Sub", &[steps, before_first])
}

/// The positions as PyTorch and ONNX Runtime have them where they are not at corners: a linear space from corner to
/// corner, made smaller.
fn from_corners(walk: &mut Walk<'_, '_>, size: i64, dtype: DType) -> Result<Value, Error> {
    let at_corners = by_steps(walk, size, true, dtype)?;
    let [inside, all] = [size - 1, size].map(|number| walk.real(dtype, number as f64));
    let smaller = walk.op("Mul", &[at_corners, inside?])?;
    walk.op("Div", &[smaller, all?])
}
