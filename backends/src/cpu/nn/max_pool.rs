//! MaxPool: one cell of the kernel after the other, over all output positions.

use ops::nn::MaxPool;

use super::window::Images;
use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, dispatch_work};
use crate::cpu::error::Outputs;

pub(crate) fn run(op: &MaxPool, c: &Call<'_>) -> Outputs {
    dispatch_work!(c.dtype(0)?, T => max_pool::<T>(op, c))
}

/// The best element of a window so far.
#[derive(Clone, Copy)]
struct Best<W> {
    /// Its value, and that of equal ones: of zeros it is the positive one.
    value: W,
    /// Where in the image the first such element is.
    element: usize,
}

fn max_pool<T: Numeric>(op: &MaxPool, c: &Call<'_>) -> Outputs {
    let (x, images) = (c.elements::<T>(0)?, Images::of(c, &op.pool)?);
    let (mut values, mut met) = (Vec::new(), Vec::new());
    let Images { cells, area, positions, .. } = &images;
    for image in x.chunks_exact((*area).max(1)) {
        let mut best: Vec<Option<Best<T::Work>>> = vec![None; *positions];
        for meeting in cells.iter().flatten() {
            let (value, element) = (image[meeting.element].load(), meeting.element);
            let best = &mut best[meeting.position];
            *best = Some(match *best {
                Some(b) if value > b.value || (value.is_nan() && !b.value.is_nan()) => {
                    Best { value, element }
                }
                Some(b) => Best { value: b.value.larger(value), element: b.element },
                None => Best { value, element },
            });
        }
        // A window that meets nothing is undefined.
        values.extend(best.iter().map(|b| T::store(b.map_or(Number::ZERO, |b| b.value))));
        if c.outputs.len() > 1 {
            met.extend(best.iter().map(|b| b.map(|b| b.element)));
        }
    }
    let mut outputs = vec![c.store(0, values)?];
    if c.outputs.len() > 1 {
        outputs.push(c.store(1, indices(op, &c.shape(0)?[2..], &images, &met))?);
    }
    Ok(outputs)
}

/// The number of the element that is met at each position of each image, among all elements.
fn indices(op: &MaxPool, spatial: &[usize], images: &Images, met: &[Option<usize>]) -> Vec<i64> {
    let number = |element| if op.column_major { column_major(element, spatial) } else { element };
    let index = |(i, met): (usize, &Option<usize>)| {
        met.map_or(0, |element| (i / images.positions * images.area + number(element)) as i64)
    };
    met.iter().enumerate().map(index).collect()
}

/// The number of an element of an image when the first spatial axis runs fastest.
fn column_major(element: usize, spatial: &[usize]) -> usize {
    let mut rest = element;
    let mut coordinates: Vec<usize> = spatial
        .iter()
        .rev()
        .map(|&size| {
            let at = rest % size;
            rest /= size;
            at
        })
        .collect();
    // Now from the first axis to the last; Horner's rule reads them from the last.
    coordinates.reverse();
    coordinates.iter().zip(spatial).rev().fold(0, |number, (&at, &size)| number * size + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_axis_runs_fastest() {
        assert_eq!((0..6).map(|e| column_major(e, &[2, 3])).collect::<Vec<_>>(), [0, 2, 4, 1, 3, 5]);
        // Coordinates [1, 0, 2] of a shape [2, 2, 3].
        assert_eq!(column_major(8, &[2, 2, 3]), 1 + 2 * 2 * 2);
    }
}
