//! Where a position is on an axis, and the elements around it.

use std::ops::Range;

use ir::DType;

use super::{GridSample, Mode, Padding};
use crate::arith::{Arith, Class, Comparison, Step};

/// The coefficient of the cubic convolution.
const A: f64 = -0.75;

/// The number system for positions of a dtype. Those of f64 are computed in f32 by some.
pub(super) fn steps<S: Arith>(a: &S, dtype: DType) -> S {
    if dtype == DType::F64 { a.within_or(DType::F64, DType::F32) } else { a.within(dtype) }
}

/// An axis of an image.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    pub(super) size: usize,
    /// How far apart neighbours are in row-major order.
    pub(super) stride: usize,
}

impl Axis {
    /// The axes of an image of these sizes.
    pub(super) fn all(sizes: &[usize]) -> Vec<Self> {
        let stride = |axis: usize| sizes[axis + 1..].iter().product();
        sizes.iter().enumerate().map(|(axis, &size)| Self { size, stride: stride(axis) }).collect()
    }
}

/// The coordinate of a position: 0 is the middle of the first element.
fn coordinate<S: Arith>(a: &S, position: S::R, size: usize, align_corners: bool) -> S::R {
    let (one, two) = (a.real(1.0), a.real(2.0));
    let moved = a.add(a.round(position), one);
    if align_corners {
        a.mul(a.div(moved, two), a.real(size as f64 - 1.0))
    } else {
        a.div(a.sub(a.mul(moved, a.real(size as f64)), one), two)
    }
}

/// The borders that are reflected at.
fn borders(size: usize, align_corners: bool) -> [f64; 2] {
    if align_corners { [0.0, size as f64 - 1.0] } else { [-0.5, size as f64 - 0.5] }
}

/// Whether a coordinate is between the borders.
fn is_inside<S: Arith>(a: &S, x: S::R, [low, high]: [f64; 2]) -> S::Z {
    let above = a.compare(Comparison::GreaterOrEqual, x, a.real(low));
    let below = a.compare(Comparison::LessOrEqual, x, a.real(high));
    a.exact([above, below], |[above, below]| Some(above * below))
}

/// A coordinate that is reflected until it is between the borders.
fn reflected<S: Arith>(a: &S, x: S::R, borders: [f64; 2]) -> S::R {
    let ([low, high], width) = (borders.map(|border| a.real(border)), borders[1] - borders[0]);
    if width == 0.0 {
        // No reflection by one point and the same one ends between them.
        let is_there = a.compare(Comparison::Equal, x, low);
        return a.select(is_there, x, a.undefined_real());
    }
    let width = a.real(width);
    let from = a.sub(x, low);
    let times = a.step(Step::Floor, a.div(from, width));
    let rest = a.sub(from, a.mul(times, width));
    let is_back = a.exact([a.truncate(times, DType::I64)], |[times]| Some(times.rem_euclid(2)));
    let back = a.select(is_back, a.sub(high, rest), a.add(low, rest));
    a.select(is_inside(a, x, borders), x, back)
}

/// A coordinate, kept near the axis: how far away it is does not matter.
fn kept<S: Arith>(a: &S, x: S::R, low: f64, high: f64) -> S::R {
    a.max(a.min(x, a.real(high)), a.real(low))
}

/// The element that an index means that may be outside; `None` for a 0.
fn element(index: i64, size: usize, padding: Padding, align_corners: bool) -> Option<usize> {
    let (last, size) = (size as i64 - 1, size as i64);
    let inside = match padding {
        Padding::Zeros if !(0..size).contains(&index) => return None,
        Padding::Zeros => index,
        Padding::Border => index.clamp(0, last),
        Padding::Reflection if last == 0 => 0,
        Padding::Reflection if align_corners => {
            let from = index.rem_euclid(2 * last);
            from.min(2 * last - from)
        }
        Padding::Reflection => {
            let from = index.rem_euclid(2 * size);
            from.min(2 * size - 1 - from)
        }
    };
    Some(inside as usize)
}

/// Why there is no nearest element on an axis.
pub(super) enum Nowhere {
    /// There is a 0.
    Outside,
    /// Implementations may have different ones.
    Unknown,
    /// The position is nowhere.
    Undefined,
}

