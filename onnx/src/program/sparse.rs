//! Sparse initializers: what they mean is a dense tensor, and so they are read; what a model says in sparse form it says in that
//! form when it is written again.
//!
//! onnx.proto, SparseTensorProto: "The sequence of non-default values are encoded as a tensor of shape [NNZ]. The
//! default-value is zero for numeric tensors". The indices are linear ones of shape [NNZ], or tuples of shape [NNZ,
//! rank], and "must appear in ascending order without duplication". That axes are there and not empty, ONNX's checker
//! asks for.

use ir::{DType, Tensor, Type};

use super::{Initializer, Program, ValueId};
use crate::amount::MOST_ELEMENTS;
use crate::external::External;
use crate::proto::{SparseTensorProto, TensorProto};
use crate::{Error, tensor};

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

/// How the places of values are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Indices {
    /// Each by its number among all elements.
    Linear,
    /// Each by its number along each axis.
    Tuples,
}

impl Program {
    /// The program with some initializers of the main graph in sparse form: of those that have axes, none of which is
    /// empty, and elements that this program has types for. `None` where none is meant.
    pub fn with_sparse_initializers(
        &self,
        mut meant: impl FnMut(&TensorProto) -> Option<Indices>,
    ) -> Option<Self> {
        let mut program = self.clone();
        let is_input = |value| self.main.body.inputs.iter().any(|port| port.value == value);
        for Initializer { value, tensor } in self.main.body.initializers.iter().filter(|i| !is_input(i.value))
        {
            let Ok(numbers) = tensor::from_proto(tensor, External::Refuse) else { continue };
            let is_fit = !numbers.shape().is_empty() && !numbers.is_empty();
            let Some(indices) = is_fit.then(|| meant(tensor)).flatten() else { continue };
            let held = of(&numbers, indices);
            // The elements may lie in another field than the one that is read.
            if message(&held).is_ok_and(|read| TensorProto { name: None, ..read } == *tensor) {
                program.main.sparse.insert(*value, held);
            }
        }
        (program.main.sparse.len() > self.main.sparse.len()).then_some(program)
    }

    /// The program with dense initializers in place of the main graph's sparse ones; `None` where there are none.
    pub fn without_sparse_initializers(&self) -> Option<Self> {
        let mut program = self.clone();
        program.main.sparse.clear();
        (!self.main.sparse.is_empty()).then_some(program)
    }

    /// The first sparse initializer.
    pub fn first_sparse_initializer(&self) -> Option<ValueId> {
        self.main.sparse.keys().next().copied()
    }
}

/// A tensor in sparse form: its elements that are not 0. The lower of two zeros is not the default one.
fn of(tensor: &Tensor, indices: Indices) -> SparseTensorProto {
    let shape: Vec<i64> = tensor.shape().iter().map(|&size| size as i64).collect();
    let is_float = tensor.dtype().is_float();
    let (reals, whole) =
        if is_float { (tensor.to_f64s(), Vec::new()) } else { (Vec::new(), tensor.to_i128s()) };
    let is_there = |&at: &usize| if is_float { reals[at].to_bits() != 0 } else { whole[at] != 0 };
    let places: Vec<usize> = (0..tensor.len()).filter(is_there).collect();
    let ty = Type::new(tensor.dtype(), [places.len() as i64]);
    let values = if is_float {
        Tensor::from_f64_fn(&ty, |i| reals[places[i]])
    } else {
        Tensor::from_i128_fn(&ty, |i| whole[places[i]])
    };
    let (columns, numbers) = match indices {
        Indices::Linear => (None, places.iter().map(|&at| at as i64).collect::<Vec<_>>()),
        Indices::Tuples => {
            (Some(shape.len() as i64), places.iter().flat_map(|&at| tuple(at, &shape)).collect())
        }
    };
    let of_indices: Vec<i64> = std::iter::once(places.len() as i64).chain(columns).collect();
    let indices = Tensor::from_i128_fn(&Type::new(DType::I64, of_indices), |i| numbers[i].into());
    SparseTensorProto {
        values: Some(tensor::to_proto("", &values)),
        indices: Some(tensor::to_proto("", &indices)),
        dims: shape,
    }
}

/// The numbers of an element along each axis.
fn tuple(at: usize, shape: &[i64]) -> Vec<i64> {
    let mut rest = at as i64;
    let mut numbers: Vec<i64> = shape
        .iter()
        .rev()
        .map(|size| {
            let number = rest % size;
            rest /= size;
            number
        })
        .collect();
    numbers.reverse();
    numbers
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
    fn a_dense_tensor_in_sparse_form_is_read_as_that_one() {
        for text in
            ["f32[2, 3] {0.0, 1.5, 0.0, -0.0, 0.0, -2.0}", "i8[2, 1, 2] {0, 0, 7, 0}", "u8[3] {0, 0, 0}"]
        {
            let tensor: Tensor = text.parse().expect("a tensor");
            let [linear, tuples] = [Indices::Linear, Indices::Tuples].map(|indices| of(&tensor, indices));
            assert_eq!(dense(&linear).expect("a tensor").to_bytes(), tensor.to_bytes(), "{text}");
            assert_eq!(dense(&tuples).expect("a tensor").to_bytes(), tensor.to_bytes(), "{text}");
            assert_eq!(linear.values, tuples.values);
        }
        let tensor: Tensor = "f32[2, 3] {0.0, 1.5, 0.0, 0.0, 0.0, -2.0}".parse().expect("a tensor");
        assert_eq!(
            of(&tensor, Indices::Tuples),
            SparseTensorProto {
                values: Some(tensor::to_proto("", &"f32[2] {1.5, -2.0}".parse().expect("values"))),
                indices: Some(tensor::to_proto("", &"i64[2, 2] {0, 1, 1, 2}".parse().expect("indices"))),
                dims: vec![2, 3],
            }
        );
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
