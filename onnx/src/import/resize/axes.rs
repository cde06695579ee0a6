//! The axes of a Resize that get another size, or of which a part is taken: by sizes or scales, and by the corners of that part.

use std::sync::Arc;

use ir::{Tensor, Value};

use super::{Policy, Settings, Transformation};
use crate::Error;
use crate::import::given::GivenAttributes;
use crate::import::terms::axis_of;
use crate::import::translation::{SourceNode, if_given};
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
    fn changes(&self) -> bool {
        self.after != self.before || self.scale != 1.0 || self.part != WHOLE
    }

    /// Refuses a size of the result at which implementations part, which is where the scale does not give a
    /// whole number: ONNX's reference implementation goes on with the size times the scale, while the text
    /// and runtimes take the size of the result.
    pub(super) fn check(&self, transformation: Transformation) -> Result<(), Error> {
        let counts = match transformation {
            Transformation::AlignCorners | Transformation::TfCropAndResize => true,
            Transformation::PytorchHalfPixel => self.after == 1,
            // The symmetric one is made of both.
            Transformation::HalfPixelSymmetric
            | Transformation::HalfPixel
            | Transformation::TfHalfPixelForNn
            | Transformation::Asymmetric => false,
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
    source: &SourceNode<'p, '_>,
    given: &GivenAttributes<'_>,
    settings: &Settings,
    x: Value,
) -> Result<(Vec<Axis>, Vec<Value>), Error> {
    let ty = walk.ty(x);
    let axes = chosen(source, given, ty.rank())?;
    let mut from = Vec::new();
    let factors = Factors::read(walk, source, given, &mut from)?;
    if factors.len() != axes.len() {
        let why = format!("there are {} of sizes or scales for {} axes", factors.len(), axes.len());
        return Err(Error::invalid("operands", why));
    }
    let parts = match settings.transformation {
        Transformation::TfCropAndResize => parts(walk, source, &factors, &mut from)?,
        _ => vec![WHOLE; axes.len()],
    };
    let before: Vec<i64> = axes.iter().map(|&axis| ty.shape[axis]).collect();
    let sized = factors.sized(&before, settings.policy)?;
    let mut all = Vec::new();
    for (i, Sized { after, scale, wanted }) in sized.into_iter().enumerate() {
        let axis = Axis { at: axes[i], before: before[i], after, scale, wanted, part: parts[i] };
        if axis.before == 0 && axis.after != 0 {
            return Err(Error::invalid("operand 0", format!("axis {} of {ty} has nothing to take", axis.at)));
        }
        if axis.changes() {
            all.push(axis);
        }
    }
    Ok((all, from))
}

/// The axes that sizes or scales are for.
fn chosen(
    source: &SourceNode<'_, '_>,
    given: &GivenAttributes<'_>,
    rank: usize,
) -> Result<Vec<usize>, Error> {
    let axes = given.ints("axes");
    if !has(source, "axes") {
        return Ok((0..rank).collect());
    }
    let mut all = Vec::with_capacity(axes.len());
    for &axis in axes {
        let axis = axis_of("attribute `axes`", axis, rank)?;
        if all.contains(&axis) {
            let why = format!("axis {axis} is there twice, and ONNX leaves undefined what that means");
            return Err(Error::unsupported("attribute `axes`", why));
        }
        all.push(axis);
    }
    Ok(all)
}

fn has(source: &SourceNode<'_, '_>, name: &str) -> bool {
    source.attributes.iter().any(|a| a.name() == name)
}

/// The elements of an operand, if it is there and has any.
fn list(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    at: usize,
    from: &mut Vec<Value>,
) -> Result<Option<Arc<Tensor>>, Error> {
    let Some(id) = if_given(walk, source.node, at) else { return Ok(None) };
    let (tensor, read) = walk.read(id)?;
    from.extend(read);
    Ok(Some(tensor).filter(|tensor| !tensor.is_empty()))
}

/// What is asked for, for each of the axes.
enum Factors {
    Sizes(Vec<i128>),
    Scales(Vec<f32>),
}

impl Factors {
    fn read(
        walk: &mut Walk<'_, '_>,
        source: &SourceNode<'_, '_>,
        given: &GivenAttributes<'_>,
        from: &mut Vec<Value>,
    ) -> Result<Self, Error> {
        // Opsets before 11 have neither a part nor sizes.
        let (scales_at, sizes_at) = if walk.context.declared < 11 { (1, None) } else { (2, Some(3)) };
        let sizes = sizes_at.map(|at| list(walk, source, at, from)).transpose()?.flatten();
        let scales = if has(source, "scales") {
            Some(given.floats("scales").to_vec())
        } else {
            let scales = list(walk, source, scales_at, from)?;
            scales.map(|scales| scales.to_f64s().into_iter().map(|x| x as f32).collect())
        };
        match (sizes, scales) {
            (Some(sizes), None) => Ok(Self::Sizes(sizes.to_i128s())),
            (None, Some(scales)) => Ok(Self::Scales(scales)),
            (Some(_), Some(_)) => Err(Error::invalid("operands", "both sizes and scales are there")),
            (None, None) => Err(Error::invalid("operands", "neither sizes nor scales are there")),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Sizes(sizes) => sizes.len(),
            Self::Scales(scales) => scales.len(),
        }
    }

    fn sized(&self, before: &[i64], policy: Policy) -> Result<Vec<Sized>, Error> {
        match self {
            Self::Sizes(sizes) => sized(before, sizes, policy),
            Self::Scales(scales) => {
                let one = |(&before, &scale): (&i64, &f32)| {
                    let wanted = before as f64 * f64::from(scale);
                    Ok(Sized { after: scaled(before, scale)?, scale, wanted })
                };
                before.iter().zip(scales).map(one).collect()
            }
        }
    }
}

/// All of an axis.
const WHOLE: [f64; 2] = [0.0, 1.0];

/// The part of each axis that is taken.
fn parts(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    factors: &Factors,
    from: &mut Vec<Value>,
) -> Result<Vec<[f64; 2]>, Error> {
    let (count, ends) = (factors.len(), list(walk, source, 1, from)?);
    let ends = ends.map_or_else(Vec::new, |ends| ends.to_f64s());
    if ends.len() != 2 * count {
        let why = format!("it is not a beginning and an end for each of {count} axes");
        return Err(Error::invalid("operand 1", why));
    }
    let parts: Vec<[f64; 2]> = (0..count).map(|i| [ends[i], ends[count + i]]).collect();
    for part in &parts {
        if !part.iter().all(|end| end.is_finite()) {
            return Err(Error::unsupported("operand 1", format!("a part from {} to {}", part[0], part[1])));
        }
        if *part != WHOLE && matches!(factors, Factors::Scales(_)) {
            let why =
                "whether a scale is that of a part or of the whole, ONNX's text and implementations differ";
            return Err(Error::unsupported("operand 1", why));
        }
    }
    Ok(parts)
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
    if size < 0 {
        return Err(Error::invalid("sizes", format!("an axis of {size} elements is asked for")));
    }
    Err(Error::unsupported("sizes", format!("an axis of {size} elements is longer than {MOST}")))
}

/// The size that a scale gives: the product, rounded down, where f32 does not round it before.
fn scaled(before: i64, scale: f32) -> Result<i64, Error> {
    let exact = (before as f64 * f64::from(scale)).floor();
    if scale.is_nan() || scale <= 0.0 {
        return Err(Error::invalid("scales", format!("{scale} is not above 0")));
    }
    if exact > MOST as f64 {
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
