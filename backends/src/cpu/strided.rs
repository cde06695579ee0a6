//! Walking arrays by strides.
//!
//! A stride says how many elements further the next one on an axis is: 0 on an axis along which an operand
//! repeats, negative where it runs backward. [`Rows`] walks several arrays in step over one shape; it merges axes
//! first, so that the innermost loop, which is the kernel's own, is as long as possible.

use std::ops::Range;

use super::error::CpuError;

/// The strides of a dense row-major array.
pub(crate) fn dense(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}

/// The strides with which a dense array of `from` repeats along the axes of `to`, aligned at the last axis.
pub(crate) fn broadcast(from: &[usize], to: &[usize]) -> Result<Vec<isize>, CpuError> {
    let invalid = CpuError::Invalid("its operands do not broadcast to its output");
    let Some(added) = to.len().checked_sub(from.len()) else { return Err(invalid) };
    let mut strides = vec![0; to.len()];
    for (axis, stride) in dense(from).into_iter().enumerate() {
        match (from[axis], to[added + axis]) {
            (a, b) if a == b => strides[added + axis] = stride,
            (1, _) => {}
            _ => return Err(invalid),
        }
    }
    Ok(strides)
}

/// Several arrays walked in step: `N` strides for each axis.
pub(crate) struct Rows<const N: usize> {
    /// The axes around the innermost one: size and strides.
    outer: Vec<(usize, [isize; N])>,
    /// The length of a row: the size of the innermost axis.
    pub(crate) len: usize,
    /// The strides within a row.
    pub(crate) step: [isize; N],
    empty: bool,
}

impl<const N: usize> Rows<N> {
    /// A walk over a shape in row-major order.
    pub(crate) fn new(shape: &[usize], strides: &[Vec<isize>; N]) -> Self {
        let mut axes: Vec<(usize, [isize; N])> = Vec::with_capacity(shape.len());
        for (axis, &size) in shape.iter().enumerate().filter(|&(_, &size)| size != 1) {
            let step: [isize; N] = std::array::from_fn(|n| strides[n][axis]);
            match axes.last_mut() {
                // One step on the axis around this one is as far as this axis reaches: they are one axis.
                Some(last) if (0..N).all(|n| last.1[n] == step[n] * size as isize) => {
                    *last = (last.0 * size, step);
                }
                _ => axes.push((size, step)),
            }
        }
        let (len, step) = axes.pop().unwrap_or((1, [1; N]));
        Self { outer: axes, len, step, empty: shape.contains(&0) }
    }

    /// The position of each row's first element in each array, for arrays that start at 0.
    pub(crate) fn starts(&self) -> Starts<'_, N> {
        self.starts_from([0; N])
    }

    /// The same for arrays that start elsewhere.
    fn starts_from(&self, start: [usize; N]) -> Starts<'_, N> {
        Starts {
            outer: &self.outer,
            index: vec![0; self.outer.len()],
            next: (!self.empty).then(|| std::array::from_fn(|n| start[n] as isize)),
        }
    }

    /// What a row that starts at `start` takes of array `n`, which broadcasts: elements side by side, or one for all of the row.
    pub(crate) fn part(&self, n: usize, start: usize) -> Range<usize> {
        start..start + if self.step[n] == 0 { 1 } else { self.len }
    }

    /// The position in array `n` of element `k` of the row that starts at `start`.
    pub(crate) fn nth(&self, n: usize, start: usize, k: usize) -> usize {
        (start as isize + self.step[n] * k as isize) as usize
    }
}

/// The first elements of rows. An iterator and no function of a closure, because it is compiled once for each `N` and not
/// once for each kernel.
pub(crate) struct Starts<'a, const N: usize> {
    outer: &'a [(usize, [isize; N])],
    index: Vec<usize>,
    next: Option<[isize; N]>,
}

impl<const N: usize> Iterator for Starts<'_, N> {
    type Item = [usize; N];

    fn next(&mut self) -> Option<[usize; N]> {
        let at = self.next?;
        self.next = self.after(at);
        Some(std::array::from_fn(|n| at[n] as usize))
    }
}

impl<const N: usize> Starts<'_, N> {
    /// One step on the innermost axis that does not end with it; those inside go back to their beginning.
    fn after(&mut self, mut at: [isize; N]) -> Option<[isize; N]> {
        for (index, (size, step)) in self.index.iter_mut().zip(self.outer).rev() {
            *index += 1;
            if *index < *size {
                (0..N).for_each(|n| at[n] += step[n]);
                return Some(at);
            }
            *index = 0;
            (0..N).for_each(|n| at[n] -= step[n] * (*size as isize - 1));
        }
        None
    }
}

/// The elements of an array at the places a walk visits.
pub(crate) fn copy<T: Copy>(x: &[T], start: usize, rows: &Rows<1>, count: usize) -> Vec<T> {
    let mut out = Vec::with_capacity(count);
    for [i] in rows.starts_from([start]) {
        match rows.step {
            [1] => out.extend_from_slice(&x[i..i + rows.len]),
            [0] => out.extend(std::iter::repeat_n(x[i], rows.len)),
            _ => out.extend((0..rows.len).map(|k| x[rows.nth(0, i, k)])),
        }
    }
    out
}

/// The axis as an index; negative ones count from the end.
pub(crate) fn axis_index(axis: i64, rank: usize) -> Result<usize, CpuError> {
    let from_end = usize::try_from(axis.unsigned_abs()).ok();
    let index = if axis < 0 { from_end.and_then(|a| rank.checked_sub(a)) } else { from_end };
    index.filter(|&a| a < rank).ok_or(CpuError::Invalid("an axis is out of range"))
}

/// An attribute's sizes; a negative one, which no validated node has, is 0.
pub(crate) fn sizes(list: &[i64]) -> Vec<usize> {
    list.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect()
}

/// A shape seen about one axis: the number of elements around it, on it and inside it.
pub(crate) fn split_at(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_axes_merge_and_broadcast_ones_do_not() {
        let shape = [2, 3, 4];
        let both = Rows::new(&shape, &[dense(&shape), dense(&shape)]);
        assert_eq!((both.len, both.outer.len()), (24, 0));
        let column = Rows::new(&shape, &[dense(&shape), broadcast(&[3, 1], &shape).unwrap()]);
        let starts: Vec<_> = column.starts().collect();
        assert_eq!((column.len, column.step), (4, [1, 0]));
        assert_eq!(starts, [[0, 0], [4, 1], [8, 2], [12, 0], [16, 1], [20, 2]]);
    }

    #[test]
    fn scalars_are_one_row_and_empty_shapes_none() {
        let count = |shape: &[usize]| {
            let rows = Rows::new(shape, &[dense(shape)]);
            rows.starts().map(|_| rows.len).sum::<usize>()
        };
        assert_eq!([count(&[]), count(&[1, 1]), count(&[3, 0, 2]), count(&[0])], [1, 1, 0, 0]);
    }

    #[test]
    fn axes_count_from_either_end() {
        assert_eq!(axis_index(-2, 3), Ok(1));
        assert!(axis_index(3, 3).is_err() && axis_index(-4, 3).is_err());
        assert!(broadcast(&[2], &[3]).is_err() && broadcast(&[1, 1], &[1]).is_err());
    }

    #[test]
    fn backward_walks_copy_in_reverse() {
        let rows = Rows::new(&[3], &[vec![-2]]);
        assert_eq!(copy(&[0, 1, 2, 3, 4], 4, &rows, 3), [4, 2, 0]);
    }
}
