//! Sparse initializers: what they mean is a dense tensor, and so they are read; what a model says in sparse form it says in that
//! form when it is written again.
//!
//! onnx.proto, SparseTensorProto: "The sequence of non-default values are encoded as a tensor of shape [NNZ]. The default-value is zero for
//! numeric tensors". The indices are linear ones of shape [NNZ], or tuples of shape [NNZ, rank], and "must appear in ascending
//! order without duplication". That axes are there and not empty, ONNX's checker asks for.

use ir::{DType, Tensor, Type};

use crate::external::External;
use crate::proto::{SparseTensorProto, TensorProto};
use crate::{Error, tensor};

/// How many elements a sparse tensor may have, which the size of a file does not bound.
const MOST_ELEMENTS: i64 = 1 << 24;

/// How many bytes the sparse initializers of a model may have together, written out.
pub(super) const MOST_TOGETHER: usize = 1 << 28;

/// The tensor that a sparse one means.
pub(crate) fn dense(proto: &SparseTensorProto) -> Result<Tensor, Error> {
    let values = part(proto.values.as_ref(), "values")?;
    let ty = Type::new(values.dtype(), proto.dims.clone());
    if ty.shape.is_empty() || ty.shape.iter().any(|&size| size <= 0) {
        return Err(Error::invalid(format!("dims {:?}", proto.dims), "there must be some, all positive"));
    }
    let count = ty.shape.iter().try_fold(1_i64, |count, &size| count.checked_mul(size));
    if count.is_none_or(|count| count > MOST_ELEMENTS) {
        let why = format!("a sparse tensor is read up to {MOST_ELEMENTS} elements");
        return Err(Error::unsupported(format!("dims {:?}", proto.dims), why));
    }
    let places = places(proto, &values, &ty)?;
    let at = |i: usize| places.binary_search(&(i as i64)).ok();
    Ok(if ty.dtype.is_float() {
        let values = values.to_f64s();
        Tensor::from_f64_fn(&ty, |i| at(i).map_or(0.0, |k| values[k]))
    } else {
        let values = values.to_i128s();
        Tensor::from_i128_fn(&ty, |i| at(i).map_or(0, |k| values[k]))
    })
}

/// The message of that tensor, with the name that its values have.
pub(super) fn message(proto: &SparseTensorProto) -> Result<TensorProto, Error> {
    let dense = dense(proto).map_err(|e| e.inside(format!("sparse_initializer `{}`", name(proto))))?;
    let name = proto.values.as_ref().and_then(|values| values.name.clone());
    Ok(TensorProto { name, ..tensor::to_proto("", &dense) })
}

/// The name of a sparse initializer, which is that of its values.
pub(crate) fn name(proto: &SparseTensorProto) -> &str {
    proto.values.as_ref().map_or("", TensorProto::name)
}

fn part(held: Option<&TensorProto>, what: &str) -> Result<Tensor, Error> {
    let held = held.ok_or_else(|| Error::invalid(what, "there are none"))?;
    tensor::from_proto(held, External::Refuse).map_err(|e| e.inside(what))
}

/// Where the values lie, by linear indices.
fn places(proto: &SparseTensorProto, values: &Tensor, ty: &Type) -> Result<Vec<i64>, Error> {
    let wrong = |why: String| Err(Error::invalid("indices", why));
    let &[count] = values.shape() else {
        return Err(Error::invalid("values", format!("they must have one axis, but are {}", values.ty())));
    };
    if proto.indices.is_none() && count == 0 {
        return Ok(Vec::new());
    }
    let indices = part(proto.indices.as_ref(), "indices")?;
    let list: Vec<i64> = indices.to_i128s().into_iter().map(|index| index as i64).collect();
    let sizes = match *indices.shape() {
        [there] if there == count => vec![ty.count()],
        [there, rank] if there == count && rank == ty.rank() => ty.shape.clone(),
        _ => return wrong(format!("they are {}, of {count} values of a tensor {ty}", indices.ty())),
    };
    if indices.dtype() != DType::I64 {
        return wrong(format!("they must be int64, but are {}", indices.ty()));
    }
    let mut places: Vec<i64> = Vec::with_capacity(count);
    for tuple in list.chunks(sizes.len()) {
        if tuple.iter().zip(&sizes).any(|(index, size)| !(0..*size).contains(index)) {
            return wrong(format!("{tuple:?} is out of range in {ty}"));
        }
        let place = tuple.iter().zip(&sizes).fold(0, |place, (index, size)| place * size + index);
        if places.last().is_some_and(|&last| last >= place) {
            return wrong(format!("{tuple:?} is not behind the one before it, as ascending order has it"));
        }
        places.push(place);
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse(dims: &[i64], indices: &str, values: &str) -> SparseTensorProto {
        let held = |text: &str| Some(tensor::to_proto("w", &text.parse().expect("a tensor")));
        SparseTensorProto { values: held(values), indices: held(indices), dims: dims.to_vec() }
    }

    fn read(proto: &SparseTensorProto) -> Result<String, String> {
        dense(proto).map(|tensor| tensor.to_string()).map_err(|e| e.to_string())
    }

    #[test]
    fn both_formats_mean_the_same() {
        let wanted: Tensor = "f32[2, 3] {0.0, 1.5, 0.0, 0.0, 0.0, -2.0}".parse().expect("a tensor");
        let linear = sparse(&[2, 3], "i64[2] {1, 5}", "f32[2] {1.5, -2.0}");
        let tuples = sparse(&[2, 3], "i64[2, 2] {0, 1, 1, 2}", "f32[2] {1.5, -2.0}");
        assert_eq!(dense(&linear).expect("a tensor"), wanted);
        assert_eq!(dense(&tuples).expect("a tensor"), wanted);
        let none = SparseTensorProto { indices: None, ..sparse(&[2], "i64[0] {}", "i32[0] {}") };
        assert_eq!(dense(&none).expect("a tensor"), "i32[2] {0, 0}".parse().expect("a tensor"));
    }

    #[test]
    fn what_breaks_the_format_is_said() {
        let says = |proto: &SparseTensorProto, words: &str| {
            let why = read(proto).expect_err("it is not valid");
            assert!(why.contains(words), "`{words}` is not in: {why}");
        };
        says(&sparse(&[2, 3], "i64[2] {1, 6}", "f32[2] {1.0, 2.0}"), "out of range");
        says(&sparse(&[2, 3], "i64[1] {-1}", "f32[1] {1.0}"), "out of range");
        says(&sparse(&[2, 3], "i64[1, 2] {0, 3}", "f32[1] {1.0}"), "out of range");
        says(&sparse(&[2, 3], "i64[2] {5, 1}", "f32[2] {1.0, 2.0}"), "ascending");
        says(&sparse(&[2, 3], "i64[2] {1, 1}", "f32[2] {1.0, 2.0}"), "ascending");
        says(&sparse(&[2, 3], "i64[1] {1}", "f32[2] {1.0, 2.0}"), "of 2 values");
        says(&sparse(&[2, 3], "i32[1] {1}", "f32[1] {1.0}"), "int64");
        says(&sparse(&[2, 3], "i64[1] {1}", "f32[1, 1] {1.0}"), "one axis");
        says(&sparse(&[], "i64[1] {0}", "f32[1] {1.0}"), "positive");
        says(&sparse(&[1 << 40, 1 << 40], "i64[1] {0}", "f32[1] {1.0}"), "elements");
        says(&SparseTensorProto::default(), "values");
    }
}
