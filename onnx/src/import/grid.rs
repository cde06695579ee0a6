//! AffineGrid, written out: positions times matrices.
//!
//! ONNX: [AffineGrid](https://onnx.ai/onnx/operators/onnx__AffineGrid.html). Positions are computed by nodes, in f32 for all narrower types,
//! because implementations round them on the way.

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
    walk.cast(positions, dtype)
}
