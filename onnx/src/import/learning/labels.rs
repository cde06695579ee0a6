//! `LabelEncoder`: values for keys, either of which may be strings.
//!
//! Of numbers it is written out: where a number is the last key that it equals, there the value is taken from a table,
//! and what is no key comes last in it. What strings are, or become, is read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ir::{Attributes, DType, Tensor, Type, Value};

use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::strings::{self, Read};
use crate::import::translation::{SourceNode, bind, given_value, need, tensor as operand};
use crate::import::walk::Walk;
use crate::proto::AttributeProto;
use crate::{Error, tensor};

/// How many pairs of elements and keys are compared at once.
const MOST: i64 = 1 << 26;

/// A list of keys or values.
enum List {
    Texts(Vec<String>),
    Numbers(Tensor),
}

impl List {
    fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    fn has_one_twice(&self) -> bool {
        let different = match self {
            Self::Texts(texts) => texts.iter().collect::<BTreeSet<_>>().len(),
            Self::Numbers(numbers) if numbers.dtype().is_float() => {
                numbers.to_f64s().into_iter().map(f64::to_bits).collect::<BTreeSet<_>>().len()
            }
            Self::Numbers(numbers) => numbers.to_i128s().into_iter().collect::<BTreeSet<_>>().len(),
        };
        different < self.len()
    }
}

/// Whether keys are compared bit by bit, as versions 2 and 3 of the domain have it. From 4 on all NaN are one key, and of the sign of
/// zeros nothing is said.
fn is_by_bits(walk: &Walk<'_, '_>) -> bool {
    walk.context.imports.get(super::DOMAIN).is_some_and(|&version| version < 4)
}

/// The one list among attributes with this beginning of their names.
fn list(
    walk: &Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    given: &GivenAttributes<'_>,
    kind: &str,
) -> Result<List, Error> {
    let named = |ending: &str| format!("{kind}_{ending}");
    let has = |ending: &str| source.attributes.iter().any(|a: &&AttributeProto| a.name() == named(ending));
    let there: Vec<&str> =
        ["strings", "int64s", "floats", "tensor"].into_iter().filter(|ending| has(ending)).collect();
    let numbers = |dtype, count: usize| Type::new(dtype, [count as i64]);
    match there[..] {
        ["strings"] => Ok(List::Texts(given.texts(&named("strings")))),
        ["int64s"] => {
            let ints = given.ints(&named("int64s"));
            Ok(List::Numbers(Tensor::from_i128_fn(&numbers(DType::I64, ints.len()), |i| ints[i].into())))
        }
        ["floats"] => {
            let floats = given.floats(&named("floats"));
            Ok(List::Numbers(Tensor::from_f64_fn(&numbers(DType::F32, floats.len()), |i| floats[i].into())))
        }
        ["tensor"] => held(walk, source, given, &named("tensor")),
        _ => {
            let why = format!("{} of them are there, and one must be", there.len());
            Err(Error::invalid(format!("attributes `{kind}_…`"), why))
        }
    }
}

/// The list that an attribute holds as a tensor.
fn held(
    walk: &Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    given: &GivenAttributes<'_>,
    name: &str,
) -> Result<List, Error> {
    let external = walk.context.options.external;
    let what = || format!("attribute `{name}`");
    let proto = source.attributes.iter().find(|a| a.name() == name).and_then(|a| a.t.as_ref());
    if let Some(proto) = proto.filter(|proto| tensor::strings::is_strings(proto)) {
        given.ignore(name);
        let strings = tensor::strings::from_proto(proto, external).map_err(|e| e.inside(what()))?;
        let texts = strings.texts().ok_or_else(|| Error::invalid(what(), "it is not UTF-8"))?;
        return Ok(List::Texts(texts));
    }
    let numbers = given.tensor(name, external)?;
    let numbers = numbers.ok_or_else(|| Error::invalid(what(), "it holds no tensor"))?;
    if numbers.shape().len() > 1 {
        return Err(Error::invalid(what(), format!("it is {}, and must be a list", numbers.ty())));
    }
    Ok(List::Numbers(numbers))
}

