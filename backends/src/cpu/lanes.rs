//! Lanes: the elements of an array along some of its axes, one lane for each place on the other axes.

use super::element::{Number, Numeric};
use super::strided::{Rows, dense};

/// How an array falls into lanes.
pub(crate) struct Lanes {
    /// The position of each lane's first element, in row-major order of the other axes.
    pub(crate) starts: Vec<usize>,
    /// Where the elements of a lane lie after its first one.
    pub(crate) within: Vec<usize>,
}

impl Lanes {
    /// The lanes of a dense array along axes.
    pub(crate) fn new(shape: &[usize], axes: &[usize]) -> Self {
        let strides = dense(shape);
        let (along, across): (Vec<usize>, Vec<usize>) = (0..shape.len()).partition(|a| axes.contains(a));
        let positions = |axes: Vec<usize>| {
            let sizes: Vec<usize> = axes.iter().map(|&a| shape[a]).collect();
            let rows = Rows::new(&sizes, &[axes.iter().map(|&a| strides[a]).collect()]);
            let mut all = Vec::with_capacity(sizes.iter().product());
            for [start] in rows.starts() {
                all.extend((0..rows.len).map(|k| rows.nth(0, start, k)));
            }
            all
        };
        Self { starts: positions(across), within: positions(along) }
    }

    /// The numbers of the lane that starts at `start`, in place of what `lane` held.
    pub(crate) fn load<T: Numeric>(&self, x: &[T], start: usize, lane: &mut Vec<T::Work>) {
        lane.clear();
        lane.extend(self.within.iter().map(|&i| x[start + i].load()));
    }

    /// One number from each lane.
    pub(crate) fn reduce<T: Numeric, U>(&self, x: &[T], f: &dyn Fn(&[T::Work]) -> U) -> Vec<U> {
        let mut lane = Vec::with_capacity(self.within.len());
        let one = |&start: &usize| {
            self.load(x, start, &mut lane);
            f(&lane)
        };
        self.starts.iter().map(one).collect()
    }

    /// Each lane changed as a whole.
    pub(crate) fn map<T: Numeric>(&self, x: &[T], f: &dyn Fn(&mut [T::Work])) -> Vec<T> {
        let mut out = x.to_vec();
        let mut lane = Vec::with_capacity(self.within.len());
        for &start in &self.starts {
            self.load(x, start, &mut lane);
            f(&mut lane);
            for (&i, &v) in self.within.iter().zip(&lane) {
                out[start + i] = T::store(v);
            }
        }
        out
    }
}

/// Σ f(x), pairwise above short runs that are summed in eight independent chains: the error grows with the
/// logarithm of the length, and the runs vectorise.
pub(crate) fn sum_of<W: Number>(xs: &[W], f: impl Fn(W) -> W + Copy) -> W {
    const CHAINS: usize = 8;
    const RUN: usize = 256;
    if xs.len() > RUN {
        let (left, right) = xs.split_at(xs.len() / 2);
        return sum_of(left, f).add(sum_of(right, f));
    }
    let mut sums = [W::ZERO; CHAINS];
    let chunks = xs.chunks_exact(CHAINS);
    let rest = chunks.remainder().iter().fold(W::ZERO, |s, &x| s.add(f(x)));
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(s, &x)| *s = s.add(f(x)));
    }
    sums.into_iter().fold(rest, W::add)
}

/// The largest number, NaN if there is one; `None` of nothing.
pub(crate) fn largest<W: Number>(xs: &[W]) -> Option<W> {
    xs.iter().copied().reduce(W::larger)
}

/// The smallest number, NaN if there is one; `None` of nothing.
pub(crate) fn smallest<W: Number>(xs: &[W]) -> Option<W> {
    xs.iter().copied().reduce(W::smaller)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_along_outer_and_several_axes() {
        let x: Vec<i32> = (0..12).collect();
        let sums = |axes: &[usize]| Lanes::new(&[2, 3, 2], axes).reduce(&x, &<[i32]>::to_vec);
        assert_eq!(sums(&[1])[1], [1, 3, 5]);
        assert_eq!(sums(&[0, 2])[1], [2, 3, 8, 9]);
        assert_eq!(sums(&[]).len(), 12);
        assert_eq!(Lanes::new(&[2, 0], &[1]).reduce(&[0i32; 0], &<[i32]>::len), [0, 0]);
    }

    #[test]
    fn sums_of_every_length_are_complete() {
        for n in [0, 1, 7, 8, 9, 256, 257, 1000, 4099] {
            let xs: Vec<i64> = (0..n).collect();
            assert_eq!(sum_of(&xs, |x| x), n * (n - 1) / 2);
        }
    }
}
