//! Unique, written out: which elements are alike is read from their values.
//!
//! ONNX: [Unique](https://onnx.ai/onnx/operators/onnx__Unique.html). What is alone is gathered, and where it is, is
//! constant; all of it is given the operand. Not-a-numbers are refused: the text does not say whether they are alike.

use std::collections::BTreeMap;

use ir::{Attributes, DType, Tensor, Value};

use super::frame::Bound;
use super::given::GivenAttributes;
use super::terms::{axis_of, operands, there};
use super::translation::{SourceNode, Translation, bind, given_value};
use super::walk::Walk;
use crate::Error;
use crate::amount::MOST_ELEMENTS;

/// The function that writes out an operator of this name, if it is Unique.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "Unique" => Some(unique),
        _ => None,
    }
}

fn unique<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<1>(walk, source)?;
    let given = GivenAttributes::of(source);
    let (axis, is_sorted) = (given.whole("axis"), given.int("sorted", 1) != 0);
    given.finish()?;
    let mut x = there(&operands, 0)?;
    let ty = walk.ty(x);
    let (tensor, from) = walk.read_value(x, "operand 0".to_owned())?;
    let axis = match axis {
        Some(axis) => axis_of("attribute `axis`", axis, ty.rank())?,
        None => 0,
    };
    let mut shape = ty.shape.clone();
    if !source.attributes.iter().any(|attribute| attribute.name() == "axis") {
        shape = vec![ty.count()];
        x = walk.reshaped(x, &shape)?;
    }
    // Where another axis has no element, this one may be of any size.
    if shape[axis] > MOST_ELEMENTS {
        return Err(Error::unsupported(
            "operand 0",
            format!("axis {axis} of {ty} is longer than {MOST_ELEMENTS}"),
        ));
    }
    let slices = slices(&ordered(&tensor)?, &shape, axis);
    let mut found: BTreeMap<&[i128], Vec<usize>> = BTreeMap::new();
    for (i, slice) in slices.iter().enumerate() {
        found.entry(slice).or_default().push(i);
    }
    let mut groups: Vec<Vec<usize>> = found.into_values().collect();
    if !is_sorted {
        groups.sort();
    }
    let mut inverse = vec![0; slices.len()];
    for (i, group) in groups.iter().enumerate() {
        for &at in group {
            inverse[at] = i;
        }
    }
    let first = numbers(walk, groups.len(), |i| groups[i][0])?;
    let y = walk.op_with("Gather", &Attributes::new().int("axis", axis as i64), &[x, first])?;
    let inverse = numbers(walk, inverse.len(), |i| inverse[i])?;
    let counts = numbers(walk, groups.len(), |i| groups[i].len())?;
    let results = [y, first, inverse, counts];
    let results = results.map(|result| given_value(walk, result, from.as_slice()).map(Bound::Tensor));
    let results = results.into_iter().collect::<Result<Vec<Bound>, Error>>()?;
    bind(walk, source.node, results)
}

fn numbers(walk: &mut Walk<'_, '_>, count: usize, number: impl Fn(usize) -> usize) -> Result<Value, Error> {
    walk.integers(DType::I64, &[count as i64], |i| number(i) as i128)
}

/// Integers in the order of the elements, one for each, alike where these are. Both zeros are.
fn ordered(tensor: &Tensor) -> Result<Vec<i128>, Error> {
    if !tensor.dtype().is_float() {
        return Ok(tensor.to_i128s());
    }
    let order = |x: f64| {
        let bits = (x + 0.0).to_bits() as i64;
        i128::from(if bits < 0 { bits ^ i64::MAX } else { bits })
    };
    let elements = tensor.to_f64s();
    if elements.iter().any(|x| x.is_nan()) {
        return Err(Error::unsupported("operand 0", "whether not-a-numbers are alike, ONNX does not say"));
    }
    Ok(elements.into_iter().map(order).collect())
}

/// What is at each place of an axis, in the order of the elements.
fn slices(elements: &[i128], shape: &[i64], axis: usize) -> Vec<Vec<i128>> {
    let size = shape[axis] as usize;
    let inner = shape[axis + 1..].iter().product::<i64>() as usize;
    let mut slices = vec![Vec::new(); size];
    for (i, &element) in elements.iter().enumerate() {
        slices[i / inner % size].push(element);
    }
    slices
}
