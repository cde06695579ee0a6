//! `Imputer`, `OneHotEncoder` and `FeatureVectorizer`: features put into the form that a model takes.

use std::collections::BTreeSet;

use ir::{DType, Value};

use super::one;
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::strings::{self, Read};
use crate::import::terms::misshapen;
use crate::import::translation::{SourceNode, bind, given_value, tensor};
use crate::import::walk::Walk;

/// Imputer: what equals one value becomes another one, of each feature its own or one for all. Not-a-numbers are alike here.
pub(super) fn imputer<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = tensor(walk, source.node, 0)?;
    let given = GivenAttributes::of(source);
    let is_float = walk.ty(x).dtype.is_float();
    let (is_replaced, with) = if is_float { floats(walk, &given, x)? } else { integers(walk, &given, x)? };
    given.finish()?;
    let y = walk.op("Where", &[is_replaced, with, x])?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// Which floats are replaced, and with what.
fn floats(walk: &mut Walk<'_, '_>, given: &GivenAttributes<'_>, x: Value) -> Result<(Value, Value), Error> {
    let (ty, numbers) = (walk.ty(x), given.floats("imputed_value_floats"));
    check_count(&ty.shape, numbers.len())?;
    let with = walk.reals(ty.dtype, &[numbers.len() as i64], |i| numbers[i].into())?;
    let replaced = given.float("replaced_value_float").unwrap_or(0.0);
    Ok((equal_to(walk, x, replaced.into())?, with))
}

/// Which integers are replaced, and with what. "The imputed values must all fit within the width of the tensor element type."
fn integers(walk: &mut Walk<'_, '_>, given: &GivenAttributes<'_>, x: Value) -> Result<(Value, Value), Error> {
    let (ty, numbers) = (walk.ty(x), given.ints("imputed_value_int64s"));
    check_count(&ty.shape, numbers.len())?;
    let replaced = given.int("replaced_value_int64", 0);
    let (least, most) = ty.dtype.int_range().unwrap_or_default();
    if let Some(number) =
        numbers.iter().chain([&replaced]).find(|&&number| !(least..=most).contains(&number.into()))
    {
        return Err(Error::invalid("attributes", format!("{number} is no number of {}", ty.dtype)));
    }
    let with = walk.integers(ty.dtype, &[numbers.len() as i64], |i| numbers[i].into())?;
    let replaced = walk.integers(ty.dtype, &[], |_| replaced.into())?;
    Ok((walk.op("Equal", &[x, replaced])?, with))
}

/// Whether elements are a number, or not-a-numbers where that is none.
fn equal_to(walk: &mut Walk<'_, '_>, x: Value, number: f64) -> Result<Value, Error> {
    if number.is_nan() {
        return walk.op("IsNaN", &[x]);
    }
    let dtype = walk.ty(x).dtype;
    let number = walk.real(dtype, number)?;
    walk.op("Equal", &[x, number])
}

/// "If the input tensor has the shape [*,F], then the length of the attribute array may be 1 or F."
fn check_count(shape: &[i64], count: usize) -> Result<(), Error> {
    let features = shape.last().copied();
    if count == 1 || features.is_some_and(|features| features == count as i64) {
        return Ok(());
    }
    let why = format!("there are {count} of them, for {} features", features.unwrap_or(1));
    Err(Error::invalid("attributes `imputed_value_…`", why))
}

/// OneHotEncoder: for each element a list with 1 at the place of its category and 0 elsewhere.
pub(super) fn one_hot<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let (numbers, texts) = (given.ints("cats_int64s"), given.texts("cats_strings"));
    let may_lack = given.int("zeros", 1) != 0;
    given.finish()?;
    if numbers.is_empty() == texts.is_empty() {
        let why = "one of them must be there, and no more";
        return Err(Error::invalid("attributes `cats_int64s` and `cats_strings`", why));
    }
    let y = if texts.is_empty() {
        once("cats_int64s", numbers)?;
        hot_numbers(walk, source, numbers, may_lack)?
    } else {
        once("cats_strings", &texts)?;
        hot_texts(walk, source, &texts, may_lack)?
    };
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// Requires that no category is there twice: ONNX does not say which place it has.
fn once<T: Ord>(name: &str, categories: &[T]) -> Result<(), Error> {
    if categories.iter().collect::<BTreeSet<_>>().len() == categories.len() {
        return Ok(());
    }
    let why = "a category is there twice, and ONNX does not say which place it has";
    Err(Error::unsupported(format!("attribute `{name}`"), why))
}

fn hot_numbers(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    categories: &[i64],
    may_lack: bool,
) -> Result<Value, Error> {
    let x = tensor(walk, source.node, 0)?;
    if !may_lack {
        let why =
            "an element without a category makes the operator fail, and which elements there are is computed";
        return Err(Error::unsupported("attribute `zeros`", why));
    }
    let rank = walk.ty(x).rank() as i64;
    let whole = walk.cast(x, DType::I64)?;
    let apart = walk.unsqueezed(whole, &[rank])?;
    let all = walk.integers(DType::I64, &[categories.len() as i64], |i| categories[i].into())?;
    let is = walk.op("Equal", &[apart, all])?;
    walk.cast(is, DType::F32)
}

fn hot_texts(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    categories: &[String],
    may_lack: bool,
) -> Result<Value, Error> {
    let Read { mut shape, texts, from } = strings::read(walk, source.node, 0)?;
    if let Some(text) = texts.iter().find(|text| !may_lack && !categories.contains(text)) {
        return Err(Error::invalid("operand 0", format!("{text:?} has no category, and `zeros` is 0")));
    }
    let count = categories.len();
    shape.push(count as i64);
    let y = walk
        .reals(DType::F32, &shape, |i| if texts[i / count] == categories[i % count] { 1.0 } else { 0.0 })?;
    given_value(walk, y, &from)
}

/// FeatureVectorizer: rows of features of several operands beside each other, as f32. A list is one row.
pub(super) fn features<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let sizes = given.ints("inputdimensions");
    given.finish()?;
    let count = source.node.inputs.len();
    if sizes.len() != count {
        let why = format!("there are {} for {count} operands", sizes.len());
        return Err(Error::invalid("attribute `inputdimensions`", why));
    }
    let mut parts = Vec::with_capacity(count);
    for (i, &size) in sizes.iter().enumerate() {
        let x = tensor(walk, source.node, i)?;
        let ty = walk.ty(x);
        let x = if ty.rank() == 1 { walk.unsqueezed(x, &[0])? } else { x };
        if !matches!(ty.rank(), 1 | 2) {
            return Err(misshapen(i, &ty, "rows of features, or one"));
        }
        if ty.shape.last() != Some(&size) {
            let why = format!(
                "operand {i} is {ty}, and what becomes of other features than {size}, ONNX does not say"
            );
            return Err(Error::unsupported("attribute `inputdimensions`", why));
        }
        parts.push(walk.cast(x, DType::F32)?);
    }
    let y = match parts[..] {
        [] => return Err(Error::invalid("operands", "there are none")),
        [only] => one(walk, "Identity", &ir::Attributes::new(), &[only])?,
        _ => walk.joined(&parts, 1)?,
    };
    bind(walk, source.node, vec![Bound::Tensor(y)])
}
