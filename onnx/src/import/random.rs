//! `RandomUniform`, `RandomNormal`, those `…Like` another tensor, Bernoulli and Multinomial, written out: their shapes
//! and dtypes are known, and their elements are open.
//!
//! ONNX: [RandomUniform](https://onnx.ai/onnx/operators/onnx__RandomUniform.html),
//! [RandomNormal](https://onnx.ai/onnx/operators/onnx__RandomNormal.html),
//! [Bernoulli](https://onnx.ai/onnx/operators/onnx__Bernoulli.html),
//! [Multinomial](https://onnx.ai/onnx/operators/onnx__Multinomial.html). Numbers that may have been drawn go through a
//! TopK of all of them that asks for no order: which of them is where is not specified. So whatever follows from them
//! is not judged, and all else of the model is, also that these have the right shape and dtype. With a probability of 0
//! or 1 Bernoulli's element is known. A seed says nothing: ONNX does not say which generator it is for.

use ir::format::FloatFormat;
use ir::{Attributes, DType, Type, Value};
use ops::schema;

use super::context::domain;
use super::frame::Bound;
use super::given::GivenAttributes;
use super::terms::{misshapen, operands, there};
use super::translation::{SourceNode, Translation, apply, bind};
use super::walk::Walk;
use crate::Error;
use crate::program::{Node, Program};

/// What adds an operator of that name, if its elements are drawn at random.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "RandomUniform" => Some(uniform),
        "RandomUniformLike" => Some(uniform_like),
        "RandomNormal" => Some(normal),
        "RandomNormalLike" => Some(normal_like),
        "Bernoulli" => Some(bernoulli),
        "Multinomial" => Some(multinomial),
        _ => None,
    }
}

/// Whether some node of a program draws numbers: those of a model that it leads to stand for these.
pub fn draws(program: &Program) -> bool {
    any_node(program, draws_numbers)
}

/// Whether some node of a program draws numbers and does not say from which seed: then each run may give others.
pub fn draws_anew(program: &Program) -> bool {
    let is_seeded = |node: &Node| node.attributes.iter().any(|attribute| attribute.rest.name() == "seed");
    any_node(program, |node| draws_numbers(node) && !is_seeded(node))
}

fn draws_numbers(node: &Node) -> bool {
    let draws = match node.rest.op_type() {
        // It draws where an operand says that a network is trained.
        "Dropout" => node.inputs.get(2).is_some_and(Option::is_some),
        op_type => translation(op_type).is_some(),
    };
    draws && domain(node.rest.domain()).is_empty()
}

fn any_node(program: &Program, holds: impl Fn(&Node) -> bool) -> bool {
    let mut found = false;
    let bodies = program.functions.iter().map(|function| &function.scope.body);
    for body in std::iter::once(&program.main.body).chain(bodies) {
        body.each_node(&mut |node| found |= holds(node));
    }
    found
}

/// The golden ratio's fraction: its multiples are spread evenly between whole numbers.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

fn uniform<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let drawn = between(&given)?;
    filled(walk, source, &given, drawn)
}

fn uniform_like<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let drawn = between(&given)?;
    like(walk, source, &given, drawn)
}

fn normal<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let drawn = around(&given)?;
    filled(walk, source, &given, drawn)
}

fn normal_like<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let drawn = around(&given)?;
    like(walk, source, &given, drawn)
}

/// Numbers between two others.
fn between(given: &GivenAttributes<'_>) -> Result<impl Fn(usize) -> f64 + use<>, Error> {
    let [low, high] =
        [("low", 0.0), ("high", 1.0)].map(|(name, default)| f64::from(given.float(name).unwrap_or(default)));
    if !(low.is_finite() && high.is_finite() && low <= high) {
        return Err(Error::invalid("attribute `high`", format!("nothing is between {low} and {high}")));
    }
    Ok(move |i| (high - low).mul_add(spread(i), low))
}

/// Numbers around a mean.
fn around(given: &GivenAttributes<'_>) -> Result<impl Fn(usize) -> f64 + use<>, Error> {
    let [mean, scale] = [("mean", 0.0), ("scale", 1.0)]
        .map(|(name, default)| f64::from(given.float(name).unwrap_or(default)));
    if !(mean.is_finite() && scale.is_finite() && scale >= 0.0) {
        return Err(Error::invalid("attribute `scale`", format!("there is none of {scale} around {mean}")));
    }
    // The quantile of a logistic distribution, which is near enough to a normal one.
    Ok(move |i| {
        let part = spread(i).clamp(1e-6, 1.0 - 1e-6);
        scale.mul_add(libm::log(part / (1.0 - part)) / 1.7, mean)
    })
}

/// The fraction of 1 that stands for a number that was drawn.
fn spread(i: usize) -> f64 {
    ((i as f64 + 1.0) * GOLDEN).fract()
}

