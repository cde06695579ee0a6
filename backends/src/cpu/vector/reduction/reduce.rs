//! The Reduce operators but products, whose partial results may overflow in another order.

use std::borrow::Cow;

use ir::DType;
use ir::tensor::Element;
use ops::reduction::{Reduce, ReduceFn};

use crate::cpu::call::Call;
use crate::cpu::element::Number;
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::axis_index;
use crate::cpu::vector::fold::{Fold, grouped};
use crate::cpu::vector::movement::transpose;
use crate::cpu::vector::nn::softmax::Exponential;
use crate::cpu::vector::wide::wide;

pub(crate) fn run(op: &Reduce, c: &Call<'_>) -> Option<Outputs> {
    match c.dtype(0).ok()? {
        DType::F32 => of_floats::<f32>(op, c),
        DType::F64 => of_floats::<f64>(op, c),
        DType::I32 => of_integers::<i32>(op, c),
        DType::I64 => of_integers::<i64>(op, c),
        _ => None,
    }
}

/// What is reduced: the elements as `[outer, n, inner]`.
struct Lanes<'a, T: Clone> {
    elements: Cow<'a, [T]>,
    sizes: [usize; 3],
    threads: usize,
}

impl<'a, T: Element + Number> Lanes<'a, T> {
    fn new(op: &Reduce, c: &Call<'a>) -> Result<Self, CpuError> {
        let (shape, elements, threads) = (c.shape(0)?, c.elements::<T>(0)?, c.threads());
        let axes = axes(op, shape.len())?;
        if let Some(sizes) = grouped(shape, &axes) {
            return Ok(Self { elements, sizes, threads });
        }
        let (kept, reduced): (Vec<usize>, Vec<usize>) =
            (0..shape.len()).partition(|axis| !axes.contains(axis));
        let size = |axes: &[usize]| axes.iter().map(|&axis| shape[axis]).product();
        let sizes = [size(&kept), size(&reduced), 1];
        let order: Vec<i64> = kept.into_iter().chain(reduced).map(|axis| axis as i64).collect();
        let elements = transpose::moved(&elements, shape, &order, threads)?.into();
        Ok(Self { elements, sizes, threads })
    }

    fn fold(&self, fold: Fold<T, impl Fn(T) -> T + Copy + Sync, impl Fn(T, T) -> T + Copy + Sync>) -> Vec<T> {
        fold.lanes(self.threads, &self.elements, self.sizes)
    }
}

/// The axes that are combined.
fn axes(op: &Reduce, rank: usize) -> Result<Vec<usize>, CpuError> {
    match op.axes.as_deref() {
        Some(axes) if !axes.is_empty() => axes.iter().map(|&axis| axis_index(axis, rank)).collect(),
        _ if op.noop_with_empty_axes => Ok(Vec::new()),
        _ => Ok((0..rank).collect()),
    }
}

fn of_floats<T: Element + Exponential>(op: &Reduce, c: &Call<'_>) -> Option<Outputs> {
    let lanes = match Lanes::<T>::new(op, c) {
        Ok(lanes) => lanes,
        Err(e) => return Some(Err(e)),
    };
    let then = |mut all: Vec<T>, f: &dyn Fn(T) -> T| {
        for y in &mut all {
            *y = f(*y);
        }
        all
    };
    let squares = || lanes.fold(Fold::sum(|x: T| x.mul(x)));
    Some(c.only(match op.function {
        ReduceFn::Mean => {
            let count = T::from_count(lanes.sizes[1]);
            then(lanes.fold(Fold::total()), &|sum| sum.div(count))
        }
        ReduceFn::L2 => then(squares(), &T::sqrt),
        ReduceFn::LogSum => then(lanes.fold(Fold::total()), &T::ln),
        ReduceFn::LogSumExp if lanes.sizes[2] == 1 => lanes.log_sum_exp(),
        ReduceFn::LogSumExp => return None,
        _ => return of_numbers(op.function, c, &lanes),
    }))
}

fn of_integers<T: Element + Number>(op: &Reduce, c: &Call<'_>) -> Option<Outputs> {
    match Lanes::<T>::new(op, c) {
        Ok(lanes) => of_numbers(op.function, c, &lanes),
        Err(e) => Some(Err(e)),
    }
}

fn of_numbers<T: Element + Number>(
    function: ReduceFn,
    c: &Call<'_>,
    lanes: &Lanes<'_, T>,
) -> Option<Outputs> {
    Some(c.only(match function {
        ReduceFn::Sum => lanes.fold(Fold::total()),
        ReduceFn::SumSquare => lanes.fold(Fold::sum(|x: T| x.mul(x))),
        ReduceFn::L1 => lanes.fold(Fold::sum(T::abs)),
        ReduceFn::Max => lanes.fold(Fold::largest()),
        ReduceFn::Min => lanes.fold(Fold::smallest()),
        ReduceFn::Mean | ReduceFn::Prod | ReduceFn::L2 | ReduceFn::LogSum | ReduceFn::LogSumExp => {
            return None;
        }
    }))
}

impl<T: Element + Exponential> Lanes<'_, T> {
    /// ln Σ eˣ, about the largest number so that nothing overflows.
    fn log_sum_exp(&self) -> Vec<T> {
        let [outer, n, _] = self.sizes;
        let tops = self.fold(Fold::largest());
        let one = |i: usize| {
            let top = tops[i];
            // Nothing at all, or nothing finite, has no distance from its largest.
            if top.abs() == T::INFINITY {
                return top;
            }
            let lane = &self.elements[i * n..(i + 1) * n];
            let sum = wide!({
                let exponentials = Fold::sum(
                    #[inline(always)]
                    |x: T| x.sub(top).exponential(),
                );
                exponentials.lane(lane)
            });
            top.add(sum.ln())
        };
        (0..outer).map(one).collect()
    }
}
