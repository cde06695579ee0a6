//! What the elements around a coordinate weigh, and the sums of elements so weighed.

use ir::{Attributes, DType, Value};

use super::axes::Axis;
use super::coordinates;
use super::{Mode, Settings};
use crate::Error;
use crate::amount::MOST_ELEMENTS;
use crate::import::terms::spared;
use crate::import::translation;
use crate::import::walk::Walk;

/// What is between the elements, axis by axis.
pub(super) fn between(
    walk: &mut Walk<'_, '_>,
    x: Value,
    axes: &[Axis],
    settings: &Settings,
) -> Result<Value, Error> {
    let ty = walk.ty(x);
    if !matches!(ty.dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64) {
        let why = format!("it is {ty}; what is between elements is known for floats");
        return Err(Error::unsupported("operand 0", why));
    }
    walk.in_f32_or_by_steps(&[x], |walk, x| {
        axes.iter().try_fold(x[0], |y, axis| weighed(walk, y, axis, settings))
    })
}

/// Sums of the elements around the coordinates, weighed.
fn weighed(walk: &mut Walk<'_, '_>, x: Value, axis: &Axis, settings: &Settings) -> Result<Value, Error> {
    let ty = walk.ty(x);
    let taps = Taps::around(axis, settings)?;
    let weights = taps.weights(walk, axis, settings)?;
    // Of f64, too, the weights are those of scales in f32, step by step. Who computes them in f64 is within the bound
    // as far as a profile grants so many ULP of f32: `declared` does in quotients, `tight` nowhere beyond the rounding
    // of each step.
    let weights = walk.cast(weights, ty.dtype)?;
    let last = axis.before - 1;
    let elements = walk.integers(DType::I64, &taps.shape(), |i| taps.place(i).clamp(0, last).into())?;
    let gathered =
        translation::one(walk, "Gather", &Attributes::new().int("axis", axis.at as i64), &[x, elements])?;
    let mut shape = taps.shape().to_vec();
    shape.resize(2 + ty.rank() - 1 - axis.at, 1);
    let weights = walk.reshaped(weights, &shape)?;
    let products = walk.op("Mul", &[gathered, weights])?;
    let zero = walk.real(ty.dtype, 0.0)?;
    let products = spared(walk, products, weights, zero)?;
    let is_further = walk.integers(DType::Bool, &shape, |i| i128::from(!taps.counts(i)))?;
    let products = walk.op("Where", &[is_further, zero, products])?;
    let along = Attributes::new().ints("axes", &[axis.at as i64 + 1]).int("keepdims", 0);
    walk.op_with("ReduceSum", &along, &[products])
}

/// The elements as they are where no axis is resized: within what it may bring about to add up the eight corners around
/// a place in three axes, all of which are the element there, each weighed by 1/8. GPU kernels do so.
pub(super) fn added_up(walk: &mut Walk<'_, '_>, x: Value) -> Result<Value, Error> {
    let ty = walk.ty(x);
    let mut shape = ty.shape.clone();
    shape.push(1);
    let eighth = walk.reals(ty.dtype, &[8], |_| 0.125)?;
    let corners = walk.reshaped(x, &shape)?;
    let corners = walk.op("Mul", &[corners, eighth])?;
    let along = Attributes::new().ints("axes", &[ty.rank() as i64]).int("keepdims", 0);
    let sum = walk.op_with("ReduceSum", &along, &[corners])?;
    let nothing = walk.op("Sub", &[sum, x])?;
    let near = walk.op("Add", &[x, nothing])?;
    // Infinities have no difference to themselves.
    let is_infinite = walk.op("IsInf", &[x])?;
    walk.op("Where", &[is_infinite, x, near])
}

/// The elements that may weigh something at each place of the result: as many at each.
struct Taps {
    /// The first at each place. Elements before the first of the axis, and beyond its last, are the ones at its ends.
    first: Vec<i64>,
    /// How many of them there are at each place. What comes after them in a row weighs nothing for anybody.
    counts: Vec<usize>,
    width: usize,
}

impl Taps {
    fn around(axis: &Axis, settings: &Settings) -> Result<Self, Error> {
        // What is no further than that from an element may be taken to have some of it, a weight of 0 included.
        let reach = if settings.is_cubic() { 2.0 } else { 1.0 } / settings.stretch(axis);
        let (last, inside) = (axis.before - 1, !settings.filters() || settings.exclude_outside);
        let ends = (0..axis.after).map(|i| {
            let (coordinate, doubt) = coordinates::coordinate(axis, settings.transformation, i);
            let coordinate = if settings.filters() { coordinate } else { coordinate.clamp(0.0, last as f64) };
            let (first, end) = ((coordinate - doubt - reach).ceil(), (coordinate + doubt + reach).floor());
            if inside { (first.max(0.0), end.min(last as f64)) } else { (first, end) }
        });
        let ends: Vec<(f64, f64)> = ends.collect();
        let count = |&(first, end): &(f64, f64)| (end - first + 1.0).max(1.0);
        let width = ends.iter().map(count).fold(1.0, f64::max);
        let far = ends.iter().any(|(first, end)| first.abs().max(end.abs()) > MOST_ELEMENTS as f64);
        if far || width * axis.after as f64 > MOST_ELEMENTS as f64 {
            let why = format!("axis {} of {} elements becomes one of {}", axis.at, axis.before, axis.after);
            return Err(Error::unsupported("operator Resize", why));
        }
        Ok(Self {
            first: ends.iter().map(|&(first, _)| first as i64).collect(),
            counts: ends.iter().map(|ends| count(ends) as usize).collect(),
            width: width as usize,
        })
    }

