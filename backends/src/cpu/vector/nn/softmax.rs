//! Softmax and LogSoftmax, lane by lane.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]

use ir::DType;
use ir::tensor::Element;
use ops::nn::{Softmax, SoftmaxFn};

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Real};
use crate::cpu::error::Outputs;
use crate::cpu::strided::{axis_index, split_at};
use crate::cpu::vector::fold::Fold;
use crate::cpu::vector::functions;
use crate::cpu::vector::room::each_part;
use crate::cpu::vector::wide::wide;

/// Floats with an exponential that vectorises where there is one.
pub(crate) trait Exponential: Real {
    /// eˣ
    fn exponential(self) -> Self;
}

impl Exponential for f32 {
    #[inline(always)]
    fn exponential(self) -> Self {
        functions::exp(self)
    }
}

impl Exponential for f64 {
    #[inline(always)]
    fn exponential(self) -> Self {
        self.exp()
    }
}

pub(crate) fn run(op: Softmax, c: &Call<'_>) -> Option<Outputs> {
    if op.function == SoftmaxFn::Hardmax {
        return None;
    }
    match c.dtype(0).ok()? {
        DType::F32 => Some(along::<f32>(op, c)),
        DType::F64 => Some(along::<f64>(op, c)),
        _ => None,
    }
}

/// How many lanes are taken together where their elements do not lie side by side: as many as share a line of a cache.
const TOGETHER: usize = 16;

fn along<T: Element + Exponential>(op: Softmax, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let (_, n, inner) = split_at(shape, axis_index(op.axis, shape.len())?);
    let mut y = c.elements::<T>(0)?.into_owned();
    let lane = |lane: &mut [T]| match op.function {
        SoftmaxFn::LogSoftmax => log_softmax(lane),
        SoftmaxFn::Softmax | SoftmaxFn::Hardmax => softmax(lane),
    };
    let unit = n * inner;
    if unit == 0 {
        return c.only(y);
    }
    each_part(c.threads(), &mut y, unit, 8 * unit, |_, part| {
        if inner == 1 {
            wide(#[inline(always)] || part.chunks_exact_mut(n).for_each(lane));
            return;
        }
        let mut lanes = vec![T::ZERO; TOGETHER * n];
        for block in part.chunks_exact_mut(unit) {
            for first in (0..inner).step_by(TOGETHER) {
                let columns = first..inner.min(first + TOGETHER);
                for (k, row) in block.chunks_exact(inner).enumerate() {
                    for (j, &x) in row[columns.clone()].iter().enumerate() {
                        lanes[j * n + k] = x;
                    }
                }
                wide(#[inline(always)] || lanes.chunks_exact_mut(n).take(columns.len()).for_each(lane));
                for (k, row) in block.chunks_exact_mut(inner).enumerate() {
                    for (j, y) in row[columns.clone()].iter_mut().enumerate() {
                        *y = lanes[j * n + k];
                    }
                }
            }
        }
    });
    c.only(y)
}

#[inline(always)]
fn largest<T: Number>(lane: &[T]) -> T {
    Fold { neutral: T::LOWEST, of: #[inline(always)] |x: T| x, combine: T::larger }.lane(lane)
}

/// eˣ times the reciprocal of the sum of eˣ, about the largest number so that nothing overflows.
#[inline(always)]
fn softmax<T: Exponential>(lane: &mut [T]) {
    let top = largest(lane);
    for x in lane.iter_mut() {
        *x = x.sub(top).exponential();
    }
    let scale = T::ONE.div(Fold::sum(#[inline(always)] |x: T| x).lane(lane));
    for x in lane.iter_mut() {
        *x = x.mul(scale);
    }
}

/// x - ln Σ eˣ, about the largest number.
#[inline(always)]
fn log_softmax<T: Exponential>(lane: &mut [T]) {
    let top = largest(lane);
    let log = Fold::sum(#[inline(always)] |x: T| x.sub(top).exponential()).lane(lane).ln();
    for x in lane.iter_mut() {
        *x = x.sub(top).sub(log);
    }
}
