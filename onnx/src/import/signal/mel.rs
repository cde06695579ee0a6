//! MelWeightMatrix, written out: triangles over the frequencies of a transform, whose corners are equally far apart on
//! the mel scale.
//!
//! ONNX: [MelWeightMatrix](https://onnx.ai/onnx/operators/onnx__MelWeightMatrix.html). The text has the scale and not
//! the corners; ONNX's reference implementation and ONNX Runtime divide the range by two more than there are triangles,
//! and so is it here. A corner that is so near to the next frequency that it hangs on how the scale is rounded is
//! refused.

use ir::{DType, Value};

use super::{number, scalar};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::terms::misshapen;
use crate::import::translation::{SourceNode, bind, given_value, need};
use crate::import::walk::Walk;

/// How far a corner must be from the next whole number, relative to itself: f32 and a few steps.
const DOUBT: f64 = 64.0 * f32::EPSILON as f64;

pub(super) fn matrix<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let dtype = given.dtype("output_datatype")?.unwrap_or(DType::F32);
    given.finish()?;
    let (mut from, mut counts) = (Vec::new(), [0; 3]);
    for (i, count) in counts.iter_mut().enumerate() {
        // ONNX's shape inference, which asks for counts without axes, does not look at the rate.
        let read = if i < 2 { scalar(walk, source, i)? } else { number(walk, source, i)? };
        let Some(read) = read else {
            return Err(Error::invalid(format!("operand {i}"), "it must be there"));
        };
        *count = read.is;
        from.extend(read.from);
    }
    let mut edges = [0.0; 2];
    for (i, edge) in edges.iter_mut().enumerate() {
        let (hertz, read) = walk.read(need(source.node, 3 + i)?)?;
        match hertz.to_f64s()[..] {
            [hz] if hertz.dtype().is_float() => *edge = hz,
            _ => return Err(misshapen(3 + i, &hertz.ty(), "one number of floats")),
        }
        from.extend(read);
    }
    let y = triangles(walk, counts, edges)?;
    let y = walk.cast(y, dtype)?;
    let y = given_value(walk, y, &from)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// The matrix, in f32. The quotients are computed by nodes, because implementations round them.
fn triangles(
    walk: &mut Walk<'_, '_>,
    [count, length, rate]: [i64; 3],
    [low, high]: [f64; 2],
) -> Result<Value, Error> {
    let bins = length / 2 + 1;
    let corners = corners([count, length, rate], [low, high])?;
    let (middles, last) = (&corners[1..corners.len() - 1], corners[corners.len() - 1]);
    if last > bins || middles.iter().any(|&middle| middle >= bins) {
        let why = format!("a triangle goes up to frequency {last} of {bins}");
        return Err(Error::unsupported("operand 4", why));
    }
    let part = |i: usize| {
        let (bin, at) = (i as i64 / count, (i as i64 % count) as usize);
        let [left, middle, right] = [corners[at], corners[at + 1], corners[at + 2]];
        match bin {
            _ if bin == middle => [1, 1],
            _ if (left..middle).contains(&bin) => [bin - left, middle - left],
            _ if (middle..right).contains(&bin) => [right - bin, right - middle],
            _ => [0, 1],
        }
    };
    let shape = [bins, count];
    let dividends = walk.reals(DType::F32, &shape, |i| part(i)[0] as f64)?;
    let divisors = walk.reals(DType::F32, &shape, |i| part(i)[1] as f64)?;
    walk.op("Div", &[dividends, divisors])
}

/// The frequencies at which triangles begin, have their middle or end, as numbers of bins.
fn corners([count, length, rate]: [i64; 3], [low, high]: [f64; 2]) -> Result<Vec<i64>, Error> {
    const MOST: i64 = 1 << 20;
    let is_small = |number: i64| (1..=MOST).contains(&number);
    if !is_small(count) || !is_small(length) || !(1..=1 << 40).contains(&rate) {
        let why = format!("{count} triangles for a transform of {length} elements, {rate} a second");
        return Err(Error::unsupported("operands", why));
    }
    if !(low.is_finite() && high.is_finite() && 0.0 <= low && low <= high) {
        return Err(Error::unsupported("operands", format!("triangles from {low} to {high}")));
    }
    let mel = |hertz: f64| 2595.0 * libm::log10(1.0 + hertz / 700.0);
    let step = (mel(high) - mel(low)) / (count + 2) as f64;
    let corner = |i: i64| {
        let hertz = 700.0 * libm::expm1((mel(low) + i as f64 * step) / 2595.0 * std::f64::consts::LN_10);
        let exact = (length + 1) as f64 * hertz / rate as f64;
        let nearest = exact.round();
        // Nobody has anything but 0 for 0.
        if exact != 0.0 && (exact - nearest).abs() <= DOUBT * exact.abs().max(1.0) {
            let why = format!("corner {i} is at {exact}, and hangs on how it is rounded");
            return Err(Error::unsupported("operands", why));
        }
        Ok(exact.floor() as i64)
    };
    (0..count + 2).map(corner).collect()
}
