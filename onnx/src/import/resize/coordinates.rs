//! Where on the axis before the places of the axis after are.

use ir::{DType, Value};

use super::Transformation;
use super::axes::Axis;
use crate::Error;
use crate::import::walk::Walk;

/// The coordinate of a place, and how far off it may be where f32 rounds it.
pub(super) fn coordinate(axis: &Axis, transformation: Transformation, i: i64) -> (f64, f64) {
    let (i, scale) = (i as f64, f64::from(axis.scale));
    let (before, after) = (axis.before as f64, axis.after as f64);
    let mut is_exact = true;
    let mut exact = |number: f64| {
        is_exact &= f64::from(number as f32) == number;
        number
    };
    let (dividend, divisor, shift) = match transformation {
        Transformation::PytorchHalfPixel | Transformation::AlignCorners if axis.after == 1 => (0.0, 1.0, 0.0),
        Transformation::HalfPixel | Transformation::PytorchHalfPixel => (i + 0.5, scale, -0.5),
        Transformation::HalfPixelSymmetric => {
            let adjustment = exact(after / axis.wanted);
            let rest = exact(1.0 - adjustment);
            let offset = exact(before / 2.0 * rest);
            (i + 0.5, scale, exact(offset - 0.5))
        }
        Transformation::AlignCorners => (i * (before - 1.0), after - 1.0, 0.0),
        Transformation::TfHalfPixelForNn => (i + 0.5, scale, 0.0),
        Transformation::Asymmetric => (i, scale, 0.0),
        Transformation::TfCropAndResize => {
            let [start, end] = axis.part;
            let first = exact(start * (before - 1.0));
            let share = exact(end - start);
            let width = exact(share * (before - 1.0));
            if axis.after > 1 { (exact(i * width), after - 1.0, first) } else { (width, 2.0, first) }
        }
    };
    let quotient = f64::from((dividend / divisor) as f32);
    let is_exact = is_exact && quotient * divisor == dividend;
    let coordinate = dividend / divisor + shift;
    let size = coordinate.abs() + shift.abs();
    let doubt = if is_exact { 0.0 } else { f64::from(f32::EPSILON) * (4.0 + 4.0 * size) };
    (coordinate, doubt)
}

/// The coordinates of all places, in a row, as ONNX's formulas have them.
pub(super) fn all(
    walk: &mut Walk<'_, '_>,
    axis: &Axis,
    transformation: Transformation,
) -> Result<Value, Error> {
    let after = [1, axis.after];
    let number = |walk: &mut Walk<'_, '_>, number: f64| walk.real(DType::F32, number);
    let row = |walk: &mut Walk<'_, '_>, first: f64| walk.reals(DType::F32, &after, |i| i as f64 + first);
    let last = (axis.before - 1) as f64;
    match transformation {
        Transformation::PytorchHalfPixel | Transformation::AlignCorners if axis.after == 1 => row(walk, 0.0),
        Transformation::HalfPixel | Transformation::PytorchHalfPixel => {
            let quotients = halves(walk, axis)?;
            let half = number(walk, 0.5)?;
            walk.op("Sub", &[quotients, half])
        }
        Transformation::HalfPixelSymmetric => {
            let (size, wanted) = (number(walk, axis.after as f64)?, number(walk, axis.wanted)?);
            let adjustment = walk.op("Div", &[size, wanted])?;
            let one = number(walk, 1.0)?;
            let rest = walk.op("Sub", &[one, adjustment])?;
            let centre = number(walk, axis.before as f64 / 2.0)?;
            let offset = walk.op("Mul", &[centre, rest])?;
            let quotients = halves(walk, axis)?;
            let moved = walk.op("Add", &[offset, quotients])?;
            let half = number(walk, 0.5)?;
            walk.op("Sub", &[moved, half])
        }
        Transformation::AlignCorners => {
            let (places, last) = (row(walk, 0.0)?, number(walk, last)?);
            let last_after = number(walk, (axis.after - 1) as f64)?;
            let products = walk.op("Mul", &[places, last])?;
            walk.op("Div", &[products, last_after])
        }
        Transformation::TfHalfPixelForNn => halves(walk, axis),
        Transformation::Asymmetric => {
            let (places, scale) = (row(walk, 0.0)?, number(walk, axis.scale.into())?);
            walk.op("Div", &[places, scale])
        }
        Transformation::TfCropAndResize => {
            let [start, end] = [number(walk, axis.part[0])?, number(walk, axis.part[1])?];
            let last = number(walk, last)?;
            if axis.after == 1 {
                let (sum, half) = (walk.op("Add", &[start, end])?, number(walk, 0.5)?);
                let middle = walk.op("Mul", &[half, sum])?;
                let middle = walk.op("Mul", &[middle, last])?;
                return walk.reshaped(middle, &after);
            }
            let first = walk.op("Mul", &[start, last])?;
            let width = walk.op("Sub", &[end, start])?;
            let width = walk.op("Mul", &[width, last])?;
            let places = row(walk, 0.0)?;
            let last_after = number(walk, (axis.after - 1) as f64)?;
            let products = walk.op("Mul", &[places, width])?;
            let parts = walk.op("Div", &[products, last_after])?;
            walk.op("Add", &[first, parts])
        }
    }
}

/// The middles of the places, divided by the scale.
fn halves(walk: &mut Walk<'_, '_>, axis: &Axis) -> Result<Value, Error> {
    let middles = walk.reals(DType::F32, &[1, axis.after], |i| i as f64 + 0.5)?;
    let scale = walk.real(DType::F32, axis.scale.into())?;
    walk.op("Div", &[middles, scale])
}
