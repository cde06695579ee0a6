//! The axes of a Resize that get another size, or of which a part is taken: by sizes or scales, and by the corners of that part.

use std::sync::Arc;

use ir::{Tensor, Value};

use super::{Policy, Settings, Transformation};
use crate::Error;
use crate::import::forms::Written;
use crate::import::given::Given;
use crate::import::walk::Walk;

/// An axis that gets another size.
pub(super) struct Axis {
    pub(super) at: usize,
    pub(super) before: i64,
    pub(super) after: i64,
    pub(super) scale: f32,
    /// What the scale makes of the size, before that is rounded.
    pub(super) wanted: f64,
    /// Where the part that is taken begins and ends, in widths of the axis.
    pub(super) part: [f64; 2],
}

impl Axis {
    /// Requires that the size of the result is no other one than it is for ONNX's reference implementation, which goes on with what the scale
    /// makes of it where the text, and runtimes, have the size.
    pub(super) fn check(&self, transformation: Transformation) -> Result<(), Error> {
        let counts = match transformation {
            Transformation::AlignCorners | Transformation::TfCropAndResize => true,
            Transformation::PytorchHalfPixel => self.after == 1,
            // The symmetric one is made of both.
            Transformation::HalfPixelSymmetric | Transformation::HalfPixel | Transformation::Asymmetric => {
                false
            }
        };
        if !counts || self.wanted == self.after as f64 {
            return Ok(());
        }
        let why = format!(
            "{} elements times {} are no whole number, and ONNX contradicts itself",
            self.before, self.scale
        );
        Err(Error::unsupported("scales", why))
    }
}

/// The axes that get another size, and what that was read from.
pub(super) fn read<'p>(
    walk: &mut Walk<'p, '_>,
    written: &Written<'p, '_>,
    given: &Given<'_>,
    settings: &Settings,
    x: Value,
) -> Result<(Vec<Axis>, Vec<Value>), Error> {
    let ty = walk.ty(x);
    let rank = ty.rank();
    let has = |name: &str| written.attributes.iter().any(|a| a.name() == name);
    let chosen = given.ints("axes");
    let chosen: Vec<i64> = if has("axes") { chosen.to_vec() } else { (0..rank as i64).collect() };
    let mut axes = Vec::with_capacity(chosen.len());
    for axis in chosen {
        let axis = ops::rule::axis(axis, rank);
        axes.push(axis.map_err(|e| Error::invalid("attribute `axes`", e.to_string()))?);
    }
    let is_old = walk.context.declared < 11;
    let (scales_at, sizes_at, part_at) = if is_old { (1, None, None) } else { (2, Some(3), Some(1)) };
    let mut from = Vec::new();
    let mut list = |walk: &mut Walk<'p, '_>, at: Option<usize>| -> Result<Option<Arc<Tensor>>, Error> {
        let operand = at.and_then(|at| written.node.inputs.get(at).copied().flatten());
        let Some(id) = operand.filter(|&id| !walk.is_absent(Some(id))) else { return Ok(None) };
        let (tensor, read) = walk.read(id)?;
        from.extend(read);
        Ok(Some(tensor).filter(|tensor| !tensor.is_empty()))
    };
    let sizes = list(walk, sizes_at)?.map(|sizes| sizes.to_i128s());
    let scales = if has("scales") {
        Some(given.floats("scales").to_vec())
    } else {
        list(walk, Some(scales_at))?.map(|t| t.to_f64s().into_iter().map(|x| x as f32).collect())
    };
    let is_part = settings.transformation == Transformation::TfCropAndResize;
    let part = if is_part { list(walk, part_at)?.map(|part| part.to_f64s()) } else { None };
    let count = sizes.as_ref().map(Vec::len).or(scales.as_ref().map(Vec::len));
    if count != Some(axes.len()) {
        let why = format!("there are {} of sizes or scales for {} axes", count.unwrap_or(0), axes.len());
        return Err(Error::invalid("operands", why));
    }
    if is_part && part.as_ref().map(Vec::len) != Some(2 * axes.len()) {
        let why = format!("it is not a beginning and an end for each of {} axes", axes.len());
        return Err(Error::invalid("operand 1", why));
    }
    let before: Vec<i64> = axes.iter().map(|&axis| ty.shape[axis]).collect();
    let sized = match (&sizes, &scales) {
        (Some(sizes), _) => sized(&before, sizes, settings.policy)?,
        (None, Some(scales)) => {
            let one = |(&before, &scale): (&i64, &f32)| {
                Ok(Sized { after: scaled(before, scale)?, scale, wanted: before as f64 * f64::from(scale) })
            };
            before.iter().zip(scales).map(one).collect::<Result<_, Error>>()?
        }
        (None, None) => return Err(Error::invalid("operands", "neither sizes nor scales are there")),
    };
    let mut all = Vec::new();
    for (i, Sized { after, scale, wanted }) in sized.into_iter().enumerate() {
        let (at, before) = (axes[i], before[i]);
        if before == 0 && after != 0 {
            return Err(Error::invalid("operand 0", format!("axis {at} of {ty} has nothing to take")));
        }
        let part = part.as_ref().map_or([0.0, 1.0], |part| [part[i], part[axes.len() + i]]);
        if !part.iter().all(|end| end.is_finite()) {
            return Err(Error::unsupported("operand 1", format!("a part from {} to {}", part[0], part[1])));
        }
        if part != [0.0, 1.0] && sizes.is_none() {
            let why =
                "whether a scale is that of a part or of the whole, ONNX's text and implementations differ";
            return Err(Error::unsupported("operand 1", why));
        }
        if after != before || scale != 1.0 || part != [0.0, 1.0] {
            all.push(Axis { at, before, after, scale, wanted, part });
        }
    }
    Ok((all, from))
}