/// What an element becomes that is none of the keys: one value, of the kind of the values.
fn default(
    walk: &Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    given: &GivenAttributes<'_>,
    of: &List,
) -> Result<List, Error> {
    let text = given.text("default_string", "_Unused");
    let (int, float) = (given.int("default_int64", -1), given.float("default_float").unwrap_or(-0.0));
    let is_held = source.attributes.iter().any(|a| a.name() == "default_tensor");
    let held = if is_held { Some(held(walk, source, given, "default_tensor")?) } else { None };
    let found = match (of, held) {
        (List::Texts(_), Some(List::Texts(texts))) => List::Texts(texts),
        (List::Texts(_), None) => List::Texts(vec![text]),
        (List::Numbers(values), Some(List::Numbers(number))) if number.dtype() == values.dtype() => {
            List::Numbers(number)
        }
        (List::Numbers(values), None) => {
            let ty = Type::new(values.dtype(), [1]);
            List::Numbers(if values.dtype().is_float() {
                Tensor::from_f64_fn(&ty, |_| float.into())
            } else {
                Tensor::from_i128_fn(&ty, |_| int.into())
            })
        }
        (List::Texts(_) | List::Numbers(_), Some(_)) => {
            return Err(Error::invalid("attribute `default_tensor`", "it is not of the type of the values"));
        }
    };
    if found.len() == 1 {
        return Ok(found);
    }
    Err(Error::invalid("attribute `default_tensor`", "it is not one value"))
}

/// The keys and values of the first version, which has the list of classes alone: the numbers of strings, or strings by
/// their numbers.
fn classes(
    walk: &Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    given: &GivenAttributes<'_>,
) -> Result<(List, List), Error> {
    let texts = given.texts("classes_strings");
    let places =
        List::Numbers(Tensor::from_i128_fn(&Type::new(DType::I64, [texts.len() as i64]), |i| i as i128));
    if !strings::is_text(walk, source.node, 0) {
        return Ok((places, List::Texts(texts)));
    }
    if texts.iter().collect::<BTreeSet<_>>().len() < texts.len() {
        let why = "a string is there twice, and ONNX does not say which place it has";
        return Err(Error::unsupported("attribute `classes_strings`", why));
    }
    Ok((List::Texts(texts), places))
}

pub(super) fn encoder<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let is_first = source.attributes.iter().any(|a| a.name() == "classes_strings");
    let (keys, values) = if is_first {
        classes(walk, source, &given)?
    } else {
        (list(walk, source, &given, "keys")?, list(walk, source, &given, "values")?)
    };
    let default = default(walk, source, &given, &values)?;
    given.finish()?;
    if keys.len() != values.len() {
        let why = format!("there are {} keys and {} values", keys.len(), values.len());
        return Err(Error::invalid("attributes", why));
    }
    let by_bits = !is_first && is_by_bits(walk);
    if by_bits && keys.has_one_twice() {
        let why = "a key is there twice, and this version does not say which value it has";
        return Err(Error::unsupported("attributes `keys_…`", why));
    }
    let y = match (keys, values, default) {
        (keys, List::Texts(mut values), List::Texts(default)) => {
            values.extend(default);
            let (shape, places, from) = places(walk, source, &keys, by_bits)?;
            let texts: Vec<String> = places.into_iter().map(|place| values[place].clone()).collect();
            strings::made(walk, shape, &texts, from)?
        }
        (List::Texts(keys), List::Numbers(values), List::Numbers(default)) => {
            let (shape, places, from) = places(walk, source, &List::Texts(keys), by_bits)?;
            let table = table(walk, values, default)?;
            let places = walk.integers(DType::I64, &shape, |i| places[i] as i128)?;
            let y = walk.op("Gather", &[table, places])?;
            Bound::Tensor(given_value(walk, y, &from)?)
        }
        (List::Numbers(keys), List::Numbers(values), List::Numbers(default)) => {
            let table = table(walk, values, default)?;
            Bound::Tensor(looked_up(walk, source, &keys, table, by_bits)?)
        }
        (_, List::Texts(_), List::Numbers(_)) | (_, List::Numbers(_), List::Texts(_)) => {
            return Err(Error::invalid(
                "attributes",
                "values and what stands for others are not of one type",
            ));
        }
    };
    bind(walk, source.node, vec![y])
}

/// A table to look values up in: the values, and behind them the default for elements that are no key.
fn table(walk: &mut Walk<'_, '_>, values: Tensor, default: Tensor) -> Result<Value, Error> {
    let values = walk.push_constant(Arc::new(values), None)?;
    let default = walk.push_constant(Arc::new(default), None)?;
    let default = walk.reshaped(default, &[1])?;
    walk.joined(&[values, default], 0)
}

/// For the elements that are looked up: their shape, the place of each, and the values that the places were
/// read from.
type Places = (Vec<i64>, Vec<usize>, Vec<Value>);

