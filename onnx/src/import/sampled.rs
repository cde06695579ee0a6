//! RoiAlign and DeformConv, written out: what lies between elements, at coordinates that are read.
//!
//! ONNX: [RoiAlign](https://onnx.ai/onnx/operators/onnx__RoiAlign.html),
//! [DeformConv](https://onnx.ai/onnx/operators/onnx__DeformConv.html). Which elements lie around a coordinate is read
//! from it, where it may lie on either side of one both are taken; what they weigh is computed by nodes ([`Taps`]),
//! which is 0 for all that are further away than one.

mod deformed;
mod regions;

use ir::{Attributes, DType, NodeKind, Value};

use super::terms::spared;
use super::translation::{SourceNode, Translation, given_value, need};
use super::walk::Walk;
use crate::Error;
use crate::amount::MOST_ELEMENTS;

/// How far a number that was computed may be from what was read, relative to it and to 1: some hundred times what steps in f32
/// are off by, and little enough that few samples are near an element.
const COMPUTED: f64 = 1.0 / 16_384.0;

/// The function that writes out an operator of this name, if it takes samples.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "DeformConv" => Some(deformed::conv),
        "RoiAlign" => Some(regions::align),
        _ => None,
    }
}

/// Where a coordinate may be in an implementation.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    /// A coordinate that some steps in f32 gave, of numbers no larger than a size, and off by as much as these may move it.
    fn near(coordinate: f64, size: f64, moved: f64) -> Self {
        let doubt = 8.0 * f64::from(f32::EPSILON) * (size + coordinate.abs()) + moved;
        Self { low: coordinate - doubt, high: coordinate + doubt }
    }

    /// The same, brought between two numbers.
    fn clamped(self, low: f64, high: f64) -> Self {
        Self { low: self.low.clamp(low, high), high: self.high.clamp(low, high) }
    }
}

/// Numbers that coordinates were read from.
struct Positions {
    numbers: Vec<f64>,
    /// What has them, where that was computed: implementations may have others.
    from: Option<Value>,
    /// How far from what was read they may be, relative to it and to 1, for taps to be written out.
    off: f64,
}

impl Positions {
    /// The operand of this number.
    fn operand<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>, i: usize) -> Result<Self, Error> {
        let (read, from) = walk.read(need(source.node, i)?)?;
        // What is an input is the same for all.
        let is_computed =
            from.is_some_and(|value| !matches!(walk.graph.node(value.node).kind, NodeKind::Variable { .. }));
        Ok(Self { numbers: read.to_f64s(), from, off: if is_computed { COMPUTED } else { 0.0 } })
    }

    /// How far from what was read a number may be in an implementation for which taps are written out.
    fn doubt(&self, i: usize) -> f64 {
        self.off * self.numbers[i].abs().max(1.0)
    }

    /// Those for which nothing is said of others than what was read.
    fn taken_exactly(self) -> Self {
        Self { off: 0.0, ..self }
    }

    /// A result for numbers as far as that from those that were read; of others it says nothing.
    fn only_near(&self, walk: &mut Walk<'_, '_>, y: Value) -> Result<Value, Error> {
        let Some(from) = self.from.filter(|_| !self.numbers.is_empty()) else { return Ok(y) };
        if self.off == 0.0 {
            return given_value(walk, y, &[from]);
        }
        let ty = walk.ty(from);
        let read = walk.reals(ty.dtype, &ty.shape, |i| self.numbers[i])?;
        let doubts = walk.reals(ty.dtype, &ty.shape, |i| self.doubt(i))?;
        let apart = walk.op("Sub", &[from, read])?;
        let far = walk.op("Abs", &[apart])?;
        let is_near = walk.op("LessOrEqual", &[far, doubts])?;
        let is_near = walk.cast(is_near, DType::I32)?;
        let are_all = walk.op_with("ReduceMin", &Attributes::new().int("keepdims", 0), &[is_near])?;
        let are_all = walk.cast(are_all, DType::Bool)?;
        let nothing = walk.real(walk.ty(y).dtype, f64::NAN)?;
        walk.op("Where", &[are_all, y, nothing])
    }
}

/// The elements around coordinates on an axis.
struct Taps {
    /// How many there are for each coordinate.
    count: usize,
    /// Where they are, coordinate by coordinate. What is not on the axis weighs nothing.
    places: Vec<i64>,
    /// Which of them are on the axis; the place of another one is that of the element at the end.
    are_there: Vec<bool>,
    /// Which of them may be around their coordinate. The others are there because another coordinate has more.
    are_around: Vec<bool>,
    /// Which of them an implementation may take, with whatever weight.
    are_taken: Vec<bool>,
    /// What they weigh: a row for each coordinate.
    weights: Value,
}

