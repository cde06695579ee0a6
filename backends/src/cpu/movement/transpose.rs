//! Transpose: a walk whose strides are permuted.

use ops::movement::Transpose;

use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{Rows, dense};

pub(crate) fn run(op: &Transpose, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let order: Vec<usize> = match &op.perm {
        Some(perm) => perm.iter().map(|&a| a as usize).collect(),
        None => (0..shape.len()).rev().collect(),
    };
    let from = dense(shape);
    let strides: Option<Vec<isize>> = order.iter().map(|&a| from.get(a).copied()).collect();
    let strides = strides.filter(|s| s.len() == shape.len());
    let strides = strides.ok_or(CpuError::Invalid("perm does not name every axis"))?;
    c.walk(0, &Rows::new(&c.output(0)?.extents(), &[strides]))
}
