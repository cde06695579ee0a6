//! The Reduce operators, lane by lane.

use ir::DType;
use ops::reduction::{Reduce, ReduceFn};

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, Real, dispatch_float, dispatch_number};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::lanes::{Lanes, largest, smallest, sum_of};
use crate::cpu::strided::axis_index;

/// Why there is no kernel for the functions whose results are no integers.
pub(crate) const ONLY_FLOATS: &str = "of integers the result is rounded, and ONNX does not say how";

/// Whether the function of integers is an integer.
pub(crate) const fn takes_integers(function: ReduceFn) -> bool {
    !matches!(function, ReduceFn::L2 | ReduceFn::LogSum | ReduceFn::LogSumExp)
}

/// A kernel for every integer and float dtype.
macro_rules! numbers {
    ($c:expr, $lanes:expr, $f:expr) => {
        dispatch_number!($c.dtype(0)?, T => reduce::<T>($c, $lanes, $f))
    };
}

/// A kernel for every float dtype.
macro_rules! floats {
    ($c:expr, $lanes:expr, $f:expr) => {
        dispatch_float!($c.dtype(0)?, T => reduce::<T>($c, $lanes, $f),
            _ => Err(CpuError::Unsupported(ONLY_FLOATS)))
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
        ReduceFn::L2 => floats!(c, lanes, |xs| Real::sqrt(sum_of_squares(xs))),
        ReduceFn::LogSum => floats!(c, lanes, |xs| Real::ln(sum(xs))),
        ReduceFn::LogSumExp => floats!(c, lanes, log_sum_exp),
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

fn reduce<T: Numeric>(c: &Call<'_>, lanes: &Lanes, f: impl Fn(&[T::Work]) -> T::Work) -> Outputs {
    c.only(lanes.reduce(&c.elements::<T>(0)?, |lane| T::store(f(lane))))
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

/// ln Σ eˣ, about the largest number so that nothing overflows.
fn log_sum_exp<R: Real>(xs: &[R]) -> R {
    match largest(xs) {
        None => R::INFINITY.neg(),
        Some(top) if top.abs() == R::INFINITY => top,
        Some(top) => top.add(sum_of(xs, |x| x.sub(top).exp()).ln()),
    }
}
