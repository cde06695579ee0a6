//! Transpose, a square of elements after the other.
//!
//! Where the last axis of the result is not that of the operand, one of both is walked with long steps, and each step is another
//! line of the cache. So squares of [`SIDE`] elements are read line by line and written line by line. Axes that stay side by side
//! are one axis.

use ops::movement::Transpose;

use crate::cpu::call::Call;
use crate::cpu::cells::dispatch_cell;
use crate::cpu::element::Number;
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::vector::room::{each_part, room, zeros};

/// The side of a square: a line of most caches in elements of four bytes.
const SIDE: usize = 16;

pub(crate) fn run(op: &Transpose, c: &Call<'_>) -> Option<Outputs> {
    let walk = Walk::new(c.shape(0).ok()?, op.perm.as_deref()).ok()?;
    dispatch_cell!(c.dtype(0).ok()?, C => {
        let y = walk.moved::<C>(&c.cells(0).ok()?, c.threads());
        Some(c.only_cells(y))
    })
}

/// An axis of the result: its size, and the distance of its elements in the operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Axis {
    size: usize,
    step: usize,
}

/// The axes of the result, from the first to the last.
#[derive(PartialEq, Eq, Debug)]
struct Walk(Vec<Axis>);

impl Walk {
    fn new(shape: &[usize], order: Option<&[i64]>) -> Result<Self, CpuError> {
        let rank = shape.len();
        let invalid = CpuError::Invalid("perm does not name every axis");
        let order: Vec<usize> = match order {
            Some(order) => order.iter().map(|&axis| axis as usize).collect(),
            None => (0..rank).rev().collect(),
        };
        if (0..rank).any(|axis| !order.contains(&axis)) || order.len() != rank {
            return Err(invalid);
        }
        let step = |axis: usize| shape[axis + 1..].iter().product::<usize>();
        let mut axes: Vec<Axis> = Vec::with_capacity(rank);
        for axis in order.into_iter().filter(|&axis| shape[axis] != 1) {
            let next = Axis { size: shape[axis], step: step(axis) };
            match axes.last_mut() {
                Some(last) if last.step == next.size * next.step => {
                    *last = Axis { size: last.size * next.size, step: next.step };
                }
                _ => axes.push(next),
            }
        }
        if axes.is_empty() {
            axes.push(Axis { size: 1, step: 1 });
        }
        Ok(Self(axes))
    }

    /// Which axis of the result is the operand's last one. It is there, as every axis is.
    fn last_of_operand(&self) -> usize {
        self.0.iter().position(|axis| axis.step == 1).unwrap_or(self.0.len() - 1)
    }
}

/// The elements of an array with its axes in another order.
pub(in crate::cpu::vector) fn moved<T: Number>(
    x: &[T],
    shape: &[usize],
    order: &[i64],
    threads: usize,
) -> Result<Vec<T>, CpuError> {
    Ok(Walk::new(shape, Some(order))?.moved(x, threads))
}

impl Walk {
    fn moved<T: Number>(&self, x: &[T], threads: usize) -> Vec<T> {
        let axes = &self.0;
        let (Some(first), [outer @ .., last], false) = (axes.first(), &axes[..], x.is_empty()) else {
            return x.to_vec();
        };
        if last.step == 1 {
            let mut y = room(x.len());
            for start in Starts::of(outer) {
                y.extend_from_slice(&x[start..start + last.size]);
            }
            return y;
        }
        let mut y = zeros(T::ZERO, x.len());
        let (along, inside) = (self.last_of_operand(), x.len() / first.size);
        each_part(threads, &mut y, inside, inside, &|number, part| {
            // A part of the result is as if the first axis were shorter.
            let mut axes = axes.clone();
            axes[0].size = part.len() / inside;
            squares(&x[number * first.step..], &axes, along, part);
        });
        y
    }
}

/// The starts of what lies inside of some axes, in order.
struct Starts<'a> {
    axes: &'a [Axis],
    index: Vec<usize>,
    next: Option<usize>,
}

impl<'a> Starts<'a> {
    fn of(axes: &'a [Axis]) -> Self {
        Self { axes, index: vec![0; axes.len()], next: Some(0) }
    }

    /// One step on the innermost axis that does not end with it; those inside go back to their beginning.
    fn after(&mut self, mut start: usize) -> Option<usize> {
        for (index, axis) in self.index.iter_mut().zip(self.axes).rev() {
            *index += 1;
            start += axis.step;
            if *index < axis.size {
                return Some(start);
            }
            start -= axis.step * axis.size;
            *index = 0;
        }
        None
    }
}

impl Iterator for Starts<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let start = self.next?;
        self.next = self.after(start);
        Some(start)
    }
}

