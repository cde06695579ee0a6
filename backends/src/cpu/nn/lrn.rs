//! LRN: each element times a negative power of the squares of its neighbours among the channels.

use ops::nn::Lrn;

use crate::cpu::call::Call;
use crate::cpu::element::{Real, dispatch_real};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::lanes::{Lanes, sum_of};

pub(crate) fn run(op: Lrn, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    if shape.len() < 2 {
        return Err(CpuError::Invalid("it has no channels"));
    }
    let lanes = Lanes::new(shape, &[1]);
    dispatch_real!(c.dtype(0)?, T => c.only(lanes.map(&c.elements::<T>(0)?, &|lane| normalize(op, lane))))
}

fn normalize<R: Real>(op: Lrn, lane: &mut [R]) {
    let squares: Vec<R> = lane.iter().map(|x| x.mul(*x)).collect();
    let weight = R::from_f64(f64::from(op.alpha) / op.size as f64);
    let (bias, exponent) = (R::from_attribute(op.bias), R::from_attribute(-op.beta));
    // Of the `size` channels, the odd one out of an even number lies after.
    let size = usize::try_from(op.size).unwrap_or(1).max(1);
    let (before, after) = (size.div_ceil(2) - 1, size / 2);
    for (i, x) in lane.iter_mut().enumerate() {
        let region = &squares[i.saturating_sub(before)..i.saturating_add(after + 1).min(squares.len())];
        *x = x.mul(sum_of(region, |s| s).mul(weight).add(bias).pow(exponent));
    }
}