/// What becomes of an axis.
struct Sized {
    after: i64,
    scale: f32,
    wanted: f64,
}

/// The sizes that are asked for. With a policy all axes have one scale, and sizes are rounded, a half up.
fn sized(before: &[i64], sizes: &[i128], policy: Policy) -> Result<Vec<Sized>, Error> {
    let sizes = sizes.iter().map(|&size| self::size(size)).collect::<Result<Vec<i64>, Error>>()?;
    let pairs = || before.iter().copied().zip(sizes.iter().copied());
    if policy == Policy::Stretch {
        let one = |(before, after): (i64, i64)| Sized {
            after,
            scale: after as f32 / before as f32,
            wanted: after as f64,
        };
        return Ok(pairs().map(one).collect());
    }
    if before.contains(&0) {
        return Err(Error::invalid("operand 0", "an axis without elements has no aspect ratio"));
    }
    // As fractions, which nothing rounds: sizes are below 2²¹.
    let order = |a: &(i64, i64), b: &(i64, i64)| {
        (i128::from(a.1) * i128::from(b.0)).cmp(&(i128::from(b.1) * i128::from(a.0)))
    };
    let decisive = match policy {
        Policy::NotLarger => pairs().min_by(order),
        Policy::NotSmaller | Policy::Stretch => pairs().max_by(order),
    };
    let Some((base, size)) = decisive else { return Ok(Vec::new()) };
    let scale = size as f32 / base as f32;
    let is_exact = f64::from(scale) * base as f64 == size as f64;
    let one = |(before, _): (i64, i64)| {
        let (dividend, divisor) = (i128::from(size) * i128::from(before), i128::from(base));
        let after = (2 * dividend + divisor).div_euclid(2 * divisor);
        if !is_exact && (2 * dividend + divisor) % (2 * divisor) == 0 {
            let why = format!("{before} times {size} / {base} hangs on how it is rounded");
            return Err(Error::unsupported("sizes", why));
        }
        Ok(Sized { after: self::size(after)?, scale, wanted: dividend as f64 / divisor as f64 })
    };
    pairs().map(one).collect()
}

/// How many elements an axis may get.
const MOST: i128 = 1 << 20;

fn size(size: i128) -> Result<i64, Error> {
    if (0..=MOST).contains(&size) {
        return Ok(size as i64);
    }
    Err(Error::unsupported("sizes", format!("{size} is not from 0 to {MOST}")))
}

/// The size that a scale gives: the product, rounded down, where f32 does not round it before.
fn scaled(before: i64, scale: f32) -> Result<i64, Error> {
    let exact = (before as f64 * f64::from(scale)).floor();
    if scale.is_nan() || scale <= 0.0 || exact > MOST as f64 {
        return Err(Error::unsupported("scales", format!("{before} elements times {scale}")));
    }
    if exact != f64::from((before as f32 * scale).floor()) {
        return Err(Error::unsupported(
            "scales",
            format!("{before} times {scale} hangs on how it is rounded"),
        ));
    }
    Ok(exact as i64)
}
