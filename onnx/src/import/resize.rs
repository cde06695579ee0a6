//! Resize, and Upsample of opsets 7 to 9, written out axis by axis.
//!
//! ONNX: [Resize](https://onnx.ai/onnx/operators/onnx__Resize.html),
//! [Upsample](https://onnx.ai/onnx/operators/onnx__Upsample.html). A place of the result is a coordinate on the axis before. `nearest` takes
//! the element next to it: a Gather. `linear` and `cubic` are products with a matrix of weights, which is computed by nodes as well, because
//! implementations compute coordinates in f32 and round on the way; the bound of the weights is theirs. Each weight is a continuous
//! function of the coordinate, so nothing hangs on which side of an element a rounded coordinate falls.
//!
//! What is refused says so: `tf_crop_and_resize`, `half_pixel_symmetric`, `antialias`, `exclude_outside`, policies that keep the aspect ratio, and
//! nearest elements that hang on how a coordinate is rounded.

use ir::{Attributes, DType, Tensor, Type, Value};

use super::forms::{self, Form, Written, bind, given_value, tensor};
use super::frame::Bound;
use super::walk::Walk;
use crate::Error;
use crate::proto::AttributeProto;

/// What adds an operator of that name, if it resizes.
pub(super) fn form(op_type: &str) -> Option<Form> {
    match op_type {
        "Resize" | "Upsample" => Some(resize),
        _ => None,
    }
}

/// How a place of the result becomes a coordinate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Transformation {
    HalfPixel,
    PytorchHalfPixel,
    AlignCorners,
    Asymmetric,
}

/// Which element is nearest.
#[derive(Clone, Copy)]
enum Nearest {
    PreferFloor,
    PreferCeil,
    Floor,
    Ceil,
}

#[derive(Clone, Copy)]
enum Mode {
    Nearest(Nearest),
    Linear,
    /// With this coefficient.
    Cubic(f32),
}

/// An axis that gets another size.
struct Axis {
    at: usize,
    before: i64,
    after: i64,
    scale: f32,
    /// What the scale makes of the size, before that is rounded down.
    wanted: f64,
}