/// The nearest element on an axis.
pub(super) fn nearest<S: Arith>(
    op: GridSample,
    a: &S,
    position: S::R,
    size: usize,
) -> Result<usize, Nowhere> {
    let x = coordinate(a, position, size, op.align_corners);
    match is_somewhere(a, x) {
        Some(true) => {}
        Some(false) => return Err(Nowhere::Undefined),
        None => return Err(Nowhere::Unknown),
    }
    // Reflected before it is rounded, or after: that differs halfway between two elements.
    let turned = match op.padding {
        Padding::Zeros | Padding::Border => kept(a, x, -2.0, size as f64 + 1.0),
        Padding::Reflection => reflected(a, x, borders(size, op.align_corners)),
    };
    let rounded = |x: S::R| a.peek(a.truncate(a.step(Step::Round, x), DType::I64));
    let index = rounded(turned).ok_or(Nowhere::Unknown)?;
    let found = element(index as i64, size, op.padding, op.align_corners);
    if op.padding == Padding::Reflection {
        let first = rounded(x).map(|index| element(index as i64, size, op.padding, op.align_corners));
        if first != Some(found) {
            return Err(Nowhere::Unknown);
        }
    }
    found.ok_or(Nowhere::Outside)
}

/// Whether a coordinate has elements around it: not one that is no number, or infinite. No number of reflections brings
/// that back, and a weight of what is outside may be NaN, which 0 times is not 0. `None` where that is open, as of one
/// that may overflow.
fn is_somewhere<S: Arith>(a: &S, x: S::R) -> Option<bool> {
    let classes = [Class::NaN, Class::PositiveInfinity, Class::NegativeInfinity];
    let is = classes.map(|class| a.peek(a.is(class, x)));
    if is.contains(&Some(1)) { Some(false) } else { (!is.contains(&None)).then_some(true) }
}

/// An element on an axis with its weight.
#[derive(Clone, Copy)]
struct Tap<R> {
    /// How far it is from the first one in row-major order; `None` for a 0.
    offset: Option<usize>,
    weight: R,
    /// Whether every implementation takes it: not where its weight may be 0, so that it may be none of those around the position.
    is_taken: bool,
}

/// The elements around a position on an axis.
type Taps<R> = Vec<Tap<R>>;

/// What an element adds to a sum: what it is, if all take it.
fn added<S: Arith>(a: &S, element: S::R, is_taken: bool) -> S::R {
    if is_taken { element } else { a.either(element, || a.real(0.0)) }
}

/// The elements around a position on an axis.
struct Along<R> {
    taps: Taps<R>,
    /// Those that other implementations take.
    others: Option<Taps<R>>,
}

impl<R: Copy> Along<R> {
    /// Those around a position, or what the result is where nothing is known of them.
    fn of<S: Arith<R = R>>(op: GridSample, a: &S, position: R, axis: Axis) -> Result<Self, R> {
        let size = axis.size;
        let x = coordinate(a, position, size, op.align_corners);
        match is_somewhere(a, x) {
            Some(true) => {}
            Some(false) => return Err(a.undefined_real()),
            None => return Err(a.unknown_real()),
        }
        let (last, reach) = (size as f64 - 1.0, size as f64 + 3.0);
        let borders = borders(size, op.align_corners);
        let moved = match op.padding {
            Padding::Zeros => kept(a, x, -4.0, reach),
            Padding::Border => a.select(is_inside(a, x, borders), x, kept(a, x, 0.0, last)),
            Padding::Reflection => reflected(a, x, borders),
        };
        let around = |x: R| taps(op, a, x, axis);
        // ONNX Runtime goes on with the elements around such a coordinate, each of which may be outside. PyTorch takes
        // a line from a coordinate on the axis, and for a curve beyond the border elements that are all the one there.
        let (inside, other) = match (op.padding, op.mode) {
            (Padding::Zeros, _) | (Padding::Reflection, Mode::Cubic) => (moved, None),
            // Beyond the border all elements may be the one there, each with a weight. However far away: none of the
            // weights is 0 or 1.
            (Padding::Border, Mode::Linear | Mode::Nearest) => {
                (kept(a, moved, 0.0, last), Some(kept(a, x, -1.4, last + 1.4)))
            }
            (Padding::Border, Mode::Cubic) => (moved, Some(kept(a, x, -3.4, last + 3.4))),
            (_, Mode::Linear | Mode::Nearest) => (kept(a, moved, 0.0, last), Some(moved)),
        };
        let (Some(taps), Some(others)) = (around(inside), other.map_or(Some(None), |x| around(x).map(Some)))
        else {
            return Err(a.unknown_real());
        };
        Ok(Self { taps, others })
    }
}

