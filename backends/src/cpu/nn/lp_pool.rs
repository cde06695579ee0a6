//! LpPool: powers summed over one cell of the kernel after the other, then the root.

use ops::nn::LpPool;

use super::window::Images;
use crate::cpu::call::Call;
use crate::cpu::element::{Float, Number, Numeric, Real, dispatch_real};
use crate::cpu::error::Outputs;

pub(crate) fn run(op: &LpPool, c: &Call<'_>) -> Outputs {
    dispatch_real!(c.dtype(0)?, T => lp_pool::<T>(op, c))
}

fn lp_pool<T: Float>(op: &LpPool, c: &Call<'_>) -> Outputs {
    let (x, images) = (c.elements::<T>(0)?, Images::of(c, &op.pool)?);
    let mut y = Vec::with_capacity(x.len() / images.area.max(1) * images.positions);
    for image in x.chunks_exact(images.area.max(1)) {
        let mut sums = vec![<T as Numeric>::Work::ZERO; images.positions];
        for m in images.cells.iter().flatten() {
            sums[m.position] = sums[m.position].add(power(op.p, image[m.element].load()));
        }
        y.extend(sums.into_iter().map(|sum| T::store(root(op.p, sum))));
    }
    c.only(y)
}

/// |x|ᵖ
pub(super) fn power<R: Real>(p: i64, x: R) -> R {
    match p {
        1 => x.abs(),
        2 => x.mul(x),
        p => x.abs().pow(R::from_f64(p as f64)),
    }
}

/// x^(1/p)
pub(super) fn root<R: Real>(p: i64, x: R) -> R {
    match p {
        1 => x,
        2 => x.sqrt(),
        p => x.pow(R::ONE.div(R::from_f64(p as f64))),
    }
}