/// Writes the result. The axis at `along` is the operand's last one: for every place on the other axes, the
/// plane of this axis and of the result's last axis is written.
fn squares<T: Copy>(x: &[T], axes: &[Axis], along: usize, y: &mut [T]) {
    let (columns, rows) = (axes[along].size, axes[axes.len() - 1]);
    // How far apart in the result the elements of the axis are that lie side by side in the operand.
    let far: usize = axes[along + 1..].iter().map(|axis| axis.size).product();
    for [from, to] in planes(axes, along) {
        plane(&x[from..], columns, rows, &mut y[to..], far);
    }
}

/// Where each plane begins, in the operand and in the result.
fn planes(axes: &[Axis], along: usize) -> Vec<[usize; 2]> {
    let last = axes.len() - 1;
    // The other axes, with their distances in the result.
    let mut distances: Vec<usize> = axes.iter().map(|axis| axis.size).collect();
    let mut distance = 1;
    for size in distances.iter_mut().rev() {
        (*size, distance) = (distance, distance * *size);
    }
    let others: Vec<(Axis, usize)> =
        (0..last).filter(|&axis| axis != along).map(|axis| (axes[axis], distances[axis])).collect();
    let (from, to): (Vec<Axis>, Vec<Axis>) =
        others.iter().map(|&(axis, step)| (axis, Axis { size: axis.size, step })).unzip();
    Starts::of(&from).zip(Starts::of(&to)).map(|(from, to)| [from, to]).collect()
}

/// A matrix in the operand, whose rows are `rows.step` apart, becomes columns of the result, whose rows are `far` apart.
fn plane<T: Copy>(x: &[T], columns: usize, rows: Axis, y: &mut [T], far: usize) {
    for i in (0..rows.size).step_by(SIDE) {
        let height = SIDE.min(rows.size - i);
        for j in (0..columns).step_by(SIDE) {
            let width = SIDE.min(columns - j);
            if (height, width) == (SIDE, SIDE) {
                square(&x[i * rows.step + j..], rows.step, &mut y[j * far + i..], far);
                continue;
            }
            for row in 0..height {
                for column in 0..width {
                    y[(j + column) * far + i + row] = x[(i + row) * rows.step + j + column];
                }
            }
        }
    }
}

/// A whole square, by way of a copy that fits into the registers.
fn square<T: Copy>(x: &[T], step: usize, y: &mut [T], far: usize) {
    let mut held = [[x[0]; SIDE]; SIDE];
    for (row, held) in held.iter_mut().enumerate() {
        held.copy_from_slice(&x[row * step..][..SIDE]);
    }
    for column in 0..SIDE {
        let line: &mut [T] = &mut y[column * far..][..SIDE];
        for (y, held) in line.iter_mut().zip(&held) {
            *y = held[column];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_that_stay_side_by_side_are_one() {
        let walk = |shape: &[usize], order: &[i64]| Walk::new(shape, Some(order)).map(|w| w.0);
        let axis = |size, step| Axis { size, step };
        assert_eq!(walk(&[2, 3, 4, 5], &[2, 3, 0, 1]), Ok(vec![axis(20, 1), axis(6, 20)]));
        assert_eq!(walk(&[2, 1, 4], &[0, 1, 2]), Ok(vec![axis(8, 1)]));
        assert_eq!(walk(&[1, 1], &[1, 0]), Ok(vec![axis(1, 1)]));
        assert!(walk(&[2, 3], &[0, 0]).is_err() && walk(&[2, 3], &[0, 2]).is_err());
    }

    /// The element of a transposed array, by the definition.
    fn moved(shape: &[usize], order: &[usize]) -> Vec<usize> {
        let sizes: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        let element = |i: usize| {
            let (mut rest, mut index) = (i, vec![0; shape.len()]);
            for (place, &axis) in order.iter().enumerate().rev() {
                index[axis] = rest % sizes[place];
                rest /= sizes[place];
            }
            index.iter().zip(shape).fold(0, |at, (&i, &size)| at * size + i)
        };
        (0..shape.iter().product()).map(element).collect()
    }

    #[test]
    fn every_element_finds_its_place() {
        let cases: [(&[usize], &[usize]); 8] = [
            (&[5, 7], &[1, 0]),
            (&[33, 50], &[1, 0]),
            (&[3, 32, 48], &[0, 2, 1]),
            (&[3, 17, 19], &[2, 1, 0]),
            (&[2, 3, 5, 7], &[3, 1, 0, 2]),
            (&[2, 18, 5, 17], &[0, 2, 3, 1]),
            (&[4, 3, 2, 3, 4], &[4, 0, 2, 1, 3]),
            (&[3, 0, 2], &[2, 1, 0]),
        ];
        for (shape, order) in cases {
            let axes: Vec<i64> = order.iter().map(|&axis| axis as i64).collect();
            let walk = Walk::new(shape, Some(&axes)).unwrap();
            let x: Vec<usize> = (0..shape.iter().product()).collect();
            let mut y = vec![0; x.len()];
            let along = walk.last_of_operand();
            if !x.is_empty() {
                squares(&x, &walk.0, along, &mut y);
            }
            assert_eq!(y, moved(shape, order), "{shape:?} {order:?}");
        }
    }
}
