//! GlobalLpPool: powers summed pairwise, then the root.

use ops::nn::GlobalLpPool;

use super::lp_pool::{power, root};
use crate::cpu::call::Call;
use crate::cpu::element::{Numeric, dispatch_real};
use crate::cpu::error::Outputs;
use crate::cpu::lanes::{Lanes, sum_of};

pub(crate) fn run(op: GlobalLpPool, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let lanes = Lanes::new(shape, &(2..shape.len()).collect::<Vec<_>>());
    dispatch_real!(c.dtype(0)?, T => {
        c.only(lanes.reduce(&c.elements::<T>(0)?, &|xs| T::store(root(op.p, sum_of(xs, |x| power(op.p, x))))))
    })
}