impl Taps {
    /// The taps on an axis of this size, around coordinates that may lie anywhere in their ranges.
    fn read(walk: &mut Walk<'_, '_>, coordinates: Value, ranges: &[Range], size: i64) -> Result<Self, Error> {
        if ranges.iter().any(|range| !(range.low.is_finite() && range.high.is_finite())) {
            return Err(Error::unsupported("operands", "not all coordinates are finite numbers"));
        }
        // Far from the axis it does not matter how far.
        let first = |range: &Range| range.low.floor().clamp(-4.0, size as f64 + 2.0) as i64;
        let last = |range: &Range| range.high.floor().clamp(-4.0, size as f64 + 2.0) as i64 + 1;
        let count = ranges.iter().map(|range| last(range) - first(range) + 1).max().unwrap_or(2) as usize;
        few(ranges.len().saturating_mul(count))?;
        let places: Vec<i64> =
            ranges.iter().flat_map(|range| (0..count as i64).map(|i| first(range) + i)).collect();
        let around = |range: &Range| last(range) - first(range);
        let are_around: Vec<bool> =
            ranges.iter().flat_map(|range| (0..count as i64).map(move |i| i <= around(range))).collect();
        let dtype = walk.ty(coordinates).dtype;
        let shape = [ranges.len() as i64, count as i64];
        let column = walk.reshaped(coordinates, &[ranges.len() as i64, 1])?;
        let at = walk.reals(dtype, &shape, |i| places[i] as f64)?;
        let apart = walk.op("Sub", &[column, at])?;
        let far = walk.op("Abs", &[apart])?;
        let one = walk.real(dtype, 1.0)?;
        let near = walk.op("Sub", &[one, far])?;
        let mut weights = walk.op("Relu", &[near])?;
        let is_there = |place: i64| (0..size).contains(&place);
        if !places.iter().all(|&place| is_there(place)) {
            let there = walk.integers(DType::Bool, &shape, |i| is_there(places[i]).into())?;
            let zero = walk.real(dtype, 0.0)?;
            weights = walk.op("Where", &[there, weights, zero])?;
        }
        let are_there = places.iter().map(|&place| is_there(place)).collect();
        let places = places.into_iter().map(|place| place.clamp(0, (size - 1).max(0))).collect();
        let are_taken = are_around.clone();
        Ok(Self { count, places, are_there, are_around, are_taken, weights })
    }

    /// These, with weights of 0 for all coordinates that do not count: what is around them nobody takes.
    fn only(mut self, walk: &mut Walk<'_, '_>, counts: &[bool]) -> Result<Self, Error> {
        if counts.iter().all(|&counts| counts) {
            return Ok(self);
        }
        self.are_taken.iter_mut().enumerate().for_each(|(i, taken)| *taken &= counts[i / self.count]);
        let dtype = walk.ty(self.weights).dtype;
        let counts = walk.integers(DType::Bool, &[counts.len() as i64, 1], |i| counts[i].into())?;
        let zero = walk.real(dtype, 0.0)?;
        let weights = walk.op("Where", &[counts, self.weights, zero])?;
        Ok(Self { weights, ..self })
    }
}

fn few(weights: usize) -> Result<(), Error> {
    if weights <= MOST_ELEMENTS as usize {
        return Ok(());
    }
    Err(Error::unsupported("operator", format!("{weights} weights are not written out")))
}

/// Sums of elements, each with its weight, along the last axis. `counts` says by number which weights are of elements
/// that may be around their coordinate; all leave out the others.
fn weighed(
    walk: &mut Walk<'_, '_>,
    elements: Value,
    weights: Value,
    counts: impl Fn(usize) -> bool,
) -> Result<Value, Error> {
    let ty = walk.ty(weights);
    // An element that weighs nothing may be left out or be taken.
    let rounded = walk.in_parts(weights)?;
    let zero = walk.real(ty.dtype, 0.0)?;
    let counting = walk.integers(DType::Bool, &ty.shape, |i| counts(i).into())?;
    let weights = walk.op("Where", &[counting, rounded, zero])?;
    let products = walk.op("Mul", &[elements, weights])?;
    let products = spared(walk, products, weights, zero)?;
    walk.op_with("ReduceSum", &Attributes::new().ints("axes", &[-1]).int("keepdims", 0), &[products])
}
