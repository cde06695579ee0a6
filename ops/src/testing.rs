//! Short spellings for the table tests beside the operators.

use ir::{Attributes, DType, Operation, Tensor, Type};

use crate::list::Op;
use crate::plain::evaluate;
use crate::rule::Reject;

/// A tensor from literal values.
pub(crate) fn tensor(dtype: DType, shape: &[i64], values: &[f64]) -> Tensor {
    let ty = Type::new(dtype, shape);
    assert_eq!(ty.count(), values.len() as i64, "as many values as the shape has places");
    if dtype.is_float() {
        Tensor::from_f64_fn(&ty, |i| values[i])
    } else {
        Tensor::from_i128_fn(&ty, |i| values[i] as i128)
    }
}

/// The elements of a tensor of any dtype.
pub(crate) fn values(tensor: &Tensor) -> Vec<f64> {
    if tensor.dtype().is_float() {
        tensor.to_f64s()
    } else {
        tensor.to_i128s().into_iter().map(|z| z as f64).collect()
    }
}

/// The operator of that name with these attributes.
pub(crate) fn parse(name: &str, attributes: &Attributes) -> Op {
    <Op as Operation>::parse(name, attributes).expect("a known name").expect("legal attributes")
}

/// The outputs on operands that are all there.
pub(crate) fn outputs(op: impl Into<Op>, operands: &[&Tensor]) -> Result<Vec<Tensor>, Reject> {
    evaluate(&op.into(), &operands.iter().copied().map(Some).collect::<Vec<_>>())
}

/// The elements of the first output on operands that are all there.
pub(crate) fn run(op: impl Into<Op>, operands: &[&Tensor]) -> Vec<f64> {
    values(&outputs(op, operands).expect("a well-typed call")[0])
}
