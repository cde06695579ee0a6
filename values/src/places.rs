//! Indices of which no two point to one place.

use ir::Type;
use rand::{Rng, RngExt, seq::index};

/// The places that indices point to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Places {
    /// Those along an axis of this size, in each lane of the indices along it.
    Along { axis: usize, size: usize },
    /// Those in axes of these sizes: the indices are lists of one for each, along their last axis.
    Listed(Vec<usize>),
}

/// How often an index counts from the end of its axis, where any of the tensor do.
const FROM_END: f64 = 0.3;

impl Places {
    /// Those of a tensor that indices point into: along an axis, or in lists.
    pub(crate) fn of(tensor: &Type, indices: &Type, axis: Option<usize>) -> Self {
        let sizes = extents(tensor);
        match axis {
            Some(axis) => Self::Along { axis, size: sizes[axis] },
            None => {
                Self::Listed(sizes.into_iter().take(extents(indices).last().copied().unwrap_or(0)).collect())
            }
        }
    }

    /// Indices of a type in row-major order, each to another place; none where there are too few places.
    pub(crate) fn indices(&self, ty: &Type, rng: &mut impl Rng) -> Option<Vec<i128>> {
        let from_end = if rng.random() { FROM_END } else { 0.0 };
        match self {
            Self::Along { axis, size } => along(&extents(ty), *axis, *size, from_end, rng),
            Self::Listed(sizes) => listed(extents(ty).iter().product(), sizes, from_end, rng),
        }
    }
}

fn extents(ty: &Type) -> Vec<usize> {
    ty.shape.iter().map(|&size| size as usize).collect()
}

fn along(shape: &[usize], axis: usize, size: usize, from_end: f64, rng: &mut impl Rng) -> Option<Vec<i128>> {
    let (each, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    if each > size {
        return None;
    }
    let mut all = vec![0; shape.iter().product()];
    for block in all.chunks_mut((each * inner).max(1)) {
        for lane in 0..inner {
            for (k, place) in index::sample(rng, size, each).into_iter().enumerate() {
                block[k * inner + lane] = index_of(place, size, from_end, rng);
            }
        }
    }
    Some(all)
}

fn listed(count: usize, sizes: &[usize], from_end: f64, rng: &mut impl Rng) -> Option<Vec<i128>> {
    let (lists, places) = (count.checked_div(sizes.len())?, sizes.iter().product());
    if lists > places {
        return None;
    }
    let mut all = Vec::with_capacity(count);
    for mut place in index::sample(rng, places, lists) {
        let start = all.len();
        for &size in sizes.iter().rev() {
            all.push(index_of(place % size, size, from_end, rng));
            place /= size;
        }
        all[start..].reverse();
    }
    Some(all)
}

/// An index for a place along an axis.
fn index_of(place: usize, size: usize, from_end: f64, rng: &mut impl Rng) -> i128 {
    place as i128 - if rng.random_bool(from_end) { size as i128 } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ir::{DType, Stream};

    use super::*;

    fn drawn(places: &Places, shape: &[i64], seed: u64) -> Option<Vec<i128>> {
        places.indices(&Type::new(DType::I64, shape), &mut Stream::new(seed).rng())
    }

    #[test]
    fn no_two_indices_of_a_lane_are_one() {
        let places = Places::Along { axis: 1, size: 4 };
        for seed in 0..20 {
            let all = drawn(&places, &[2, 3, 5], seed).expect("there are more places than indices");
            for (i, j) in (0..2).flat_map(|i| (0..5).map(move |j| (i, j))) {
                let lane: BTreeSet<i128> = (0..3).map(|k| all[(i * 3 + k) * 5 + j].rem_euclid(4)).collect();
                assert_eq!(lane.len(), 3, "seed {seed}: {all:?}");
            }
            assert!(all.iter().all(|z| (-4..4).contains(z)), "seed {seed}: {all:?}");
        }
        assert_eq!(drawn(&places, &[2, 5, 1], 0), None);
        assert_eq!(drawn(&places, &[2, 0, 5], 0), Some(Vec::new()));
    }

    #[test]
    fn no_two_lists_are_of_one_place() {
        let places = Places::Listed(vec![4, 1, 3]);
        for seed in 0..20 {
            let all = drawn(&places, &[2, 6, 3], seed).expect("there are as many places as lists");
            let lists = all.chunks(3).map(|list| [0, 1, 2].map(|i| list[i].rem_euclid([4, 1, 3][i])));
            assert_eq!(lists.collect::<BTreeSet<_>>().len(), 12, "seed {seed}: {all:?}");
            assert!(all.iter().enumerate().all(|(i, z)| (-[4, 1, 3][i % 3]..[4, 1, 3][i % 3]).contains(z)));
        }
        assert_eq!(drawn(&places, &[13, 3], 0), None);
    }
}
