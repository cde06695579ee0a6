//! The runs of a search: plain numbers, and how often a step was undefined.

use ir::{DType, Tensor};
use ops::plain::{self, Plain, Undefined};
use ops::{Call, Data, Op};

use interp::walk::System;

/// Plain values, whose undefined steps are counted.
pub(crate) struct Watched<'u>(pub(crate) &'u Undefined);

impl<'u> System for Watched<'u> {
    type A = Plain<'u>;

    fn arith(&self, dtype: DType) -> Plain<'u> {
        Plain::counting(dtype, self.0)
    }

    fn load(&self, tensor: &Tensor) -> Data<Plain<'u>> {
        plain::load(tensor)
    }

    fn eval(&self, op: &Op, call: &Call<'_, Plain<'u>>) -> Vec<Data<Plain<'u>>> {
        plain::eval(op, call)
    }

    fn are_same(&self, one: &Data<Plain<'u>>, other: &Data<Plain<'u>>) -> bool {
        match (one, other) {
            (Data::Real(x), Data::Real(y)) => x.iter().zip(y).all(|(x, y)| x.to_bits() == y.to_bits()),
            (Data::Int(x), Data::Int(y)) => x == y,
            (Data::Real(_), Data::Int(_)) | (Data::Int(_), Data::Real(_)) => false,
        }
    }

    fn store(&self, _: &Plain<'u>, data: &mut Data<Plain<'u>>, dtype: DType, _: bool) {
        plain::settle(data, dtype);
    }
}