/// The place of each element among the keys: of the last key that is equal to it, or one behind all keys if
/// none is. With the shape of the elements, and the values that they were read from.
fn places(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    keys: &List,
    by_bits: bool,
) -> Result<Places, Error> {
    match keys {
        List::Texts(keys) => {
            let Read { shape, texts, from } = strings::read(walk, source.node, 0)?;
            Ok((shape, last_places(keys, &texts), from))
        }
        List::Numbers(keys) => {
            let (x, from) = walk.read(need(source.node, 0)?)?;
            if x.dtype() != keys.dtype() {
                return Err(Error::invalid("operand 0", format!("it is {}, and keys {}", x.ty(), keys.ty())));
            }
            strings::few(x.len())?;
            let places = if x.dtype().is_float() {
                // All NaN are alike, and so are both zeros, but by the text of the second version.
                let zero = if by_bits { -0.0 } else { 0.0 };
                let bits = |x: f64| if x.is_nan() { f64::NAN } else { x + zero }.to_bits();
                let bits = |of: &Tensor| of.to_f64s().into_iter().map(bits).collect::<Vec<_>>();
                last_places(&bits(keys), &bits(&x))
            } else {
                last_places(&keys.to_i128s(), &x.to_i128s())
            };
            Ok((x.ty().shape, places, from.into_iter().collect()))
        }
    }
}

/// The place of the last key that is equal to each element, or one behind all keys.
fn last_places<T: Ord>(keys: &[T], elements: &[T]) -> Vec<usize> {
    let last: BTreeMap<&T, usize> = keys.iter().zip(0..).collect();
    elements.iter().map(|element| last.get(element).copied().unwrap_or(keys.len())).collect()
}

/// The values of numbers, from a table.
fn looked_up(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    keys: &Tensor,
    table: Value,
    by_bits: bool,
) -> Result<Value, Error> {
    let x = operand(walk, source.node, 0)?;
    let (ty, count) = (walk.ty(x), keys.len() as i64);
    if ty.dtype != keys.dtype() {
        return Err(Error::invalid("operand 0", format!("it is {ty}, and keys {}", keys.ty())));
    }
    if count == 0 || ty.count().saturating_mul(count) > MOST {
        return Err(Error::unsupported("operand 0", format!("{ty} is looked for among {count} keys")));
    }
    let axis = ty.rank() as i64;
    let apart = walk.unsqueezed(x, &[axis])?;
    if by_bits && ty.dtype == DType::F32 {
        let apart = walk.op_with("BitCast", &Attributes::new().dtype("to", DType::I32), &[apart])?;
        // The keys are attributes, whose zeros and NaNs nobody computes.
        let bits: Vec<i32> = keys.to_f64s().iter().map(|&key| (key as f32).to_bits() as i32).collect();
        let numbers = walk.integers(DType::I32, &[count], |i| bits[i].into())?;
        let is = walk.op("Equal", &[apart, numbers])?;
        return picked(walk, is, table, [axis, count]);
    }
    let numbers = walk.push_constant(Arc::new(keys.clone()), None)?;
    let numbers = walk.reshaped(numbers, &[count])?;
    let mut is = walk.op("Equal", &[apart, numbers])?;
    if ty.dtype.is_float() && keys.to_f64s().iter().any(|key| key.is_nan()) {
        let (x_is_nan, key_is_nan) = (walk.op("IsNaN", &[apart])?, walk.op("IsNaN", &[numbers])?);
        let both = walk.op("And", &[x_is_nan, key_is_nan])?;
        is = walk.op("Or", &[is, both])?;
    }
    picked(walk, is, table, [axis, count])
}

/// From a table, the value in the place of the last truth on an axis of this size, or the one behind them all.
fn picked(walk: &mut Walk<'_, '_>, is: Value, table: Value, [axis, count]: [i64; 2]) -> Result<Value, Error> {
    let is = walk.cast(is, DType::I32)?;
    let last = Attributes::new().int("axis", axis).int("keepdims", 0).int("select_last_index", 1);
    let place = walk.op_with("ArgMax", &last, &[is])?;
    let all = Attributes::new().ints("axes", &[axis]).int("keepdims", 0);
    let found = walk.op_with("ReduceMax", &all, &[is])?;
    let found = walk.cast(found, DType::Bool)?;
    let behind = walk.integers(DType::I64, &[], |_| count.into())?;
    let place = walk.op("Where", &[found, place, behind])?;
    walk.op("Gather", &[table, place])
}