/// How many elements on an axis may be around a position before nothing is said of what is there. A position that may
/// be anywhere has all of an axis, on each of several.
const CANDIDATES: usize = 64;

/// The elements around a coordinate with their weights; where it may be on either side of one, all of which might be
/// around it. `None` if too many might.
fn taps<S: Arith>(op: GridSample, a: &S, x: S::R, Axis { size, stride }: Axis) -> Option<Taps<S::R>> {
    let reach = match op.mode {
        Mode::Cubic => 2,
        Mode::Linear | Mode::Nearest => 1,
    };
    let indices = match a.peek(a.truncate(a.step(Step::Floor, x), DType::I64)) {
        // Of a position that is far away, floats have no digits that could tell.
        Some(below) => {
            let below = below as i64;
            below.saturating_add(1 - reach)..below.saturating_add(reach + 1)
        }
        None => within(a, x, reach, -2 * reach..size as i64 + 2 * reach),
    };
    if indices.clone().count() > CANDIDATES {
        return None;
    }
    let weighed = indices.filter_map(|index| {
        let far = a.abs(a.sub(x, a.real(index as f64)));
        let weight = if op.mode == Mode::Cubic { cubic(a, far) } else { linear(a, far) };
        let holds = |comparison| a.peek(a.compare(comparison, far, a.real(reach as f64))) == Some(1);
        // An element that nobody takes must not spoil the sum, whatever it is.
        (!holds(Comparison::Greater)).then(|| Tap {
            offset: element(index, size, op.padding, op.align_corners).map(|element| element * stride),
            weight,
            is_taken: holds(Comparison::Less),
        })
    });
    Some(weighed.collect())
}

/// Of some indices, those that may be within reach of a coordinate.
fn within<S: Arith>(a: &S, x: S::R, reach: i64, all: Range<i64>) -> Range<i64> {
    let is_beyond = |index: i64, comparison, reach: i64| {
        let ahead = a.sub(x, a.real(index as f64));
        a.peek(a.compare(comparison, ahead, a.real(reach as f64))) == Some(1)
    };
    let first = first_where(all.clone(), |index| !is_beyond(index, Comparison::Greater, reach));
    first..first_where(first..all.end, |index| is_beyond(index, Comparison::Less, -reach))
}

/// The first index where something holds that holds of all after it; the end if there is none.
fn first_where(Range { mut start, mut end }: Range<i64>, holds: impl Fn(i64) -> bool) -> i64 {
    while start < end {
        let middle = start + (end - start) / 2;
        if holds(middle) {
            end = middle;
        } else {
            start = middle + 1;
        }
    }
    start
}

/// 1 - distance, or 0.
fn linear<S: Arith>(a: &S, far: S::R) -> S::R {
    a.max(a.sub(a.real(1.0), far), a.real(0.0))
}

/// Cubic convolution: one polynomial up to a distance of 1 and another up to 2, each 0 at its ends.
fn cubic<S: Arith>(a: &S, far: S::R) -> S::R {
    let polynomial = |x: S::R, coefficients: [f64; 4]| {
        let [first, rest @ ..] = coefficients.map(|coefficient| a.real(coefficient));
        rest.into_iter().fold(first, |sum, coefficient| a.add(a.mul(sum, x), coefficient))
    };
    let inner = || polynomial(kept(a, far, 0.0, 1.0), [A + 2.0, -(A + 3.0), 0.0, 1.0]);
    let outer = || polynomial(kept(a, far, 1.0, 2.0), [A, -5.0 * A, 8.0 * A, -4.0 * A]);
    match a.peek(a.compare(Comparison::LessOrEqual, far, a.real(1.0))) {
        Some(0) => outer(),
        Some(_) => inner(),
        None => a.add(inner(), outer()),
    }
}

/// The elements around a position on all axes of an image, or what the result is where nothing is known of them. They
/// are the same in every channel.
pub(super) struct Around<R>(Result<(Weights<R>, Option<Weights<R>>), R>);

