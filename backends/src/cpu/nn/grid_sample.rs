//! GridSample: positions in f64, and elements added up one axis after the other.

use ops::nn::GridSample;
use ops::nn::grid_sample::{Mode, Padding};

use crate::cpu::call::Call;
use crate::cpu::cells::{Cell, dispatch_cell, zero};
use crate::cpu::element::{Float, Real, dispatch_float};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(op: GridSample, c: &Call<'_>) -> Outputs {
    match op.mode {
        Mode::Nearest => dispatch_cell!(c.dtype(0)?, C => nearest::<C>(op, c)),
        Mode::Linear | Mode::Cubic => dispatch_float!(c.dtype(0)?, T => between::<T>(op, c)),
    }
}

/// The sizes of an image and its grid.
struct Sizes<'a> {
    images: usize,
    channels: usize,
    space: &'a [usize],
    /// How many elements a channel has, and how many positions there are for an image.
    area: usize,
    positions: usize,
}

impl<'a> Sizes<'a> {
    fn of(c: &Call<'a>) -> Result<Self, CpuError> {
        let (shape, grid) = (c.shape(0)?, c.shape(1)?);
        let [images, channels, space @ ..] = shape else {
            return Err(CpuError::Invalid("its operand has no channels"));
        };
        let positions = grid.get(1..grid.len().saturating_sub(1)).unwrap_or_default().iter().product();
        let is_grid = grid.first() == Some(images) && grid.last() == Some(&space.len());
        if !is_grid || space.is_empty() || space.contains(&0) {
            return Err(CpuError::Invalid("its grid is not one for the image"));
        }
        let area = space.iter().product();
        Ok(Self { images: *images, channels: *channels, space, area, positions })
    }
}

/// The index of a position, 0 in the middle of the first element.
fn index(op: GridSample, position: f64, size: usize) -> f64 {
    let size = size as f64;
    if op.align_corners {
        f64::midpoint(position, 1.0) * (size - 1.0)
    } else {
        ((position + 1.0) * size - 1.0) / 2.0
    }
}

/// An index that is reflected by the borders until it is between them.
fn mirrored(op: GridSample, index: f64, size: usize) -> f64 {
    let (low, high) = if op.align_corners { (0.0, size as f64 - 1.0) } else { (-0.5, size as f64 - 0.5) };
    let width = high - low;
    if width == 0.0 || !index.is_finite() {
        return 0.0;
    }
    if (low..=high).contains(&index) {
        return index;
    }
    // From the border on: close to it, a remainder by two widths would lose digits that the distance has.
    let is_below = index < low;
    let beyond = if is_below { low - index } else { index - high };
    let rest = beyond % width;
    let is_odd = ((beyond - rest) / width).round() % 2.0 != 0.0;
    if is_below == is_odd { high - rest } else { low + rest }
}

/// The element that stands for a whole index, if it is not a zero.
fn element(op: GridSample, index: f64, size: usize) -> Option<usize> {
    let last = size as f64 - 1.0;
    match op.padding {
        Padding::Zeros => (0.0..=last).contains(&index).then_some(index as usize),
        Padding::Border => Some(index.clamp(0.0, last) as usize),
        Padding::Reflection => Some(mirrored(op, index, size).clamp(0.0, last) as usize),
    }
}

/// Where the index on each axis is inside of an image, as far as padding moves it.
fn moved(op: GridSample, index: f64, size: usize) -> f64 {
    let borders = if op.align_corners { [0.0, size as f64 - 1.0] } else { [-0.5, size as f64 - 0.5] };
    match op.padding {
        Padding::Border if index < borders[0] || index > borders[1] => index.clamp(0.0, size as f64 - 1.0),
        Padding::Reflection if index < borders[0] || index > borders[1] => mirrored(op, index, size),
        Padding::Zeros | Padding::Border | Padding::Reflection => index,
    }
}

fn nearest<C: Cell>(op: GridSample, c: &Call<'_>) -> Outputs {
    let (x, sizes) = (c.cells::<C>(0)?, Sizes::of(c)?);
    let (places, zero) = (places(op, c, &sizes)?, zero(c.dtype(0)?));
    let mut y = Vec::with_capacity(places.len() * sizes.channels);
    for image in 0..sizes.images {
        let places = &places[image * sizes.positions..][..sizes.positions];
        for channel in 0..sizes.channels {
            let x = &x[(image * sizes.channels + channel) * sizes.area..][..sizes.area];
            y.extend(places.iter().map(|place| place.map_or(zero, |place| x[place])));
        }
    }
    c.only_cells(y)
}

/// The element of a channel that is nearest to each position of each image; `None` for a zero.
fn places(op: GridSample, c: &Call<'_>, sizes: &Sizes<'_>) -> Result<Vec<Option<usize>>, CpuError> {
    let (grid, axes) = (c.tensor(1)?.to_f64s(), sizes.space.len());
    let nearest = |grid: &[f64]| {
        let mut place = Some(0);
        for (axis, &size) in sizes.space.iter().enumerate() {
            let at = index(op, grid[axes - 1 - axis], size).round_ties_even();
            let at = element(op, moved(op, at, size), size);
            place = place.zip(at).map(|(place, at)| place * size + at);
        }
        place
    };
    Ok(grid.chunks_exact(axes).map(nearest).collect())
}

/// The weights of the elements around an index, the first of which is returned too.
fn weights(op: GridSample, index: f64) -> (f64, Vec<f64>) {
    let (below, part) = (index.floor(), index - index.floor());
    if op.mode == Mode::Linear {
        return (below, vec![1.0 - part, part]);
    }
    let a = -0.75;
    let near = |d: f64| ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
    let far = |d: f64| ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
    (below - 1.0, vec![far(part + 1.0), near(part), near(1.0 - part), far(2.0 - part)])
}

fn between<T: Float>(op: GridSample, c: &Call<'_>) -> Outputs {
    let (x, grid, sizes) = (c.loaded::<T>(0)?, c.tensor(1)?.to_f64s(), Sizes::of(c)?);
    let axes = sizes.space.len();
    let mut y = Vec::with_capacity(sizes.images * sizes.channels * sizes.positions);
    for image in 0..sizes.images {
        for channel in 0..sizes.channels {
            let x = &x[(image * sizes.channels + channel) * sizes.area..][..sizes.area];
            for position in 0..sizes.positions {
                let grid = &grid[(image * sizes.positions + position) * axes..][..axes];
                let along = |axis: usize| {
                    let size = sizes.space[axis];
                    let at = moved(op, index(op, grid[axes - 1 - axis], size), size);
                    let (first, weights) = weights(op, at);
                    let of = |(i, weight): (usize, f64)| {
                        let weight = <T::Work as Real>::from_f64(weight);
                        (element(op, first + i as f64, size), weight)
                    };
                    weights.into_iter().enumerate().map(of).collect::<Vec<_>>()
                };
                let all: Vec<_> = (0..axes).map(along).collect();
                y.push(T::store(sum(x, &all, sizes.space)));
            }
        }
    }
    c.only(y)
}

/// The sum over the elements of the first axis of what there is on the others.
fn sum<R: Real>(x: &[R], along: &[Vec<(Option<usize>, R)>], space: &[usize]) -> R {
    let Some(((taps, others), space)) = along.split_first().zip(space.get(1..)) else {
        return x.first().copied().unwrap_or(R::ZERO);
    };
    let area: usize = space.iter().product();
    taps.iter().fold(R::ZERO, |total, &(element, weight)| {
        let here = element.map_or(R::ZERO, |element| sum(&x[element * area..][..area], others, space));
        total.add(weight.mul(here))
    })
}
