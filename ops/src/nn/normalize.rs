//! What the normalisations share: a lane brought to mean 0 and variance 1, channels' parameters, draws.

use ir::format::FloatFormat;
use ir::{DType, Dim, Sym, Type};

use crate::arith::{Arith, Fun};
use crate::draw::Draw;
use crate::operator::{Batch, Edge, dtype, rank};
use crate::rule::{Reject, Rule};

/// A lane with mean 0 and variance 1.
pub(super) struct Standard<R> {
    /// The mean before.
    pub mean: R,
    /// The inverse of the standard deviation before, ε added to the variance.
    pub inverse: R,
    /// The elements.
    pub elements: Vec<R>,
}

/// Standardises a lane: ONNX's first stage of layer normalisation, step by step.
pub(super) fn standardize<A: Arith>(a: &A, lane: &[A::R], epsilon: f32) -> Standard<A::R> {
    if lane.is_empty() {
        return Standard { mean: a.undefined_real(), inverse: a.undefined_real(), elements: Vec::new() };
    }
    let mean = a.mean(lane.iter().copied(), lane.len());
    let deviation = a.call(Fun::Sqrt, a.add(a.variance(lane, mean), a.real(epsilon.into())));
    let inverse = a.div(a.real(1.0), deviation);
    Standard { mean, inverse, elements: lane.iter().map(|&x| a.mul(a.sub(x, mean), inverse)).collect() }
}

/// The elements of a lane as the first stage reads them: cast to its dtype, which may have fewer digits than theirs.
pub(super) fn staged<A: Arith>(a: &A, stage: DType, from: DType, lane: &[A::R]) -> Vec<A::R> {
    let digits = |dtype: DType| dtype.float().map_or(0, FloatFormat::precision);
    if digits(stage) >= digits(from) {
        return lane.to_vec();
    }
    let stage = a.within(stage);
    lane.iter().map(|&x| stage.round(x)).collect()
}

/// Where implementations part: on lanes of equal elements, and on elements whose squares the first stage has and their dtype has not.
pub(super) fn edges(x: &[Option<&Type>], stage: DType) -> Vec<(usize, Edge)> {
    let exponent = |dtype: DType| dtype.float().map(FloatFormat::max_exponent);
    let ends = dtype(x, 0).and_then(exponent).zip(exponent(stage));
    let is_wider = ends.is_some_and(|(own, wide)| 3 * own <= 2 * wide);
    let squares = is_wider.then_some((0, Edge::Squares));
    squares.into_iter().chain([(0, Edge::Alike)]).collect()
}

/// One of the values of ε in use.
pub(super) fn draw_epsilon(d: &mut Draw<'_, '_>) -> f32 {
    d.choose(&[1e-5, 1e-5, 1e-3, 0.1]).unwrap_or(1e-5)
}

/// A parameter that broadcasts to the axes of `x` from `axis` on: mostly all of them.
pub(super) fn draw_parameter<'a>(
    d: &mut Draw<'_, 'a>,
    dtype: DType,
    x: &Type<Sym<'a>>,
    axis: usize,
) -> Option<()> {
    let full = d.chance(0.7);
    let first = if full { axis } else { d.int(axis as i64, x.rank() as i64) as usize };
    let mut shape = Vec::with_capacity(x.rank() - first);
    for &size in &x.shape[first..] {
        shape.push(Some(if full || d.chance(0.7) { size } else { 1.into() }));
    }
    d.matching(dtype, &shape).map(|_| ())
}

/// Seeks at least one element along axes. Nothing has no mean; where there is nothing, none is asked for either.
pub(super) fn some_elements<D: Dim>(r: &mut dyn Rule<D>, sizes: &[D]) -> Result<(), Reject> {
    sizes.iter().try_for_each(|&size| r.seek_le(D::from(1), size))
}

/// Whether slices keep apart of which the axes from one on are standardised, each by itself, and scaled by further operands that
/// broadcast to them.
pub(super) fn standardized_apart(x: &[Option<&Type>], axis: i64) -> Batch {
    let rank = rank(x, 0);
    let has_first = |parameter: &&Type| parameter.rank() == rank && parameter.shape[0] != 1;
    if x[1..].iter().flatten().any(has_first) {
        return Batch::Together;
    }
    Batch::meeting_along(x, axis)
}
