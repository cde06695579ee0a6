//! What the elements around a coordinate weigh, and the sums of elements so weighed.

use ir::{Attributes, DType, Value};

use super::axes::Axis;
use super::{Mode, Settings, coordinates};
use crate::Error;
use crate::import::walk::Walk;

/// How many weights there may be between two axes.
const MOST_WEIGHTS: i64 = 1 << 24;

/// Sums of the elements around the coordinates, weighed.
pub(super) fn weighed(
    walk: &mut Walk<'_, '_>,
    x: Value,
    axis: &Axis,
    settings: &Settings,
) -> Result<Value, Error> {
    let ty = walk.ty(x);
    if ty.dtype != DType::F32 {
        return Err(Error::unsupported(
            "operand 0",
            format!("it is {ty}; what is between elements is known for f32"),
        ));
    }
    let taps = taps(axis, settings);
    if taps.saturating_mul(axis.before.max(axis.after)) > MOST_WEIGHTS {
        let why = format!("axis {} of {} elements becomes one of {}", axis.at, axis.before, axis.after);
        return Err(Error::unsupported("operator Resize", why));
    }
    let coordinates = coordinates::all(walk, axis, settings.transformation)?;
    let weights = match settings.mode {
        // A place of the operand weighs what is beyond it as well, so nothing has to be added up.
        Mode::Linear | Mode::Nearest(_) if !settings.antialias => linear(walk, axis, coordinates)?,
        Mode::Linear | Mode::Nearest(_) | Mode::Cubic(_) => filtered(walk, axis, settings, coordinates)?,
    };
    let weights = rounded(walk, weights)?;
    let last = ty.rank() - 1;
    if axis.at == last {
        return walk.op("MatMul", &[x, weights]);
    }
    let mut order: Vec<i64> = (0..=last as i64).collect();
    order.swap(axis.at, last);
    let turned = walk.transposed(x, &order)?;
    let product = walk.op("MatMul", &[turned, weights])?;
    walk.transposed(product, &order)
}

/// The weights, as good as those have them who meet an element at the end of an axis several times, each time with a part of its weight,
/// or all axes at once: sums of parts that are exact here are rounded there.
fn rounded(walk: &mut Walk<'_, '_>, weights: Value) -> Result<Value, Error> {
    // 0.6 divides none of the weights that are exact, but 0.
    let divisor = walk.real(DType::F32, 0.6)?;
    let parts = walk.op("Div", &[weights, divisor])?;
    walk.within(weights, parts)
}

/// By how much a filter is stretched: by nothing, or as much as the axis shrinks.
fn stretch(axis: &Axis, settings: &Settings) -> f64 {
    if settings.antialias { f64::from(axis.scale).min(1.0) } else { 1.0 }
}

/// How many places beyond each end of the axis the filter of a coordinate may reach.
fn margin(axis: &Axis, settings: &Settings) -> i64 {
    // A cubic filter has two elements on either side, and coordinates are no further out than half a step of the result.
    let reach = 2.0 / stretch(axis, settings) + 0.5 + 0.5 / f64::from(axis.scale).max(1.0);
    if reach.is_finite() { (reach.min(1e9)).ceil() as i64 } else { i64::from(i32::MAX) }
}

fn taps(axis: &Axis, settings: &Settings) -> i64 {
    axis.before.saturating_add(2 * margin(axis, settings))
}

/// How far each element of the axis, from the first number on, is from each coordinate.
fn distances(walk: &mut Walk<'_, '_>, coordinates: Value, first: i64, count: i64) -> Result<Value, Error> {
    let elements = walk.reals(DType::F32, &[count, 1], |i| (first + i as i64) as f64)?;
    let differences = walk.op("Sub", &[coordinates, elements])?;
    walk.op("Abs", &[differences])
}

/// 1 - distance for the elements around a coordinate, which does not leave the axis; 0 for the others.
fn linear(walk: &mut Walk<'_, '_>, axis: &Axis, coordinates: Value) -> Result<Value, Error> {
    let (zero, last) = (walk.real(DType::F32, 0.0)?, walk.real(DType::F32, (axis.before - 1) as f64)?);
    let inside = walk.op("Clip", &[coordinates, zero, last])?;
    let far = distances(walk, inside, 0, axis.before)?;
    triangle(walk, far)
}

/// 1 - distance, where that is not negative.
fn triangle(walk: &mut Walk<'_, '_>, far: Value) -> Result<Value, Error> {
    let unit = walk.real(DType::F32, 1.0)?;
    let near = walk.op("Sub", &[unit, far])?;
    walk.op("Relu", &[near])
}

/// What a filter that may be stretched gives for the elements of the axis and those beyond its ends, which are the ones at the ends or count
/// for nothing. What is stretched, or lacks some, is divided by its sum.
fn filtered(
    walk: &mut Walk<'_, '_>,
    axis: &Axis,
    settings: &Settings,
    coordinates: Value,
) -> Result<Value, Error> {
    let (margin, scale) = (margin(axis, settings), stretch(axis, settings));
    let (first, count) =
        if settings.exclude_outside { (0, axis.before) } else { (-margin, axis.before + 2 * margin) };
    let mut far = distances(walk, coordinates, first, count)?;
    if scale != 1.0 {
        let scale = walk.real(DType::F32, scale)?;
        far = walk.op("Mul", &[far, scale])?;
    }
    let mut weights = match settings.mode {
        Mode::Cubic(coefficient) => cubic(walk, far, coefficient)?,
        Mode::Linear | Mode::Nearest(_) => triangle(walk, far)?,
    };
    if scale != 1.0 || settings.exclude_outside {
        let along = Attributes::new().ints("axes", &[0]).int("keepdims", 1);
        let sums = walk.op_with("ReduceSum", &along, &[weights])?;
        weights = walk.op("Div", &[weights, sums])?;
    }
    if settings.exclude_outside {
        return Ok(weights);
    }
    let (last, columns) = (axis.before - 1, count as usize);
    let ends = walk.reals(DType::F32, &[axis.before, count], |i| {
        let (element, tap) = ((i / columns) as i64, (i % columns) as i64);
        if (tap - margin).clamp(0, last) == element { 1.0 } else { 0.0 }
    })?;
    walk.op("MatMul", &[ends, weights])
}

/// Cubic convolution: one polynomial up to a distance of 1, another up to 2, each 0 at its ends where the other goes on, so that each
/// may be taken of the distance kept within its part.
fn cubic(walk: &mut Walk<'_, '_>, far: Value, a: f32) -> Result<Value, Error> {
    let a = f64::from(a);
    let (unit, two) = (walk.real(DType::F32, 1.0)?, walk.real(DType::F32, 2.0)?);
    let inner = walk.op("Min", &[far, unit])?;
    let inner = polynomial(walk, inner, [a + 2.0, -(a + 3.0), 0.0, 1.0])?;
    let outer = walk.op("Clip", &[far, unit, two])?;
    let outer = polynomial(walk, outer, [a, -5.0 * a, 8.0 * a, -4.0 * a])?;
    walk.op("Add", &[inner, outer])
}

/// A polynomial of the third degree, from the highest power down.
fn polynomial(walk: &mut Walk<'_, '_>, x: Value, coefficients: [f64; 4]) -> Result<Value, Error> {
    let [first, rest @ ..] = coefficients;
    let mut sum = walk.real(DType::F32, first)?;
    for coefficient in rest {
        let product = walk.op("Mul", &[sum, x])?;
        let coefficient = walk.real(DType::F32, coefficient)?;
        sum = walk.op("Add", &[product, coefficient])?;
    }
    Ok(sum)
}
