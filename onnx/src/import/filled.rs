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
use crate::amount::MOST_ELEMENTS;

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

/// Range: numbers from the first on, a step apart, up to the limit. Where no float is rounded, they are a constant:
/// then it is the same whether an implementation adds the step or multiplies it. Numbers of 16 bits are computed in
/// f32, unless `stash_type` says otherwise, and rounded once.
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
    let filled = if dtype.is_float() {
        floats(walk, dtype, &numbers, stash)?
    } else {
        walk.push_constant(Arc::new(integers(dtype, &numbers)?), None)?
    };
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

fn floats(
    walk: &mut Walk<'_, '_>,
    dtype: DType,
    numbers: &[Arc<Tensor>],
    stash: i64,
) -> Result<Value, Error> {
    let [start, limit, step] = [0, 1, 2].map(|i: usize| numbers[i].to_f64s()[0]);
    if step == 0.0 || !(start.is_finite() && limit.is_finite() && step.is_finite()) {
        return Err(no_step());
    }
    let stash = computed_in(dtype, stash);
    // Of numbers that are exact in f64, this is right but where the quotient is rounded to a whole number.
    let count = ((limit - start) / step).ceil().max(0.0);
    let few = |count: f64| few(if count < 1e18 { count as i128 } else { i128::MAX });
    let count = few(count)?;
    let filled = |dtype, numbers: &[f64]| Tensor::from_f64_fn(&Type::new(dtype, [count]), |i| numbers[i]);
    let is_kept = |numbers: &[f64]| filled(stash, numbers).to_f64s() == numbers;
    let exact: Option<(Vec<f64>, Vec<f64>)> = (0..count).map(|i| place(start, step, i as f64)).collect();
    match exact {
        Some((multiples, numbers)) if is_kept(&multiples) && is_kept(&numbers) => {
            walk.push_constant(Arc::new(filled(dtype, &numbers)), None)
        }
        _ => {
            check_count(dtype, [start, limit, step], count)?;
            let filled = rounded(walk, stash, [start, step], count)?;
            walk.cast(filled, dtype)
        }
    }
}

/// Requires that there are as many numbers however the difference and the quotient are rounded that their count follows
/// from: to the dtype, to f32 as in ONNX's own function body, to f64, or not at all.
fn check_count(dtype: DType, [start, limit, step]: [f64; 3], count: i64) -> Result<(), Error> {
    let to = |dtype, number: f64| Tensor::from_f64_fn(&Type::new(dtype, []), |_| number).to_f64s()[0];
    let all = [DType::F64, DType::F32, dtype];
    let differences = [limit - start, to(dtype, limit - start)];
    let quotients = differences
        .iter()
        .flat_map(|&difference| all.map(|dtype| to(dtype, to(dtype, difference) / to(dtype, step))));
    if quotients.map(|quotient| quotient.ceil().max(0.0)).all(|other| other == count as f64) {
        return Ok(());
    }
    let why = format!(
        "how many numbers there are from {start} to {limit} by {step} hangs on how a quotient is rounded"
    );
    Err(Error::unsupported("Range", why))
}

/// Numbers that are rounded: as the text has it the step times the place, to which the first is added, and within what
/// adding the step again and again may bring about, as ONNX's own function body does.
fn rounded(
    walk: &mut Walk<'_, '_>,
    dtype: DType,
    [start, step]: [f64; 2],
    count: i64,
) -> Result<Value, Error> {
    let place = |i: i64| Tensor::from_f64_fn(&Type::new(dtype, []), |_| i as f64).to_f64s()[0];
    if (0..count).any(|i| place(i) != i as f64) {
        return Err(Error::unsupported("Range", format!("{count} numbers are more than {dtype} counts")));
    }
    let places = walk.reals(dtype, &[count], |i| i as f64)?;
    let [first, each] = [start, step].map(|number| walk.real(dtype, number));
    let multiples = walk.op("Mul", &[places, each?])?;
    let numbers = walk.op("Add", &[first?, multiples])?;
    let terms = walk.reals(dtype, &[count], |i| if i == 0 { start } else { step })?;
    let sums = walk.op_with("CumSum", &Attributes::new().int("axis", 0), &[terms])?;
    walk.within(numbers, sums)
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
    if count <= MOST_ELEMENTS.into() {
        return Ok(count as i64);
    }
    Err(Error::unsupported("Range", format!("it has more than {MOST_ELEMENTS} elements")))
}
