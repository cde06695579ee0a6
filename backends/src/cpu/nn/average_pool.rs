//! AveragePool: sums over one cell of the kernel after the other, then divided.

use ops::nn::AveragePool;

use super::window::Images;
use crate::cpu::call::Call;
use crate::cpu::element::{Float, Number, Numeric, dispatch_real};
use crate::cpu::error::Outputs;

pub(crate) fn run(op: &AveragePool, c: &Call<'_>) -> Outputs {
    dispatch_real!(c.dtype(0)?, T => average_pool::<T>(op, c))
}

fn average_pool<T: Float>(op: &AveragePool, c: &Call<'_>) -> Outputs {
    let (x, images) = (c.elements::<T>(0)?, Images::of(c, &op.pool)?);
    let counts = counts(&images, op.count_include_pad);
    let mut y = Vec::with_capacity(x.len() / images.area.max(1) * images.positions);
    for image in x.chunks_exact(images.area.max(1)) {
        let mut sums = vec![<T as Numeric>::Work::ZERO; images.positions];
        for m in images.cells.iter().flatten() {
            sums[m.position] = sums[m.position].add(image[m.element].load());
        }
        let means = sums.into_iter().zip(&counts).map(|(s, &n)| s.div(Number::from_count(n)));
        y.extend(means.map(T::store));
    }
    c.only(y)
}

/// How many elements each position is the mean of.
fn counts(images: &Images, with_padding: bool) -> Vec<usize> {
    if with_padding {
        return images.sliding.padded_counts();
    }
    let mut counts = vec![0; images.positions];
    images.cells.iter().flatten().for_each(|m| counts[m.position] += 1);
    counts
}
