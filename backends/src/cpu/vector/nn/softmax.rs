//! Softmax and LogSoftmax, lane by lane.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]

use ir::DType;
use ir::tensor::Element;
use ops::nn::{Softmax, SoftmaxFn};

use crate::cpu::call::Call;
use crate::cpu::element::Real;
use crate::cpu::error::Outputs;
use crate::cpu::strided::{axis_index, split_at};
use crate::cpu::vector::fold::Fold;
use crate::cpu::vector::functions;
use crate::cpu::vector::room::{each_part, zeros};
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
    let (x, shape) = (c.elements::<T>(0)?, c.shape(0)?);
    let (_, n, inner) = split_at(shape, axis_index(op.axis, shape.len())?);
    let unit = n * inner;
    let mut y = zeros(T::ZERO, x.len());
    if unit == 0 {
        return c.only(y);
    }
    each_part(c.threads(), &mut y, unit, 8 * unit, &|first, part| {
        let x = &x[first * unit..];
        if inner == 1 {
            wide!({
                for (x, y) in x.chunks_exact(unit).zip(part.chunks_exact_mut(unit)) {
                    change(op.function, x, y);
                }
            });
            return;
        }
        let (mut from, mut to) = (vec![T::ZERO; TOGETHER * n], vec![T::ZERO; TOGETHER * n]);
        for (x, y) in x.chunks_exact(unit).zip(part.chunks_exact_mut(unit)) {
            for first in (0..inner).step_by(TOGETHER) {
                let columns = first..inner.min(first + TOGETHER);
                for (k, row) in x.chunks_exact(inner).enumerate() {
                    for (j, &x) in row[columns.clone()].iter().enumerate() {
                        from[j * n + k] = x;
                    }
                }
                wide!({
                    for (x, y) in from.chunks_exact(n).zip(to.chunks_exact_mut(n)).take(columns.len()) {
                        change(op.function, x, y);
                    }
                });
                for (k, row) in y.chunks_exact_mut(inner).enumerate() {
                    for (j, y) in row[columns.clone()].iter_mut().enumerate() {
                        *y = to[j * n + k];
                    }
                }
            }
        }
    });
    c.only(y)
}

#[inline(always)]
fn change<T: Exponential>(function: SoftmaxFn, x: &[T], y: &mut [T]) {
    match function {
        SoftmaxFn::LogSoftmax => log_softmax(x, y),
        SoftmaxFn::Softmax | SoftmaxFn::Hardmax => softmax(x, y),
    }
}

/// eˣ times the reciprocal of the sum of eˣ, about the largest number so that nothing overflows.
#[inline(always)]
fn softmax<T: Exponential>(x: &[T], y: &mut [T]) {
    let top = Fold::largest().lane(x);
    for (y, &x) in y.iter_mut().zip(x) {
        *y = x.sub(top).exponential();
    }
    let scale = T::ONE.div(Fold::total().lane(y));
    for y in y.iter_mut() {
        *y = y.mul(scale);
    }
}

/// x - ln Σ eˣ, about the largest number.
#[inline(always)]
fn log_softmax<T: Exponential>(x: &[T], y: &mut [T]) {
    let top = Fold::largest().lane(x);
    let log = Fold::sum(
        #[inline(always)]
        |x: T| x.sub(top).exponential(),
    )
    .lane(x)
    .ln();
    for (y, &x) in y.iter_mut().zip(x) {
        *y = x.sub(top).sub(log);
    }
}
