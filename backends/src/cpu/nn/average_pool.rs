//! AveragePool: sums over one cell of the kernel after the other, then divided.

use ops::nn::AveragePool;

use super::window::Sliding;
use crate::cpu::call::Call;
use crate::cpu::element::{Float, Number, Numeric, dispatch_float};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::sizes;

pub(crate) fn run(op: &AveragePool, c: &Call<'_>) -> Outputs {
    dispatch_float!(c.dtype(0)?, T => average_pool::<T>(op, c))
}

fn average_pool<T: Float>(op: &AveragePool, c: &Call<'_>) -> Outputs {
    let (x, shape, output) = (c.elements::<T>(0)?, c.shape(0)?, c.output(0)?.extents());
    if shape.len() < 2 || output.len() != shape.len() {
        return Err(CpuError::Invalid("it has no images"));
    }
    let sliding = Sliding::new(&op.pool.window, &shape[2..], &sizes(&op.pool.kernel_shape), &output[2..])?;
    let cells = sliding.meetings();
    let (area, positions): (usize, usize) = (shape[2..].iter().product(), output[2..].iter().product());
    let mut counts = vec![0; positions];
    if op.count_include_pad {
        counts = sliding.padded_counts();
    } else {
        cells.iter().flatten().for_each(|m| counts[m.position] += 1);
    }
    let mut y = Vec::with_capacity(output.iter().product());
    for image in x.chunks_exact(area.max(1)) {
        let mut sums = vec![<T as Numeric>::Work::ZERO; positions];
        for m in cells.iter().flatten() {
            sums[m.position] = sums[m.position].add(image[m.element].load());
        }
        let means = sums.into_iter().zip(&counts).map(|(s, &n)| s.div(Number::from_count(n)));
        y.extend(means.map(T::store));
    }
    c.only(y)
}
