//! Combining the elements along axes.
//!
//! An array is seen as `[outer, n, inner]`, and combined over `n`. What is combined are rows, of as many columns as fit into a
//! cache; where `inner` is 1, a lane is itself cut into rows of [`WIDE`] elements, whose columns are combined in the end.
//! Sixteen rows are combined four by four, sixteen of what comes of that one by one, and so on: no term is in more than
//! 16·log₁₆ n sums, so that errors hardly grow with n, and the order is the same with every kind of vectors.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]

use super::room::{each_part, zeros};
use super::wide::wide;
use crate::cpu::element::Number;

/// The columns of the rows that a lane is cut into: four of the longest vectors of `f32`.
const WIDE: usize = 64;

/// The columns that are combined together where there are rows.
const COLUMNS: usize = 1024;

/// How many are combined before they are carried on.
const RADIX: usize = 16;

/// What is combined, and how.
#[derive(Clone, Copy)]
pub(super) struct Fold<W, F, C> {
    /// What changes nothing.
    pub(super) neutral: W,
    /// What becomes of an element first.
    pub(super) of: F,
    /// One of two.
    pub(super) combine: C,
}

impl<W: Number, F: Fn(W) -> W> Fold<W, F, fn(W, W) -> W> {
    /// A sum of some function of the elements.
    pub(super) fn sum(of: F) -> Fold<W, F, impl Fn(W, W) -> W + Copy + Sync> {
        Fold { neutral: W::ZERO, of, combine: |a: W, b: W| a.add(b) }
    }
}

impl<W: Number> Fold<W, fn(W) -> W, fn(W, W) -> W> {
    /// The sum of the elements.
    pub(super) fn total() -> Fold<W, impl Fn(W) -> W + Copy + Sync, impl Fn(W, W) -> W + Copy + Sync> {
        Fold { neutral: W::ZERO, of: |x: W| x, combine: |a: W, b: W| a.add(b) }
    }

    /// The largest element, NaN if there is one; of nothing the lowest number.
    pub(super) fn largest() -> Fold<W, impl Fn(W) -> W + Copy + Sync, impl Fn(W, W) -> W + Copy + Sync> {
        Fold { neutral: W::LOWEST, of: |x: W| x, combine: |a: W, b: W| a.larger(b) }
    }

    /// The smallest element, NaN if there is one; of nothing the highest number.
    pub(super) fn smallest() -> Fold<W, impl Fn(W) -> W + Copy + Sync, impl Fn(W, W) -> W + Copy + Sync> {
        Fold { neutral: W::HIGHEST, of: |x: W| x, combine: |a: W, b: W| a.smaller(b) }
    }
}

impl<W, F, C> Fold<W, F, C>
where
    W: Number,
    F: Fn(W) -> W + Copy + Sync,
    C: Fn(W, W) -> W + Copy + Sync,
{
    /// The lanes along the middle axis of `[outer, n, inner]`, each combined into one number.
    pub(super) fn lanes(self, threads: usize, x: &[W], [outer, n, inner]: [usize; 3]) -> Vec<W> {
        let mut out = zeros(self.neutral, outer * inner);
        if inner == 1 {
            each_part(threads, &mut out, 1, n, &|first, part| {
                wide!({
                    for (i, y) in (first..).zip(part.iter_mut()) {
                        *y = self.lane(&x[i * n..(i + 1) * n]);
                    }
                });
            });
            return out;
        }
        each_part(threads, &mut out, inner, n * inner, &|first, part| {
            wide!({
                for (i, row) in (first..).zip(part.chunks_exact_mut(inner.max(1))) {
                    self.columns(&x[i * n * inner..(i + 1) * n * inner], inner, row);
                }
            });
        });
        out
    }

    /// A lane whose elements lie side by side.
    #[inline(always)]
    pub(super) fn lane(self, x: &[W]) -> W {
        let (rows, rest) = x.as_chunks::<WIDE>();
        let mut sums = [self.neutral; WIDE];
        let mut levels: Vec<([W; WIDE], usize)> = Vec::new();
        for rows in rows.chunks(RADIX) {
            let mut some = [self.neutral; WIDE];
            let (fours, others) = rows.as_chunks::<4>();
            for [a, b, c, d] in fours {
                for (i, y) in some.iter_mut().enumerate() {
                    *y = (self.combine)(*y, self.four([a[i], b[i], c[i], d[i]]));
                }
            }
            for row in others {
                for (y, &x) in some.iter_mut().zip(row) {
                    *y = (self.combine)(*y, (self.of)(x));
                }
            }
            self.carry(&mut levels, some);
        }
        for (level, _) in &levels {
            self.join(&mut sums, level);
        }
        for (y, &x) in sums.iter_mut().zip(rest) {
            *y = (self.combine)(*y, (self.of)(x));
        }
        self.tree(sums)
    }

    /// Four elements as one: while they are combined with each other, nothing waits for what was combined before.
    #[inline(always)]
    fn four(self, four: [W; 4]) -> W {
        let [a, b, c, d] = four.map(self.of);
        (self.combine)((self.combine)(a, b), (self.combine)(c, d))
    }

    /// Adds the result of 16 rows to the lowest level. A level that has collected [`RADIX`] results is added
    /// to the level above it, and starts anew.
    #[inline(always)]
    fn carry(self, levels: &mut Vec<([W; WIDE], usize)>, mut some: [W; WIDE]) {
        for (level, count) in levels.iter_mut() {
            self.join(level, &some);
            *count += 1;
            if *count < RADIX {
                return;
            }
            some = *level;
            (*level, *count) = ([self.neutral; WIDE], 0);
        }
        levels.push((some, 1));
    }

    #[inline(always)]
    fn join(self, to: &mut [W], more: &[W]) {
        for (y, &x) in to.iter_mut().zip(more) {
            *y = (self.combine)(*y, x);
        }
    }

    /// The columns as one number: halves are put on halves.
    #[inline(always)]
    fn tree(self, mut sums: [W; WIDE]) -> W {
        let mut width = WIDE / 2;
        while width > 0 {
            for i in 0..width {
                sums[i] = (self.combine)(sums[i], sums[i + width]);
            }
            width /= 2;
        }
        sums[0]
    }

    /// Rows of `inner` elements, combined into one.
    #[inline(always)]
    fn columns(self, x: &[W], inner: usize, out: &mut [W]) {
        let mut levels: Vec<(Vec<W>, usize)> = Vec::new();
        let mut some = vec![self.neutral; COLUMNS.min(inner)];
        for first in (0..inner).step_by(COLUMNS) {
            let columns = first..inner.min(first + COLUMNS);
            let out = &mut out[columns.clone()];
            let some = &mut some[..columns.len()];
            out.fill(self.neutral);
            levels.clear();
            for rows in x.chunks(RADIX * inner) {
                some.fill(self.neutral);
                let mut fours = rows.chunks_exact(4 * inner);
                for four in fours.by_ref() {
                    let row = |i: usize| four[i * inner..][columns.clone()].iter();
                    let others = row(1).zip(row(2)).zip(row(3));
                    for ((y, &a), ((&b, &c), &d)) in some.iter_mut().zip(row(0)).zip(others) {
                        *y = (self.combine)(*y, self.four([a, b, c, d]));
                    }
                }
                for row in fours.remainder().chunks_exact(inner) {
                    for (y, &x) in some.iter_mut().zip(&row[columns.clone()]) {
                        *y = (self.combine)(*y, (self.of)(x));
                    }
                }
                self.carry_columns(&mut levels, some);
            }
            for (level, _) in &levels {
                self.join(out, level);
            }
        }
    }

    /// As [`Self::carry`], of any number of columns.
    #[inline(always)]
    fn carry_columns(self, levels: &mut Vec<(Vec<W>, usize)>, some: &mut [W]) {
        for (level, count) in levels.iter_mut() {
            self.join(level, some);
            *count += 1;
            if *count < RADIX {
                return;
            }
            some.copy_from_slice(level);
            level.fill(self.neutral);
            *count = 0;
        }
        levels.push((some.to_vec(), 1));
    }
}

