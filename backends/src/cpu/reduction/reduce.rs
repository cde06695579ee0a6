//! The Reduce operators, lane by lane.

use ir::DType;
use ops::reduction::{Reduce, ReduceFn};

use crate::cpu::call::Call;
use crate::cpu::element::{Int, Number, Numeric, Real, dispatch_int, dispatch_real, dispatch_work};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::lanes::{Lanes, largest, smallest, sum_of};
use crate::cpu::strided::axis_index;

/// A kernel for every integer and float dtype.
macro_rules! numbers {
    ($c:expr, $lanes:expr, $f:expr) => {
        dispatch_work!($c.dtype(0)?, T => reduce::<T>($c, $lanes, $f))
    };
}

/// A kernel for every float dtype, and another one for every integer dtype.
macro_rules! floats_or_integers {
    ($c:expr, $lanes:expr, $real:expr, $int:expr) => {
        dispatch_real!($c.dtype(0)?, T => reduce::<T>($c, $lanes, $real),
            other => dispatch_int!(other, T => reduce::<T>($c, $lanes, $int)))
    };
}

pub(crate) fn run(op: &Reduce, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let lanes = &Lanes::new(shape, &reduced(op, shape.len())?);
    if c.dtype(0)? == DType::Bool {
        return truth(op.function, c, lanes);
    }
    match op.function {
        ReduceFn::Sum => numbers!(c, lanes, sum),
        ReduceFn::Mean => numbers!(c, lanes, mean),
        ReduceFn::Max => numbers!(c, lanes, |xs| largest(xs).unwrap_or(Number::LOWEST)),
        ReduceFn::Min => numbers!(c, lanes, |xs| smallest(xs).unwrap_or(Number::HIGHEST)),
        ReduceFn::Prod => numbers!(c, lanes, product),
        ReduceFn::SumSquare => numbers!(c, lanes, sum_of_squares),
        ReduceFn::L1 => numbers!(c, lanes, |xs| sum_of(xs, Number::abs)),
        ReduceFn::L2 => floats_or_integers!(c, lanes, l2, l2_of_integers),
        ReduceFn::LogSum => floats_or_integers!(c, lanes, log_sum, log_sum_of_integers),
        ReduceFn::LogSumExp => floats_or_integers!(c, lanes, log_sum_exp, log_sum_exp_of_integers),
    }
}

fn sum<W: Number>(xs: &[W]) -> W {
    sum_of(xs, |x| x)
}

fn mean<W: Number>(xs: &[W]) -> W {
    sum(xs).div(W::from_count(xs.len()))
}

fn product<W: Number>(xs: &[W]) -> W {
    xs.iter().fold(W::ONE, |p, &x| p.mul(x))
}

fn sum_of_squares<W: Number>(xs: &[W]) -> W {
    sum_of(xs, |x| x.mul(x))
}

fn reduce<T: Numeric>(c: &Call<'_>, lanes: &Lanes, f: fn(&[T::Work]) -> T::Work) -> Outputs {
    c.only(lanes.reduce(&c.elements::<T>(0)?, &|lane| T::store(f(lane))))
}

/// The axes that are combined.
fn reduced(op: &Reduce, rank: usize) -> Result<Vec<usize>, CpuError> {
    match op.axes.as_deref() {
        None | Some([]) if op.noop_with_empty_axes => Ok(Vec::new()),
        None | Some([]) => Ok((0..rank).collect()),
        Some(axes) => axes.iter().map(|&a| axis_index(a, rank)).collect(),
    }
}

/// Max and Min of truth values: whether any, or all, are true.
fn truth(function: ReduceFn, c: &Call<'_>, lanes: &Lanes) -> Outputs {
    let x = c.elements::<bool>(0)?;
    let lane = |start: usize| lanes.within.iter().map(move |i| start + i);
    let one = |&start: &usize| match function {
        ReduceFn::Max => Ok(lane(start).any(|i| x[i])),
        ReduceFn::Min => Ok(lane(start).all(|i| x[i])),
        _ => Err(CpuError::DType { operand: 0, found: DType::Bool }),
    };
    c.only(lanes.starts.iter().map(one).collect::<Result<_, _>>()?)
}

fn l2<R: Real>(xs: &[R]) -> R {
    sum_of_squares(xs).sqrt()
}

fn log_sum<R: Real>(xs: &[R]) -> R {
    sum(xs).ln()
}

/// ln Σ eˣ, about the largest number so that nothing overflows.
fn log_sum_exp<R: Real>(xs: &[R]) -> R {
    match largest(xs) {
        None => R::INFINITY.neg(),
        Some(top) if top.abs() == R::INFINITY => top,
        Some(top) => top.add(sum_of(xs, |x| x.sub(top).exp()).ln()),
    }
}

/// The root of the wrapped sum, truncated.
fn l2_of_integers<T: Int>(xs: &[T]) -> T {
    Int::from_f64(Int::to_f64(sum_of_squares(xs)).sqrt())
}

/// The logarithm of the wrapped sum, truncated.
fn log_sum_of_integers<T: Int>(xs: &[T]) -> T {
    Int::from_f64(Int::to_f64(sum(xs)).ln())
}

/// Calculated in `f64` and truncated.
fn log_sum_exp_of_integers<T: Int>(xs: &[T]) -> T {
    let xs: Vec<f64> = xs.iter().map(|&x| Int::to_f64(x)).collect();
    Int::from_f64(log_sum_exp(&xs))
}
