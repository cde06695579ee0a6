//! ConstantOfShape and Range: tensors that follow from a few numbers, which are read from values.

use std::sync::Arc;

use ir::{Attributes, DType, Tensor, Type, Value};
use ops::schema::{self, Schema};

use super::attribute;
use super::frame::Bound;
use super::given::GivenAttributes;
use super::translation::{SourceNode, Translation, apply, bind, given_value, need};
use super::walk::Walk;
use crate::Error;

/// How many elements a Range may have, which is written out.
const MOST_ELEMENTS: i128 = 1 << 24;

/// The function that writes out an operator of this name, if it fills a tensor.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "ConstantOfShape" => Some(constant_of_shape),
        "Range" => Some(range),
        _ => None,
    }
}

/// ConstantOfShape: one number, expanded.
fn constant_of_shape<'p>(
    walk: &mut Walk<'p, '_>,
    &SourceNode { node, attributes }: &SourceNode<'p, '_>,
) -> Result<(), Error> {
    let (shape, from) = walk.read(need(node, 0)?)?;
    if shape.dtype() != DType::I64 || shape.shape().len() != 1 {
        return Err(Error::invalid("operand 0", format!("it must be i64 of rank 1, but is {}", shape.ty())));
    }
    let value = match attributes {
        [] => Arc::new(Tensor::zeros(&Type::new(DType::F32, []))),
        given => attribute::constant(given, walk.context.options.external)?,
    };
    if value.len() != 1 {
        return Err(Error::invalid(
            "attribute `value`",
            format!("it must be one element, but is {}", value.ty()),
        ));
    }
    let sizes: Vec<i64> = shape.to_i128s().iter().map(|&size| size as i64).collect();
    if let Some(size) = sizes.iter().find(|&&size| size < 0) {
        return Err(Error::invalid("operand 0", format!("size {size} is negative")));
    }
    let one = scalar(value.dtype(), &value);
    let one = walk.push_constant(Arc::new(one), None)?;
    let shape = Attributes::new().ints("shape", &sizes);
    let filled = apply(walk, "Expand", &shape, &[one], from.as_slice())?[0];
    bind(walk, node, vec![Bound::Tensor(filled)])
}

/// The one element of a tensor, without axes.
fn scalar(dtype: DType, tensor: &Tensor) -> Tensor {
    Tensor::from_bytes(&Type::new(dtype, []), &tensor.to_bytes()).unwrap_or_else(|_| tensor.clone())
}

/// Range: numbers from the first on, a step apart, up to the limit. Floats are known only if no number is
/// rounded: then it is the same whether an implementation adds the step or multiplies it. Numbers of 16 bits
/// are computed in f32, unless `stash_type` says otherwise, and rounded once.
fn range<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let node = source.node;
    let given = GivenAttributes::of(source);
    let stash = given.int("stash_type", 1);
    given.finish()?;
    let mut numbers = Vec::with_capacity(3);
    let mut from: Vec<Value> = Vec::new();
    for i in 0..3 {
        let (tensor, read) = walk.read(need(node, i)?)?;
        if tensor.len() != 1 {
            return Err(Error::invalid(
                format!("operand {i}"),
                format!("it must be one number, but is {}", tensor.ty()),
            ));
        }
        numbers.push(tensor);
        from.extend(read);
    }
    let dtype = numbers[0].dtype();
    if let Some(i) = numbers.iter().position(|number| number.dtype() != dtype) {
        let why = format!("its dtype is {}, and that of the first {dtype}", numbers[i].dtype());
        return Err(Error::invalid(format!("operand {i}"), why));
    }
    let is_known = |schema: &Schema| schema.inputs.first().is_some_and(|start| start.dtypes.contains(dtype));
    if !schema::in_force("Range", walk.context.declared).is_some_and(is_known) {
        let why = format!("there is no Range of {dtype} in opset {}", walk.context.declared);
        return Err(Error::invalid("operand 0", why));
    }
    let filled = if dtype.is_float() { floats(dtype, &numbers, stash)? } else { integers(dtype, &numbers)? };
    let filled = walk.push_constant(Arc::new(filled), None)?;
    let filled = given_value(walk, filled, &from)?;
    bind(walk, node, vec![Bound::Tensor(filled)])
}

fn integers(dtype: DType, numbers: &[Arc<Tensor>]) -> Result<Tensor, Error> {
    let [start, limit, step] = [0, 1, 2].map(|i: usize| numbers[i].to_i128s()[0]);
    if step == 0 {
        return Err(no_step());
    }
    let distance = if step > 0 { limit - start } else { start - limit };
    let count = distance.max(0) as u128;
    let count = few(count.div_ceil(step.unsigned_abs()) as i128)?;
    Ok(Tensor::from_i128_fn(&Type::new(dtype, [count]), |i| start + i as i128 * step))
}

/// The dtype that the numbers are added up in.
fn computed_in(dtype: DType, stash: i64) -> DType {
    match dtype {
        DType::F16 | DType::BF16 if stash == 1 => DType::F32,
        dtype => dtype,
    }
}

fn floats(dtype: DType, numbers: &[Arc<Tensor>], stash: i64) -> Result<Tensor, Error> {
    let [start, limit, step] = [0, 1, 2].map(|i: usize| numbers[i].to_f64s()[0]);
    if step == 0.0 || !(start.is_finite() && limit.is_finite() && step.is_finite()) {
        return Err(no_step());
    }
    // Of numbers that are exact in f64, this is right but where the quotient is rounded to a whole number.
    let count = ((limit - start) / step).ceil().max(0.0);
    let count = few(if count < 1e18 { count as i128 } else { i128::MAX })?;
    let filled = |dtype, numbers: &[f64]| Tensor::from_f64_fn(&Type::new(dtype, [count]), |i| numbers[i]);
    let is_kept = |numbers: &[f64]| filled(computed_in(dtype, stash), numbers).to_f64s() == numbers;
    let exact: Option<(Vec<f64>, Vec<f64>)> = (0..count).map(|i| place(start, step, i as f64)).collect();
    match exact {
        Some((multiples, numbers)) if is_kept(&multiples) && is_kept(&numbers) => Ok(filled(dtype, &numbers)),
        _ => Err(Error::unsupported(
            "Range",
            format!("its numbers from {start} on by {step} are rounded, which ONNX does not say how"),
        )),
    }
}

/// `i` times the step, and the number that it leads to; `None` if f64 rounds either.
fn place(start: f64, step: f64, i: f64) -> Option<(f64, f64)> {
    let multiple = i * step;
    let number = start + multiple;
    // What a product and a sum are rounded by: 2MultFMA and 2Sum of Muller et al., *Handbook of Floating-Point Arithmetic*.
    let of_product = i.mul_add(step, -multiple);
    let (a, b) = (number - multiple, number - (number - multiple));
    let of_sum = (start - a) + (multiple - b);
    (of_product == 0.0 && of_sum == 0.0).then_some((multiple, number))
}

fn no_step() -> Error {
    Error::invalid("operand 2", "no limit is reached by that step")
}

/// The count of elements, if it is not too large.
fn few(count: i128) -> Result<i64, Error> {
    if count <= MOST_ELEMENTS {
        return Ok(count as i64);
    }
    Err(Error::unsupported("Range", format!("it has more than {MOST_ELEMENTS} elements")))
}