/// A tensor of the shape that an attribute has.
fn filled<'p>(
    walk: &mut Walk<'p, '_>,
    source: &SourceNode<'p, '_>,
    given: &GivenAttributes<'_>,
    drawn: impl Fn(usize) -> f64,
) -> Result<(), Error> {
    let [] = operands(walk, source)?;
    let shape = given.ints("shape");
    let dtype = of(walk, source, given, DType::F32)?;
    given.finish()?;
    if let Some(size) = shape.iter().find(|&&size| size < 0) {
        return Err(Error::invalid("attribute `shape`", format!("size {size} is negative")));
    }
    let y = open(walk, &Type::new(dtype, shape), drawn)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// A tensor of the shape that another one has.
fn like<'p>(
    walk: &mut Walk<'p, '_>,
    source: &SourceNode<'p, '_>,
    given: &GivenAttributes<'_>,
    drawn: impl Fn(usize) -> f64,
) -> Result<(), Error> {
    let all: [_; 1] = operands(walk, source)?;
    let x = there(&all, 0)?;
    let ty = walk.ty(x);
    let dtype = of(walk, source, given, ty.dtype)?;
    given.finish()?;
    let y = open(walk, &Type { dtype, ..ty }, drawn)?;
    let y = shaped_as(walk, y, x)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

fn bernoulli<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let all: [_; 1] = operands(walk, source)?;
    let p = there(&all, 0)?;
    let ty = walk.ty(p);
    let dtype = of(walk, source, &given, ty.dtype)?;
    given.finish()?;
    let drawn = open(walk, &ty, spread)?;
    let is_drawn = walk.op("Less", &[drawn, p])?;
    // What is never drawn, or always.
    let mut y = walk.cast(is_drawn, DType::F32)?;
    for sure in [0.0, 1.0] {
        let (end, sure) = (walk.real(ty.dtype, sure)?, walk.real(DType::F32, sure)?);
        let is_sure = walk.op("Equal", &[p, end])?;
        y = walk.op("Where", &[is_sure, sure, y])?;
    }
    let y = walk.cast(y, dtype)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

fn multinomial<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let all: [_; 1] = operands(walk, source)?;
    let x = there(&all, 0)?;
    let ty = walk.ty(x);
    let count = given.int("sample_size", 1);
    let dtype = of(walk, source, &given, DType::I32)?;
    given.finish()?;
    let [batch, classes] = ty.shape[..] else { return Err(misshapen(0, &ty, "of rank 2")) };
    if count < 0 {
        return Err(Error::invalid("attribute `sample_size`", format!("it is {count}")));
    }
    if classes == 0 && batch > 0 && count > 0 {
        return Err(misshapen(0, &ty, "of some classes"));
    }
    let class = |i: usize| (spread(i) * classes as f64).floor();
    let exact = if classes < FloatFormat::F32.whole() as i64 { DType::F32 } else { DType::F64 };
    let y = open(walk, &Type::new(exact, [batch, count]), class)?;
    let y = walk.cast(y, dtype)?;
    let y = shaped_as(walk, y, x)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// The dtype that an attribute states, or that there is without one.
fn of(
    walk: &Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    given: &GivenAttributes<'_>,
    otherwise: DType,
) -> Result<DType, Error> {
    given.ignore("seed");
    let dtype = given.dtype("dtype")?.unwrap_or(otherwise);
    let schema = schema::in_force(source.node.rest.op_type(), walk.context.declared);
    let allowed = schema.and_then(|schema| schema.outputs.first()).map(|output| output.dtypes);
    if allowed.is_some_and(|allowed| !allowed.contains(dtype)) {
        let why = format!("the operator gives no {dtype} in this opset");
        return Err(Error::invalid("attribute `dtype`", why));
    }
    Ok(dtype)
}

/// Numbers that may have been drawn. Others may have been, too.
fn open(walk: &mut Walk<'_, '_>, ty: &Type, drawn: impl Fn(usize) -> f64) -> Result<Value, Error> {
    let count = ty.count();
    if count == 0 {
        return walk.reals(ty.dtype, &ty.shape, drawn);
    }
    // A single one would be the first of all.
    let all = count.max(2);
    let numbers = walk.reals(DType::F32, &[all], drawn)?;
    let mut numbers = in_any_order(walk, numbers, all)?;
    if count < all {
        numbers = walk.slice(numbers, 0, 0, count)?;
    }
    let numbers = walk.cast(numbers, ty.dtype)?;
    walk.reshaped(numbers, &ty.shape)
}

/// `count` numbers on one axis, at least two, in an order that is not specified.
pub(super) fn in_any_order(walk: &mut Walk<'_, '_>, numbers: Value, count: i64) -> Result<Value, Error> {
    let any_order = Attributes::new().int("axis", 0).int("k", count).int("sorted", 0);
    Ok(apply(walk, "TopK", &any_order, &[numbers], &[])?[0])
}

/// This, whose shape comes from that of another value.
fn shaped_as(walk: &mut Walk<'_, '_>, y: Value, x: Value) -> Result<Value, Error> {
    let shape = walk.op("Shape", &[x])?;
    Ok(apply(walk, "Identity", &Attributes::new(), &[y], &[shape])?[0])
}