/// An array as `[outer, n, inner]`, to be combined over `axes`; `None` where other axes lie between them.
pub(super) fn grouped(shape: &[usize], axes: &[usize]) -> Option<[usize; 3]> {
    let mut sizes = [1, 1, 1];
    let mut at = 0;
    for (axis, &size) in shape.iter().enumerate().filter(|&(_, &size)| size != 1) {
        at = match (axes.contains(&axis), at) {
            (true, 0 | 1) => 1,
            (false, 0) => 0,
            (false, _) => 2,
            (true, _) => return None,
        };
        sizes[at] *= size;
    }
    Some(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_in_the_sum_once() {
        for n in [0, 1, 63, 64, 65, 1023, 1024, 1025, 16 * 1024, 16 * 1024 + 77, 300_000] {
            let x: Vec<i64> = (0..n).collect();
            let sum = Fold::total().lanes(1, &x, [1, n as usize, 1]);
            assert_eq!(sum, [n * (n - 1) / 2], "{n}");
        }
        for (outer, n, inner) in [(2, 3, 5), (1, 0, 4), (3, 17, 2), (1, 5000, 3), (2, 33, 1025), (0, 2, 2)] {
            let x: Vec<i64> = (0..outer * n * inner).map(|i| (i * i) as i64 % 1009).collect();
            let found = Fold::sum(|x: i64| 2 * x).lanes(2, &x, [outer, n, inner]);
            let lane = |i: usize| {
                let start = i / inner * n * inner + i % inner;
                (0..n).map(|k| 2 * x[start + k * inner]).sum::<i64>()
            };
            assert_eq!(found, (0..outer * inner).map(lane).collect::<Vec<_>>(), "{outer} {n} {inner}");
        }
    }

    #[test]
    fn long_sums_are_as_good_as_short_ones() {
        // A third, a million times: one by one, f32 would be off by 1e-3 of the sum.
        let x = vec![1f32 / 3.0; 1_000_000];
        let right = f64::from(1f32 / 3.0) * 1e6;
        for shape in [[1, 1_000_000, 1], [1, 500_000, 2]] {
            let sum = f64::from(Fold::total().lanes(1, &x, shape)[0]) * shape[2] as f64;
            assert!((sum / right - 1.0).abs() < 3e-7, "{sum} for {right}");
        }
    }

    #[test]
    fn axes_that_lie_side_by_side_are_one() {
        assert_eq!(grouped(&[2, 3, 4, 5], &[1, 2]), Some([2, 12, 5]));
        assert_eq!(grouped(&[2, 1, 4, 1], &[0, 2]), Some([1, 8, 1]));
        assert_eq!(grouped(&[2, 3, 4], &[]), Some([24, 1, 1]));
        assert_eq!(grouped(&[2, 3, 4], &[0, 2]), None);
        assert_eq!(grouped(&[0, 3], &[0]), Some([1, 0, 3]));
    }
}