impl<R: Copy> Around<R> {
    /// Those around a position, one number for each axis. `steps` is the number system of positions.
    pub(super) fn of<S: Arith<R = R>>(
        op: GridSample,
        (a, steps): (&S, &S),
        position: &[R],
        axes: &[Axis],
    ) -> Self {
        let along: Result<Vec<_>, _> =
            position.iter().zip(axes).map(|(&x, &axis)| Along::of(op, steps, x, axis)).collect();
        Self(along.map(|along| {
            let are_others = along.iter().any(|along| along.others.is_some());
            let others = are_others.then(|| {
                along.iter().map(|along| along.others.as_ref().unwrap_or(&along.taps).clone()).collect()
            });
            let taps = along.into_iter().map(|along| along.taps).collect();
            (Weights::of(op.mode, a, taps), others.map(|others| Weights::of(op.mode, a, others)))
        }))
    }

    /// The sum of an image's elements there.
    pub(super) fn sum<S: Arith<R = R>>(&self, a: &S, image: &[R]) -> R {
        match &self.0 {
            Ok((weights, None)) => weights.sum(a, image),
            Ok((weights, Some(others))) => a.either(weights.sum(a, image), || others.sum(a, image)),
            Err(open) => *open,
        }
    }
}

/// Elements around a position with their weights.
struct Weights<R> {
    mode: Mode,
    /// By axis.
    along: Vec<Taps<R>>,
    /// Along all axes.
    corners: Vec<Corner<R>>,
}

/// A place around a position along some axes.
struct Corner<R> {
    /// Where it is in row-major order; `None` outside of the image.
    place: Option<usize>,
    /// Its weight; `None` along no axis.
    weight: Option<R>,
    is_taken: bool,
}

impl<R: Copy> Corner<R> {
    /// The place along one axis more.
    fn with<S: Arith<R = R>>(&self, a: &S, tap: &Tap<R>) -> Self {
        Self {
            place: self.place.zip(tap.offset).map(|(place, offset)| place + offset),
            weight: Some(self.weight.map_or(tap.weight, |weight| a.mul(weight, tap.weight))),
            is_taken: self.is_taken && tap.is_taken,
        }
    }
}

impl<R: Copy> Weights<R> {
    fn of<S: Arith<R = R>>(mode: Mode, a: &S, along: Vec<Taps<R>>) -> Self {
        let origin = Corner { place: Some(0), weight: None, is_taken: true };
        let corners = along.iter().fold(vec![origin], |corners, taps| {
            corners.iter().flat_map(|corner| taps.iter().map(|tap| corner.with(a, tap))).collect()
        });
        Self { mode, along, corners }
    }

    /// The sum of elements with the weights of all axes multiplied, or one axis after the other.
    fn sum<S: Arith<R = R>>(&self, a: &S, image: &[R]) -> R {
        let term = |corner: &Corner<R>| {
            let number = corner.place.map_or_else(|| a.real(0.0), |place| image[place]);
            Some((added(a, number, corner.is_taken), a.round(corner.weight?)))
        };
        let terms: Vec<_> = self.corners.iter().filter_map(term).collect();
        a.either(a.dot(terms.into_iter()), || nested(self.mode, a, &self.along, image, 0))
    }
}

/// The sum over the elements of the first axis of what there is on the others, from a place on the axes before. Between
/// two elements that is a line: from the first one on by a share of their difference, as `rten` has it. Of a position
/// that may be on either side of an element any two neighbours may be the ones.
fn nested<S: Arith>(mode: Mode, a: &S, along: &[Taps<S::R>], image: &[S::R], place: usize) -> S::R {
    let Some((taps, others)) = along.split_first() else { return image[place] };
    let mut elements = Vec::with_capacity(taps.len());
    for tap in taps {
        let here = tap.offset.map(|offset| nested(mode, a, others, image, place + offset));
        elements.push((here.unwrap_or_else(|| a.real(0.0)), a.round(tap.weight)));
    }
    let each = elements.iter().zip(taps);
    let sum = a.dot(each.map(|(&(here, weight), tap)| (added(a, here, tap.is_taken), weight)));
    if mode == Mode::Cubic {
        return sum;
    }
    // Who has a line from an element takes it, however little it weighs.
    let neighbours = elements.array_windows();
    neighbours.fold(sum, |is, &[(below, _), (above, share)]| {
        a.either(is, || a.add(below, a.mul(a.sub(above, below), share)))
    })
}

#[cfg(test)]
mod tests {
    use super::first_where;

    #[test]
    fn the_first_index_is_found_on_both_sides_of_0() {
        for first in -4..=4 {
            assert_eq!(first_where(-4..4, |index| index >= first), first);
        }
    }
}
