//! Resize, and Upsample of opsets 7 to 9, written out axis by axis.
//!
//! ONNX: [Resize](https://onnx.ai/onnx/operators/onnx__Resize.html),
//! [Upsample](https://onnx.ai/onnx/operators/onnx__Upsample.html). A place of the result is a coordinate on the axis
//! before ([`coordinates`]). `nearest` takes the element next to it: a Gather. `linear` and `cubic` add up the elements
//! around it times their [`weights`], which are computed by nodes as well, because implementations compute coordinates
//! in f32 and round on the way; the bound of the weights is theirs. Each weight is a continuous function of the
//! coordinate, so nothing hangs on which side of an element a rounded coordinate falls. What lies outside of the
//! operand with `tf_crop_and_resize` is told by nodes too, and chosen last.
//!
//! Coordinates are divided by the scale that is given. Where the size times the scale is no whole number, ONNX's text
//! divides by the quotient of the sizes instead, since opset 11; ONNX's tests, its reference implementation and ONNX
//! Runtime divide by the given scale.
//!
//! Two kinds of nodes are refused, and the error says why: those whose elements or sizes depend on how something is
//! rounded, and those for which the size times the scale is no whole number and the sources disagree. There ONNX's text
//! and runtimes go on with the size of the result, ONNX's reference implementation and tests with the product.

mod axes;
mod coordinates;
mod weights;

use ir::{Attributes, DType, Type, Value};

use axes::Axis;

use super::frame::Bound;
use super::given::GivenAttributes;
use super::old;
use super::terms::{operands, there};
use super::translation::{self, SourceNode, Translation, bind, given_value};
use super::walk::Walk;
use crate::Error;

/// The function that writes out an operator of this name, if it resizes.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "Resize" | "Upsample" => Some(resize),
        _ => None,
    }
}

/// How a place of the result becomes a coordinate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Transformation {
    HalfPixel,
    HalfPixelSymmetric,
    PytorchHalfPixel,
    AlignCorners,
    TfHalfPixelForNn,
    Asymmetric,
    TfCropAndResize,
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

/// What sizes say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Stretch,
    NotLarger,
    NotSmaller,
}

/// The attributes, except those that say which size each axis gets.
struct Settings {
    transformation: Transformation,
    mode: Mode,
    policy: Policy,
    /// Whether a filter is stretched where an axis shrinks.
    antialias: bool,
    /// Whether elements outside of the operand weigh nothing, instead of being those at its ends.
    exclude_outside: bool,
    /// The value of places outside of the operand that are not interpolated.
    extrapolation: f32,
}

impl Settings {
    fn read(given: &GivenAttributes<'_>, declared: u32) -> Result<Self, Error> {
        let unknown = |name: &str, value: &str| {
            Error::invalid(format!("attribute `{name}`"), format!("there is no {value}"))
        };
        let text = given.text("coordinate_transformation_mode", "half_pixel");
        let transformation = match text.as_str() {
            // Opsets before 11 have one way.
            _ if declared < 11 => Transformation::Asymmetric,
            "half_pixel" => Transformation::HalfPixel,
            "half_pixel_symmetric" => Transformation::HalfPixelSymmetric,
            "pytorch_half_pixel" => Transformation::PytorchHalfPixel,
            "align_corners" => Transformation::AlignCorners,
            "asymmetric" => Transformation::Asymmetric,
            "tf_crop_and_resize" => Transformation::TfCropAndResize,
            // Opset 13 has it no longer.
            "tf_half_pixel_for_nn" if declared < 13 => Transformation::TfHalfPixelForNn,
            other => return Err(unknown("coordinate_transformation_mode", other)),
        };
        let text = given.text("nearest_mode", "round_prefer_floor");
        let nearest = match text.as_str() {
            // Likewise; those who shrink by it do not agree.
            _ if declared < 11 => Nearest::Floor,
            "round_prefer_floor" => Nearest::PreferFloor,
            "round_prefer_ceil" => Nearest::PreferCeil,
            "floor" => Nearest::Floor,
            "ceil" => Nearest::Ceil,
            other => return Err(unknown("nearest_mode", other)),
        };
        let coefficient = given.float("cubic_coeff_a").unwrap_or(-0.75);
        let text = given.text("mode", "nearest");
        let mode = match text.as_str() {
            "nearest" => Mode::Nearest(nearest),
            "linear" | "bilinear" => Mode::Linear,
            "cubic" => Mode::Cubic(coefficient),
            other => return Err(unknown("mode", other)),
        };
        let text = given.text("keep_aspect_ratio_policy", "stretch");
        let policy = match text.as_str() {
            "stretch" => Policy::Stretch,
            "not_larger" => Policy::NotLarger,
            "not_smaller" => Policy::NotSmaller,
            other => return Err(unknown("keep_aspect_ratio_policy", other)),
        };
        Ok(Self {
            transformation,
            mode,
            policy,
            antialias: given.int("antialias", 0) != 0,
            exclude_outside: given.int("exclude_outside", 0) != 0,
            extrapolation: given.float("extrapolation_value").unwrap_or(0.0),
        })
    }
}

