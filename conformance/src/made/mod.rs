//! Problems made by hand: the ends of number formats, shapes at which kernels go another way, and what the text of an
//! operator says that is easy to overlook.
//!
//! Each is one use of an operator, on every dtype that it takes, but for the programs. What is right is left to the reference.

mod casts;
mod elementwise;
mod linear;
mod movement;
mod nn;
mod programs;
mod quantized;
mod reduction;

use ir::{Attributes, DType, Operation, Tensor, Type};
use ops::Op;

use crate::problem::Problem;

/// All of them.
pub fn all() -> Vec<Problem> {
    let mut sheet = Sheet::default();
    elementwise::write(&mut sheet);
    casts::write(&mut sheet);
    movement::write(&mut sheet);
    linear::write(&mut sheet);
    reduction::write(&mut sheet);
    nn::write(&mut sheet);
    quantized::write(&mut sheet);
    programs::write(&mut sheet);
    sheet.0
}

/// The problems so far.
#[derive(Default)]
struct Sheet(Vec<Problem>);

impl Sheet {
    /// One use of an operator, named for what is special about it and for its first dtype. Nothing is added where ONNX does not
    /// allow the dtypes: a problem is stated for a list of them.
    fn add(&mut self, operator: &str, about: &str, attributes: &Attributes, operands: &[Option<&Tensor>]) {
        let op = Op::parse(operator, attributes)
            .unwrap_or_else(|| panic!("{operator} is registered"))
            .unwrap_or_else(|e| panic!("{operator} {about}: {e}"));
        let dtype = operands.iter().flatten().next().map_or("", |tensor| tensor.dtype().name());
        let name = [operator, about, dtype].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        self.0.extend(Problem::alone(name.join(" "), &op, operands));
    }

    /// One use of an operator without attributes, all of whose operands are there.
    fn plain(&mut self, operator: &str, about: &str, operands: &[&Tensor]) {
        self.with(operator, about, &none(), operands);
    }

    /// One use of an operator, all of whose operands are there.
    fn with(&mut self, operator: &str, about: &str, attributes: &Attributes, operands: &[&Tensor]) {
        let operands: Vec<_> = operands.iter().copied().map(Some).collect();
        self.add(operator, about, attributes, &operands);
    }
}

/// No attributes.
fn none() -> Attributes {
    Attributes::new()
}

/// Numbers in a shape.
fn tensor(dtype: DType, shape: &[i64], values: &[f64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(dtype, shape), |i| values[i])
}

/// Numbers in a row.
fn row(dtype: DType, values: &[f64]) -> Tensor {
    tensor(dtype, &[values.len() as i64], values)
}

/// Integers in a shape; what does not fit the dtype loses its high bits.
fn integers(dtype: DType, shape: &[i64], values: &[i128]) -> Tensor {
    Tensor::from_i128_fn(&Type::new(dtype, shape), |i| values[i])
}

/// Integers in a row.
fn integer_row(dtype: DType, values: &[i128]) -> Tensor {
    integers(dtype, &[values.len() as i64], values)
}

/// 0, 1, 2, …
fn count(dtype: DType, shape: &[i64]) -> Tensor {
    Tensor::from_i128_fn(&Type::new(dtype, shape), |i| i as i128)
}

/// A smooth, sign-changing sequence.
fn wave(dtype: DType, shape: &[i64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(dtype, shape), |i| ((i * 37 % 101) as f64 - 50.0) / 16.0)
}

/// Numbers between 0.9 and 1.1: a logarithm can be taken of them, and the product of many stays a normal number.
fn near_one(dtype: DType, shape: &[i64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(dtype, shape), |i| 0.9 + (i * 37 % 101) as f64 / 505.0)
}
