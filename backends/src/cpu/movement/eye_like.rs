//! EyeLike: ones where the columns are as far along as the rows are down.

use ir::Tensor;
use ops::movement::EyeLike;

use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(op: EyeLike, c: &Call<'_>) -> Outputs {
    let &[_, columns] = c.shape(0)? else { return Err(CpuError::Invalid("its operand is no matrix")) };
    let is_one = |place: usize| (place % columns) as i64 == ((place / columns) as i64).saturating_add(op.k);
    Ok(vec![Tensor::from_i128_fn(c.output(0)?, |place| i128::from(is_one(place)))])
}