    /// Places of the result × elements.
    fn shape(&self) -> [i64; 2] {
        [self.first.len() as i64, self.width as i64]
    }

    /// Where on the axis the element is that comes there in a table of the shape.
    fn place(&self, i: usize) -> i64 {
        self.first[i / self.width] + (i % self.width) as i64
    }

    /// Whether it may weigh something.
    fn counts(&self, i: usize) -> bool {
        i % self.width < self.counts[i / self.width]
    }

    fn weights(&self, walk: &mut Walk<'_, '_>, axis: &Axis, settings: &Settings) -> Result<Value, Error> {
        let coordinates = coordinates::all(walk, axis, settings.transformation)?;
        let coordinates = walk.reshaped(coordinates, &[axis.after, 1])?;
        let weights = if settings.filters() {
            self.filtered(walk, axis, settings, coordinates)?
        } else {
            // A place of the operand weighs what is beyond it as well, so nothing has to be added up.
            self.linear(walk, axis, coordinates)?
        };
        walk.in_parts(weights)
    }

    /// How far each element is from the coordinate.
    fn distances(&self, walk: &mut Walk<'_, '_>, coordinates: Value) -> Result<Value, Error> {
        let elements = walk.reals(DType::F32, &self.shape(), |i| self.place(i) as f64)?;
        let differences = walk.op("Sub", &[coordinates, elements])?;
        walk.op("Abs", &[differences])
    }

    /// 1 - distance for the elements around a coordinate, which does not leave the axis; 0 for the others.
    fn linear(&self, walk: &mut Walk<'_, '_>, axis: &Axis, coordinates: Value) -> Result<Value, Error> {
        let (zero, last) = (walk.real(DType::F32, 0.0)?, walk.real(DType::F32, (axis.before - 1) as f64)?);
        let inside = walk.op("Clip", &[coordinates, zero, last])?;
        let far = self.distances(walk, inside)?;
        triangle(walk, far)
    }

    /// What a filter that may be stretched gives for the elements of the axis and those beyond its ends, which are the
    /// ones at the ends or count for nothing. What is stretched, or lacks some, is divided by its sum.
    fn filtered(
        &self,
        walk: &mut Walk<'_, '_>,
        axis: &Axis,
        settings: &Settings,
        coordinates: Value,
    ) -> Result<Value, Error> {
        let scale = settings.stretch(axis);
        let mut far = self.distances(walk, coordinates)?;
        if scale != 1.0 {
            let scale = walk.real(DType::F32, scale)?;
            far = walk.op("Mul", &[far, scale])?;
        }
        let mut weights = match settings.mode {
            Mode::Cubic(coefficient) => cubic(walk, far, coefficient)?,
            Mode::Linear | Mode::Nearest(_) => triangle(walk, far)?,
        };
        if settings.exclude_outside {
            // A place may have fewer elements than others, and the table goes on beyond the axis.
            let inside = walk.reals(DType::F32, &self.shape(), |i| f64::from(u8::from(self.counts(i))))?;
            weights = walk.op("Mul", &[weights, inside])?;
        }
        if scale != 1.0 || settings.exclude_outside {
            let along = Attributes::new().ints("axes", &[1]).int("keepdims", 1);
            let sums = walk.op_with("ReduceSum", &along, &[weights])?;
            weights = walk.op("Div", &[weights, sums])?;
        }
        Ok(weights)
    }
}

impl Settings {
    fn is_cubic(&self) -> bool {
        matches!(self.mode, Mode::Cubic(_))
    }

    /// Whether elements are met beyond the ends of the axis as well.
    fn filters(&self) -> bool {
        self.antialias || self.is_cubic()
    }

    /// By how much a filter is stretched: by nothing, or as much as the axis shrinks.
    fn stretch(&self, axis: &Axis) -> f64 {
        if self.antialias { f64::from(axis.scale).min(1.0) } else { 1.0 }
    }
}

/// max(0, 1 - distance).
fn triangle(walk: &mut Walk<'_, '_>, far: Value) -> Result<Value, Error> {
    let unit = walk.real(DType::F32, 1.0)?;
    let near = walk.op("Sub", &[unit, far])?;
    walk.op("Relu", &[near])
}

/// Cubic convolution: one polynomial up to a distance of 1, another up to 2, each 0 at its ends where the other goes
/// on, so that each may be taken of the distance kept within its part.
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
