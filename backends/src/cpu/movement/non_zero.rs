//! Places of elements that are not zero.

use ir::{DType, Tensor};

use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    let x = c.tensor(0)?;
    let found: Vec<usize> = places(x);
    if c.output(0)?.shape.get(1) != Some(&(found.len() as i64)) {
        return Err(CpuError::Invalid("its operand has another number of elements that are not zero"));
    }
    let mut columns = Vec::with_capacity(x.shape().len() * found.len());
    let mut inner = x.len();
    for &extent in x.shape() {
        inner /= extent.max(1);
        columns.extend(found.iter().map(|&place| (place / inner % extent) as i64));
    }
    c.only(columns)
}

fn places(x: &Tensor) -> Vec<usize> {
    let at = |is_zero: &dyn Fn(usize) -> bool| (0..x.len()).filter(|&i| !is_zero(i)).collect();
    if x.dtype() == DType::Bool || !x.dtype().is_float() {
        let values = x.to_i128s();
        return at(&|i| values[i] == 0);
    }
    let values = x.to_f64s();
    at(&|i| values[i] == 0.0)
}