impl Axis {
    /// Requires that the size of the result is no other one than it is for ONNX's reference implementation, which goes on with what the scale
    /// makes of it where the text, and runtimes, have the size.
    fn check(&self, transformation: Transformation) -> Result<(), Error> {
        let counts = match transformation {
            Transformation::AlignCorners => true,
            Transformation::PytorchHalfPixel => self.after == 1,
            Transformation::HalfPixel | Transformation::Asymmetric => false,
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

struct Settings<'a>(&'a [&'a AttributeProto]);

impl Settings<'_> {
    fn text(&self, name: &str, default: &str) -> String {
        let found = self.0.iter().find(|attribute| attribute.name() == name);
        found.map_or_else(|| default.to_owned(), |a| String::from_utf8_lossy(a.s()).into_owned())
    }

    fn transformation(&self, declared: u32) -> Result<Transformation, Error> {
        if declared < 11 {
            return Ok(Transformation::Asymmetric);
        }
        let name = "coordinate_transformation_mode";
        Ok(match self.text(name, "half_pixel").as_str() {
            "half_pixel" => Transformation::HalfPixel,
            "pytorch_half_pixel" => Transformation::PytorchHalfPixel,
            "align_corners" => Transformation::AlignCorners,
            "asymmetric" => Transformation::Asymmetric,
            other => {
                return Err(Error::unsupported(
                    format!("attribute `{name}`"),
                    format!("{other} is not there"),
                ));
            }
        })
    }

    fn mode(&self, declared: u32) -> Result<Mode, Error> {
        let nearest = match self.text("nearest_mode", "round_prefer_floor").as_str() {
            // Opsets before 11 have one way; those who shrink by it do not agree.
            _ if declared < 11 => Nearest::Floor,
            "round_prefer_floor" => Nearest::PreferFloor,
            "round_prefer_ceil" => Nearest::PreferCeil,
            "floor" => Nearest::Floor,
            "ceil" => Nearest::Ceil,
            other => return Err(Error::invalid("attribute `nearest_mode`", format!("there is no {other}"))),
        };
        let coefficient = self.0.iter().find(|a| a.name() == "cubic_coeff_a").map_or(-0.75, |a| a.f());
        Ok(match self.text("mode", "nearest").as_str() {
            "nearest" => Mode::Nearest(nearest),
            "linear" | "bilinear" => Mode::Linear,
            "cubic" => Mode::Cubic(coefficient),
            other => return Err(Error::invalid("attribute `mode`", format!("there is no {other}"))),
        })
    }

    /// Requires that nothing is asked for that is not there.
    fn check(&self) -> Result<(), Error> {
        for name in ["antialias", "exclude_outside"] {
            if self.0.iter().any(|a| a.name() == name && a.i() != 0) {
                return Err(Error::unsupported(format!("attribute `{name}`"), "only 0 is there"));
            }
        }
        match self.text("keep_aspect_ratio_policy", "stretch").as_str() {
            "stretch" => Ok(()),
            other => Err(Error::unsupported(
                "attribute `keep_aspect_ratio_policy`",
                format!("{other} is not there"),
            )),
        }
    }
}

fn resize<'p>(walk: &mut Walk<'p, '_>, written: &Written<'p, '_>) -> Result<(), Error> {
    let declared = walk.context.declared;
    let settings = Settings(written.attributes);
    settings.check()?;
    let (transformation, mode) = (settings.transformation(declared)?, settings.mode(declared)?);
    let mut y = tensor(walk, written.node, 0)?;
    let (axes, from) = axes(walk, written, y)?;
    for axis in &axes {
        axis.check(transformation)?;
        if declared < 11 && axis.after < axis.before && matches!(mode, Mode::Nearest(_)) {
            let why = "which element is nearest where an axis shrinks, ONNX says from opset 11 on";
            return Err(Error::unsupported("operand 1", why));
        }
        y = match mode {
            Mode::Nearest(nearest) => gathered(walk, y, axis, transformation, nearest)?,
            Mode::Linear | Mode::Cubic(_) => weighed(walk, y, axis, transformation, mode)?,
        };
    }
    let y = given_value(walk, y, &from)?;
    bind(walk, written.node, vec![Bound::Tensor(y)])
}

/// The axes that get another size, and what that was read from.
fn axes<'p>(
    walk: &mut Walk<'p, '_>,
    written: &Written<'p, '_>,
    x: Value,
) -> Result<(Vec<Axis>, Vec<Value>), Error> {
    let ty = walk.graph.ty(x).clone();
    let operand = |i: usize| written.node.inputs.get(i).copied().flatten();
    let find = |name: &str| written.attributes.iter().find(|a| a.name() == name);
    let rank = ty.rank();
    let chosen: Vec<i64> = find("axes").map_or_else(|| (0..rank as i64).collect(), |a| a.ints.clone());
    let (scales_at, sizes_at) = if walk.context.declared < 11 { (1, None) } else { (2, Some(3)) };
    let mut from = Vec::new();
    let mut list = |walk: &mut Walk<'p, '_>,
                    at: Option<usize>|
     -> Result<Option<std::sync::Arc<Tensor>>, Error> {
        let Some(id) = at.and_then(operand).filter(|&id| !walk.is_absent(Some(id))) else { return Ok(None) };
        let (tensor, read) = walk.read(id)?;
        from.extend(read);
        Ok(Some(tensor).filter(|tensor| !tensor.is_empty()))
    };
    let sizes = list(walk, sizes_at)?.map(|sizes| sizes.to_i128s());
    let scales = match find("scales") {
        Some(attribute) => Some(attribute.floats.clone()),
        None => list(walk, Some(scales_at))?.map(|t| t.to_f64s().into_iter().map(|x| x as f32).collect()),
    };
    let count = sizes.as_ref().map(Vec::len).or(scales.as_ref().map(Vec::len));
    if count != Some(chosen.len()) {
        let why = format!("there are {} of sizes or scales for {} axes", count.unwrap_or(0), chosen.len());
        return Err(Error::invalid("operands", why));
    }
    let mut all = Vec::new();
    for (i, &axis) in chosen.iter().enumerate() {
        let axis =
            ops::rule::axis(axis, rank).map_err(|e| Error::invalid("attribute `axes`", e.to_string()))?;
        let before = ty.shape[axis];
        let (after, scale) = match (&sizes, &scales) {
            (Some(sizes), _) => (size(sizes[i])?, sizes[i] as f32 / before as f32),
            (None, Some(scales)) => (scaled(before, scales[i])?, scales[i]),
            (None, None) => return Err(Error::invalid("operands", "neither sizes nor scales are there")),
        };
        if before == 0 && after != 0 {
            return Err(Error::invalid("operand 0", format!("axis {axis} of {ty} has nothing to take")));
        }
        if after != before || scale != 1.0 {
            let wanted = if sizes.is_some() { after as f64 } else { before as f64 * f64::from(scale) };
            all.push(Axis { at: axis, before, after, scale, wanted });
        }
    }
    Ok((all, from))
}

/// How many elements an axis may get.
const MOST: i128 = 1 << 20;

/// How many weights there may be between two axes.
const MOST_WEIGHTS: i64 = 1 << 24;

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

/// A constant of f32.
fn constant(walk: &mut Walk<'_, '_>, shape: &[i64], number: impl Fn(usize) -> f64) -> Result<Value, Error> {
    walk.push_constant(Tensor::from_f64_fn(&Type::new(DType::F32, shape), number).into(), None)
}

/// The result of an operator without attributes.
fn one(walk: &mut Walk<'_, '_>, name: &str, operands: &[Value]) -> Result<Value, Error> {
    forms::one(walk, name, &Attributes::new(), operands)
}

/// The elements next to the coordinates.
fn gathered(
    walk: &mut Walk<'_, '_>,
    x: Value,
    axis: &Axis,
    transformation: Transformation,
    nearest: Nearest,
) -> Result<Value, Error> {
    let places = (0..axis.after).map(|i| {
        let (coordinate, doubt) = coordinate(axis, transformation, i);
        let places = [-doubt, doubt].map(|by| place(coordinate + by, nearest).clamp(0, axis.before - 1));
        if places[0] == places[1] {
            return Ok(i128::from(places[0]));
        }
        let why = format!(
            "the element nearest to place {i} of axis {} hangs on how {coordinate} is rounded",
            axis.at
        );
        Err(Error::unsupported("operator Resize", why))
    });
    let places = places.collect::<Result<Vec<i128>, Error>>()?;
    let places = Tensor::from_i128_fn(&Type::new(DType::I64, [axis.after]), |i| places[i]);
    let places = walk.push_constant(places.into(), None)?;
    let along = Attributes::new().int("axis", axis.at as i64);
    forms::one(walk, "Gather", &along, &[x, places])
}

/// The coordinate of a place, and how far off it may be where f32 rounds it.
fn coordinate(axis: &Axis, transformation: Transformation, i: i64) -> (f64, f64) {
    let (i, scale) = (i as f64, f64::from(axis.scale));
    let (dividend, divisor, shift) = match transformation {
        Transformation::PytorchHalfPixel | Transformation::AlignCorners if axis.after == 1 => (0.0, 1.0, 0.0),
        Transformation::HalfPixel | Transformation::PytorchHalfPixel => (i + 0.5, scale, 0.5),
        Transformation::AlignCorners => (i * (axis.before - 1) as f64, (axis.after - 1) as f64, 0.0),
        Transformation::Asymmetric => (i, scale, 0.0),
    };
    let quotient = f64::from((dividend / divisor) as f32);
    let is_exact = quotient * divisor == dividend;
    let coordinate = dividend / divisor - shift;
    let doubt = if is_exact { 0.0 } else { f64::from(f32::EPSILON) * (4.0 + 4.0 * coordinate.abs()) };
    (coordinate, doubt)
}

fn place(coordinate: f64, nearest: Nearest) -> i64 {
    let rounded = match nearest {
        Nearest::Floor => coordinate.floor(),
        Nearest::Ceil => coordinate.ceil(),
        Nearest::PreferFloor => (coordinate - 0.5).ceil(),
        Nearest::PreferCeil => (coordinate + 0.5).floor(),
    };
    rounded as i64
}

/// Sums of the elements around the coordinates, weighed.
fn weighed(
    walk: &mut Walk<'_, '_>,
    x: Value,
    axis: &Axis,
    transformation: Transformation,
    mode: Mode,
) -> Result<Value, Error> {
    let ty = walk.graph.ty(x).clone();
    if ty.dtype != DType::F32 {
        return Err(Error::unsupported(
            "operand 0",
            format!("it is {ty}; what is between elements is known for f32"),
        ));
    }
    if axis.before.saturating_add(4).saturating_mul(axis.before.max(axis.after)) > MOST_WEIGHTS {
        let why = format!("axis {} of {} elements becomes one of {}", axis.at, axis.before, axis.after);
        return Err(Error::unsupported("operator Resize", why));
    }
    let coordinates = coordinates(walk, axis, transformation)?;
    let weights = match mode {
        Mode::Cubic(coefficient) => cubic(walk, axis, coordinates, coefficient)?,
        Mode::Linear | Mode::Nearest(_) => linear(walk, axis, coordinates)?,
    };
    let last = ty.rank() - 1;
    if axis.at == last {
        return one(walk, "MatMul", &[x, weights]);
    }
    let mut order: Vec<i64> = (0..=last as i64).collect();
    order.swap(axis.at, last);
    let exchange = Attributes::new().ints("perm", &order);
    let turned = forms::one(walk, "Transpose", &exchange, &[x])?;
    let product = one(walk, "MatMul", &[turned, weights])?;
    forms::one(walk, "Transpose", &exchange, &[product])
}

/// The coordinates of all places, in a row, as ONNX's formulas have them.
fn coordinates(walk: &mut Walk<'_, '_>, axis: &Axis, transformation: Transformation) -> Result<Value, Error> {
    let after = [1, axis.after];
    let scale = constant(walk, &[], |_| axis.scale.into())?;
    match transformation {
        Transformation::PytorchHalfPixel | Transformation::AlignCorners if axis.after == 1 => {
            constant(walk, &after, |_| 0.0)
        }
        Transformation::HalfPixel | Transformation::PytorchHalfPixel => {
            let (places, half) = (constant(walk, &after, |i| i as f64 + 0.5)?, constant(walk, &[], |_| 0.5)?);
            let quotients = one(walk, "Div", &[places, scale])?;
            one(walk, "Sub", &[quotients, half])
        }
        Transformation::AlignCorners => {
            let places = constant(walk, &after, |i| i as f64)?;
            let last = constant(walk, &[], |_| (axis.before - 1) as f64)?;
            let last_after = constant(walk, &[], |_| (axis.after - 1) as f64)?;
            let products = one(walk, "Mul", &[places, last])?;
            one(walk, "Div", &[products, last_after])
        }
        Transformation::Asymmetric => {
            let places = constant(walk, &after, |i| i as f64)?;
            one(walk, "Div", &[places, scale])
        }
    }
}

/// How far each element of the axis, from the first number on, is from each coordinate.
fn distances(walk: &mut Walk<'_, '_>, coordinates: Value, first: i64, count: i64) -> Result<Value, Error> {
    let elements = constant(walk, &[count, 1], |i| (first + i as i64) as f64)?;
    let differences = one(walk, "Sub", &[coordinates, elements])?;
    one(walk, "Abs", &[differences])
}

/// 1 - distance for the elements around a coordinate, which does not leave the axis; 0 for the others.
fn linear(walk: &mut Walk<'_, '_>, axis: &Axis, coordinates: Value) -> Result<Value, Error> {
    let (zero, last) = (constant(walk, &[], |_| 0.0)?, constant(walk, &[], |_| (axis.before - 1) as f64)?);
    let inside = one(walk, "Clip", &[coordinates, zero, last])?;
    let far = distances(walk, inside, 0, axis.before)?;
    let unit = constant(walk, &[], |_| 1.0)?;
    let near = one(walk, "Sub", &[unit, far])?;
    one(walk, "Relu", &[near])
}

/// Cubic convolution: one polynomial up to a distance of 1, another up to 2, each 0 at its ends where the other goes on, so that each
/// may be taken of the distance kept within its part. Elements beyond the ends are those at the ends.
fn cubic(walk: &mut Walk<'_, '_>, axis: &Axis, coordinates: Value, a: f32) -> Result<Value, Error> {
    let a = f64::from(a);
    let taps = axis.before + 4;
    let far = distances(walk, coordinates, -2, taps)?;
    let (unit, two) = (constant(walk, &[], |_| 1.0)?, constant(walk, &[], |_| 2.0)?);
    let inner = one(walk, "Min", &[far, unit])?;
    let inner = polynomial(walk, inner, [a + 2.0, -(a + 3.0), 0.0, 1.0])?;
    let outer = one(walk, "Clip", &[far, unit, two])?;
    let outer = polynomial(walk, outer, [a, -5.0 * a, 8.0 * a, -4.0 * a])?;
    let weights = one(walk, "Add", &[inner, outer])?;
    let (before, rows) = (axis.before as usize, taps as usize);
    let ends = constant(walk, &[axis.before, taps], |i| {
        let (element, tap) = (i / rows, i % rows);
        if tap.saturating_sub(2).min(before - 1) == element { 1.0 } else { 0.0 }
    })?;
    one(walk, "MatMul", &[ends, weights])
}

/// A polynomial of the third degree, from the highest power down.
fn polynomial(walk: &mut Walk<'_, '_>, x: Value, coefficients: [f64; 4]) -> Result<Value, Error> {
    let [first, rest @ ..] = coefficients;
    let mut sum = constant(walk, &[], |_| first)?;
    for coefficient in rest {
        let product = one(walk, "Mul", &[sum, x])?;
        let coefficient = constant(walk, &[], |_| coefficient)?;
        sum = one(walk, "Add", &[product, coefficient])?;
    }
    Ok(sum)
}
