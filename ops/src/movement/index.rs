//! Indices: what they point to in other tensors. Negative ones count from the end of an axis, and one out of range is undefined.

use crate::prelude::*;

/// What an index points to: an element, or nothing that can be said.
pub(super) enum Pointed<P> {
    /// The element at this position.
    At(P),
    /// One of the elements, but which one is undecidable.
    Unknown,
    /// None: the index is out of range.
    Undefined,
}

impl<P> Pointed<P> {
    /// The position, or why there is none, as often as it is asked for.
    pub(super) fn as_ref(&self) -> Pointed<&P> {
        match self {
            Self::At(position) => Pointed::At(position),
            Self::Unknown => Pointed::Unknown,
            Self::Undefined => Pointed::Undefined,
        }
    }

    /// What a function makes of the position.
    pub(super) fn map<Q>(self, f: impl FnOnce(P) -> Q) -> Pointed<Q> {
        match self {
            Self::At(position) => Pointed::At(f(position)),
            Self::Unknown => Pointed::Unknown,
            Self::Undefined => Pointed::Undefined,
        }
    }

    /// The element that a function finds at the position, or one that tells that there is none.
    pub(super) fn element<A: Arith, K: Kind<A>>(self, a: &A, f: impl FnOnce(P) -> K::Number) -> K::Number {
        match self {
            Self::At(position) => f(position),
            Self::Unknown => K::unknown(a),
            Self::Undefined => K::undefined(a),
        }
    }
}

/// All the positions, or of the first that is none, why.
impl<P> FromIterator<Pointed<P>> for Pointed<Vec<P>> {
    fn from_iter<I: IntoIterator<Item = Pointed<P>>>(all: I) -> Self {
        let mut positions = Vec::new();
        for pointed in all {
            match pointed {
                Pointed::At(position) => positions.push(position),
                Pointed::Unknown => return Self::Unknown,
                Pointed::Undefined => return Self::Undefined,
            }
        }
        Self::At(positions)
    }
}

/// Reads an index into an axis of `size`.
pub(super) fn point<A: Arith>(a: &A, index: A::Z, size: usize) -> Pointed<usize> {
    let Some(index) = a.peek(index) else { return Pointed::Unknown };
    let from_start = if index < 0 { index + size as i128 } else { index };
    if (0..size as i128).contains(&from_start) {
        Pointed::At(from_start as usize)
    } else {
        Pointed::Undefined
    }
}

/// Where in axes of these sizes a list of indices points.
pub(super) fn point_at<A: Arith>(
    a: &A,
    list: impl Iterator<Item = A::Z>,
    sizes: &[usize],
) -> Pointed<Vec<usize>> {
    list.zip(sizes).map(|(index, &size)| point(a, index, size)).collect()
}

/// The place of an element in row-major order, at a position but for its index along an axis.
pub(super) fn moved(at: &[usize], (axis, index): (usize, usize), shape: &[usize]) -> usize {
    let indices = at.iter().enumerate().map(|(a, &i)| if a == axis { index } else { i });
    indices.zip(shape).fold(0, |place, (i, &size)| place * size + i)
}

/// Requires that no index points into an empty axis: these are the sizes of those that some do.
pub(super) fn points_into<D: Dim>(r: &mut dyn Rule<D>, indices: &Type<D>, sizes: &[D]) -> Result<(), Reject> {
    sizes.iter().try_for_each(|&size| r.le(indices.count(), size * D::from(ir::dim::LIMIT)))
}

/// The types of x and of indices, operand 1, which point into an axis of x, each at its own place on the others.
pub(super) fn along<'a, D: Dim>(
    x: Args<'a, D>,
    axis: i64,
    r: &mut dyn Rule<D>,
) -> Result<(&'a Type<D>, &'a Type<D>), Reject> {
    let data = x.need(0)?;
    let along = rule::axis(axis, data.rank())?;
    let indices = x.ranked(1, data.rank()..=data.rank())?;
    for (a, (&index, &size)) in indices.shape.iter().zip(&data.shape).enumerate() {
        if a != along {
            r.le(index, size)?;
        }
    }
    points_into(r, indices, &data.shape[along..=along])?;
    Ok((data, indices))
}

/// How many axes, of so many, each list of indices points into.
pub(super) fn listed<D: Dim>(r: &mut dyn Rule<D>, indices: &Type<D>, of: usize) -> Result<usize, Reject> {
    let listed = r.known(indices.shape[indices.rank() - 1])?;
    r.le(D::from(listed), D::from(of as i64))?;
    Ok(listed as usize)
}

/// Indices, at operand 1, point into an axis of this size.
fn within(size: i64) -> Hazard {
    Hazard::Outside { operand: 1, low: -size as f64, high: (size - 1) as f64 }
}

/// Indices, at operand 1, point into an axis of the first operand.
pub(super) fn in_range(x: &[Option<&Type>], axis: i64) -> Vec<Hazard> {
    let size = x[0].map(|t| t.shape[rule::accepted(rule::axis(axis, t.rank()))]);
    size.map(within).into_iter().collect()
}

/// Every index, at operand 1, is one of the smallest of the axes behind those of a batch that lists of them point into:
/// which of them a number is for, a hazard does not tell.
pub(super) fn lists_in_range(x: &[Option<&Type>], batch: usize) -> Vec<Hazard> {
    let [Some(x), Some(indices), ..] = x else { return Vec::new() };
    let listed = indices.shape[indices.rank() - 1] as usize;
    let smallest = x.shape[batch..batch + listed].iter().min();
    smallest.map(|&size| within(size)).into_iter().collect()
}
