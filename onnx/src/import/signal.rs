//! DFT, STFT, the windows and MelWeightMatrix, written out.
//!
//! ONNX: [DFT](https://onnx.ai/onnx/operators/onnx__DFT.html), [STFT](https://onnx.ai/onnx/operators/onnx__STFT.html),
//! [HannWindow](https://onnx.ai/onnx/operators/onnx__HannWindow.html),
//! [HammingWindow](https://onnx.ai/onnx/operators/onnx__HammingWindow.html),
//! [BlackmanWindow](https://onnx.ai/onnx/operators/onnx__BlackmanWindow.html). A transform is one product with a matrix
//! of sines and cosines ([`turns`]), so that its bound holds for sums in any order. A window is computed by nodes in
//! f32, as in ONNX's function bodies.

mod mel;
mod turns;

use ir::{Attributes, DType, Value};

use turns::{Direction, Transform};

use super::frame::Bound;
use super::given::GivenAttributes;
use super::terms::{axis_of, misshapen, operands, there};
use super::translation::{Read, SourceNode, Translation, bind, given_value, if_given, whole};
use super::walk::Walk;
use crate::Error;

/// The function that writes out an operator of this name, if it is about signals.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "BlackmanWindow" => Some(|walk, source| window(walk, source, &[0.42, -0.5, 0.08])),
        "DFT" => Some(dft),
        "HammingWindow" => Some(|walk, source| window(walk, source, &[25.0 / 46.0, -21.0 / 46.0])),
        "HannWindow" => Some(|walk, source| window(walk, source, &[0.5, -0.5])),
        "MelWeightMatrix" => Some(mel::matrix),
        "STFT" => Some(stft),
        _ => None,
    }
}

/// The whole number that an operand holds; `None` if the operand is left out.
fn number(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    i: usize,
) -> Result<Option<Read<i64>>, Error> {
    if_given(walk, source.node, i).map(|id| whole(walk, id)).transpose()
}

/// The operand, which must be a tensor without an axis: the text calls it a scalar, and ONNX's shape inference refuses any other.
fn scalar(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    i: usize,
) -> Result<Option<Read<i64>>, Error> {
    let Some(id) = if_given(walk, source.node, i) else { return Ok(None) };
    match walk.type_of(walk.frame.get(id)?) {
        Some(ty) if ty.rank() > 0 => Err(misshapen(i, &ty, "a scalar")),
        _ => number(walk, source, i),
    }
}

/// A sum of cosines of multiples of one angle.
fn window<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>, factors: &[f64]) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let is_periodic = given.int("periodic", 1) != 0;
    let dtype = given.dtype("output_datatype")?.unwrap_or(DType::F32);
    given.finish()?;
    let Some(size) = scalar(walk, source, 0)? else {
        return Err(Error::invalid("operand 0", "it must be there"));
    };
    let period = if is_periodic { size.is } else { size.is.saturating_sub(1) };
    // ONNX's shape inference refuses a size that it knows and that is not greater than 0.
    if size.is <= 0 || period == 0 {
        return Err(Error::unsupported(
            "operand 0",
            format!("what a window of {} is, ONNX does not say", size.is),
        ));
    }
    let places = walk.reals(DType::F32, &[size.is], |i| i as f64)?;
    let (turn, period) =
        (walk.real(DType::F32, std::f64::consts::TAU)?, walk.real(DType::F32, period as f64)?);
    let angles = walk.op("Mul", &[places, turn])?;
    let angles = walk.op("Div", &[angles, period])?;
    let mut sum = walk.real(DType::F32, factors[0])?;
    for (i, &factor) in factors.iter().enumerate().skip(1) {
        let times = walk.real(DType::F32, i as f64)?;
        let angles = if i == 1 { angles } else { walk.op("Mul", &[angles, times])? };
        let (cosines, factor) = (walk.op("Cos", &[angles])?, walk.real(DType::F32, factor)?);
        let part = walk.op("Mul", &[cosines, factor])?;
        sum = walk.op("Add", &[sum, part])?;
    }
    let y = walk.cast(sum, dtype)?;
    let y = given_value(walk, y, size.from.as_slice())?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

fn dft<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<3>(walk, source)?;
    let x = there(&operands, 0)?;
    let given = GivenAttributes::of(source);
    let (is_inverse, is_half) = (given.int("inverse", 0) != 0, given.int("onesided", 0) != 0);
    // From opset 20 on it is an operand.
    let attribute = given.int("axis", 1);
    given.finish()?;
    let (length, axis) = (scalar(walk, source, 1)?, scalar(walk, source, 2)?);
    let usual = if walk.context.declared < 20 { attribute } else { -2 };
    let ty = walk.ty(x);
    let axis_is = axis_of("axis", axis.map_or(usual, |axis| axis.is), ty.rank())?;
    if axis_is + 1 == ty.rank() {
        return Err(Error::invalid("axis", "it is that of the real and imaginary parts"));
    }
    let direction = match (is_inverse, is_half) {
        (false, false) => Direction::Forward,
        (false, true) => Direction::Half,
        (true, false) => Direction::Back,
        (true, true) => Direction::FromHalf,
    };
    let there = ty.shape[axis_is];
    let usual = if direction == Direction::FromHalf { 2 * (there - 1) } else { there };
    let transform = Transform { direction, length: length.map_or(usual, |length| length.is) };
    let y = transform.along(walk, x, axis_is)?;
    let from: Vec<Value> = [length, axis].into_iter().flatten().filter_map(|read| read.from).collect();
    let y = given_value(walk, y, &from)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// STFT: frames of the signal, one each step, times a window and transformed.
fn stft<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<4>(walk, source)?;
    let x = there(&operands, 0)?;
    let given = GivenAttributes::of(source);
    let is_half = given.int("onesided", 1) != 0;
    given.finish()?;
    let (step, length) = (number(walk, source, 1)?, scalar(walk, source, 3)?);
    let ty = walk.ty(x);
    let (&[_, all, _], Some(step)) = (&ty.shape[..], step) else {
        return Err(misshapen(0, &ty, "of a batch, a signal and its parts"));
    };
    let window = operands[2].map(|window| walk.ty(window));
    let usual = match &window {
        Some(window) => window.shape.first().copied().filter(|_| window.rank() == 1),
        None => Some(all),
    };
    let frame = length.map(|length| length.is).or(usual);
    let fits = |frame: &i64| (1..=all).contains(frame) && (window.is_none() || usual == Some(*frame));
    let (Some(frame), 1..) = (frame.filter(fits), step.is) else {
        let why = format!("{ty} has no frames of {frame:?} elements for the window, one every {}", step.is);
        return Err(Error::invalid("operands", why));
    };
    let frames = (all - frame) / step.is + 1;
    let places = walk.integers(DType::I64, &[frames, frame], |i| {
        i128::from(i as i64 / frame * step.is + i as i64 % frame)
    })?;
    let mut signal = walk.op_with("Gather", &Attributes::new().int("axis", 1), &[x, places])?;
    if let Some(window) = operands[2] {
        let window = walk.reshaped(window, &[frame, 1])?;
        signal = walk.op("Mul", &[signal, window])?;
    }
    let direction = if is_half { Direction::Half } else { Direction::Forward };
    let y = Transform { direction, length: frame }.along(walk, signal, 2)?;
    let from: Vec<Value> = [Some(step), length].into_iter().flatten().filter_map(|read| read.from).collect();
    let y = given_value(walk, y, &from)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}
