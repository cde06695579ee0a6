//! MeanVarianceNormalization, in two passes.

use ops::nn::MeanVariance;

use crate::cpu::call::Call;
use crate::cpu::element::{Real, dispatch_real};
use crate::cpu::error::Outputs;
use crate::cpu::lanes::{Lanes, sum_of};
use crate::cpu::strided::axis_index;

/// What ONNX's function body adds to the standard deviation.
const EPSILON: f64 = 1e-9;

pub(crate) fn run(op: &MeanVariance, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    // No axes named means all of them, as for ONNX's ReduceMean, by which the operator is defined.
    let axes = match op.axes.as_slice() {
        [] => (0..shape.len()).collect(),
        axes => axes.iter().map(|&a| axis_index(a, shape.len())).collect::<Result<Vec<_>, _>>()?,
    };
    let lanes = Lanes::new(shape, &axes);
    dispatch_real!(c.dtype(0)?, T => c.only(lanes.map(&c.elements::<T>(0)?, &standardize)))
}

fn standardize<R: Real>(lane: &mut [R]) {
    let count = R::from_count(lane.len());
    // Twice: the second mean is what the first one's rounding left over.
    for _ in 0..2 {
        let mean = sum_of(lane, |x| x).div(count);
        for x in lane.iter_mut() {
            *x = x.sub(mean);
        }
    }
    let deviation = sum_of(lane, |x| x.mul(x)).div(count).sqrt().add(R::from_f64(EPSILON));
    for x in lane.iter_mut() {
        *x = x.div(deviation);
    }
}
