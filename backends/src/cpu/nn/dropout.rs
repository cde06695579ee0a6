//! Dropout: every element, and a mask that says so. In training that is one of the outcomes that there may be, in which what
//! stays makes up for what does not.

use ops::nn::Dropout;

use crate::cpu::call::Call;
use crate::cpu::element::{Float, Number, Real, dispatch_float};
use crate::cpu::error::Outputs;

pub(crate) fn run(op: Dropout, c: &Call<'_>) -> Outputs {
    dispatch_float!(c.dtype(0)?, T => dropout::<T>(op, c))
}

fn dropout<T: Float>(op: Dropout, c: &Call<'_>) -> Outputs {
    let x = c.elements::<T>(0)?;
    let trains = c.opt(2).is_some_and(|mode| mode.to_i128s().first().is_some_and(|&mode| mode != 0));
    let ratio = c.opt(1).and_then(|ratio| ratio.to_f64s().first().copied()).unwrap_or(0.5);
    let y = if trains {
        let share = T::Work::from_f64(1.0 - ratio);
        x.iter().map(|x| T::store(x.load().div(share))).collect()
    } else {
        x.to_vec()
    };
    let mut outputs = vec![c.store(0, y)?];
    if op.outputs == 2 {
        outputs.push(c.store(1, vec![true; x.len()])?);
    }
    Ok(outputs)
}