fn resize<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let declared = walk.context.declared;
    if declared < *old::OPSETS.start() {
        return Err(Error::unsupported(format!("operator {}", source.node.rest.op_type()), old::too_old(1)));
    }
    let operands = operands::<4>(walk, source)?;
    let x = there(&operands, 0)?;
    let (settings, axes, from) = {
        let given = GivenAttributes::of(source);
        let settings = Settings::read(&given, declared)?;
        let (axes, from) = axes::read(walk, source, &given, &settings, x)?;
        given.finish()?;
        (settings, axes, from)
    };
    let mut y = x;
    for axis in &axes {
        axis.check(settings.transformation)?;
        if declared < 11 && axis.after < axis.before && matches!(settings.mode, Mode::Nearest(_)) {
            let why = "which element is nearest where an axis shrinks, ONNX says from opset 11 on";
            return Err(Error::unsupported("operand 1", why));
        }
        if let Mode::Nearest(nearest) = settings.mode {
            y = gathered(walk, y, axis, settings.transformation, nearest)?;
        }
    }
    if !axes.is_empty() && !matches!(settings.mode, Mode::Nearest(_)) {
        y = weights::between(walk, x, &axes, &settings)?;
    }
    if axes.is_empty() && matches!(settings.mode, Mode::Linear) && walk.ty(x).dtype.is_float() {
        y = weights::added_up(walk, x)?;
    }
    if settings.transformation == Transformation::TfCropAndResize {
        for axis in &axes {
            y = cropped(walk, y, axis, settings.extrapolation)?;
        }
    }
    let y = given_value(walk, y, &from)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
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
        let (coordinate, doubt) = coordinates::coordinate(axis, transformation, i);
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
    let places = walk.integers(DType::I64, &[axis.after], |i| places[i])?;
    let along = Attributes::new().int("axis", axis.at as i64);
    translation::one(walk, "Gather", &along, &[x, places])
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

/// The elements whose coordinates lie on the axis, another number in place of all others.
fn cropped(walk: &mut Walk<'_, '_>, y: Value, axis: &Axis, extrapolation: f32) -> Result<Value, Error> {
    let ty: Type = walk.ty(y);
    let coordinates = coordinates::all(walk, axis, Transformation::TfCropAndResize)?;
    let (zero, last) = (walk.real(DType::F32, 0.0)?, walk.real(DType::F32, (axis.before - 1) as f64)?);
    let (low, high) = (walk.op("Less", &[coordinates, zero])?, walk.op("Greater", &[coordinates, last])?);
    let is_outside = walk.op("Or", &[low, high])?;
    let shape: Vec<i64> = (0..ty.rank()).map(|i| if i == axis.at { axis.after } else { 1 }).collect();
    let is_outside = walk.reshaped(is_outside, &shape)?;
    let value = walk.real(DType::F32, extrapolation.into())?;
    let value = walk.cast(value, ty.dtype)?;
    walk.op("Where", &[is_outside, value, y])
}
