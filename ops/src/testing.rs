//! Tests beside the operators: [tables](table) of calls with what they give, and short spellings for what no table says.

mod lower_ends;
pub(crate) mod table;

use ir::{Attributes, DType, Tensor, Type};

use crate::family::Family;
use crate::operator::infer;
use crate::plain;
use crate::rule::Reject;
use crate::spec::Spec;

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

/// The operator of that name, one of the family's, with these attributes.
pub(crate) fn parse<F: Family>(name: &str, attributes: &Attributes) -> F {
    let (function, _) = F::ROWS.iter().find(|(_, row)| row.name == name).expect("a name of the family's");
    F::parse(*function, attributes).expect("legal attributes")
}

/// The outputs on operands, some of which may be absent.
pub(crate) fn evaluate<F: Family>(op: &F, operands: &[Option<&Tensor>]) -> Result<Vec<Tensor>, Reject> {
    let spec = Spec::new(&F::ROWS[op.row()].1, 0);
    let types: Vec<Option<Type>> = operands.iter().map(|t| t.map(Tensor::ty)).collect();
    let types: Vec<Option<&Type>> = types.iter().map(Option::as_ref).collect();
    let outputs = infer(op, &op.attributes(), &spec, &types)?;
    Ok(plain::evaluate_by(&|call| op.eval(call), operands, &outputs))
}

/// The outputs on operands that are all there.
#[allow(clippy::needless_pass_by_value, reason = "a test makes an operator for one call")]
pub(crate) fn outputs(op: impl Family, operands: &[&Tensor]) -> Result<Vec<Tensor>, Reject> {
    evaluate(&op, &operands.iter().copied().map(Some).collect::<Vec<_>>())
}

/// The elements of the first output on operands that are all there.
pub(crate) fn run(op: impl Family, operands: &[&Tensor]) -> Vec<f64> {
    values(&outputs(op, operands).expect("a well-typed call")[0])
}
