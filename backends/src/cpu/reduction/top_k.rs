//! TopK: each lane sorted, so the order is that of `sorted` even where it is left open. NaN comes first.

use std::cmp::Ordering;

use ops::reduction::TopK;

use super::arg::precedes;
use crate::cpu::call::Call;
use crate::cpu::cells::dispatch_cell;
use crate::cpu::element::{Number, dispatch_number};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::lanes::Lanes;
use crate::cpu::strided::{axis_index, split_at};

pub(crate) fn run(op: TopK, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let axis = axis_index(op.axis, shape.len())?;
    let k = usize::try_from(op.k).ok().filter(|&k| k <= shape[axis]);
    let k = k.ok_or(CpuError::Invalid("it wants more elements than there are"))?;
    let lanes = Lanes::new(shape, &[axis]);
    let firsts = dispatch_number!(c.dtype(0)?, T => {
        Ok(lanes.reduce(&c.elements::<T>(0)?, &|lane| firsts(lane, k, op.largest)))
    })?;
    let (indices, elements) = laid_out(&firsts, k, split_at(shape, axis));
    let values = dispatch_cell!(c.dtype(0)?, C => {
        let x = c.cells::<C>(0)?;
        c.store_cells(0, elements.into_iter().map(|element| x[element]).collect())
    })?;
    Ok(vec![values, c.store(1, indices)?])
}

/// The results in their order: the index on the axis of each, and its place among all elements.
fn laid_out(
    lanes: &[Vec<usize>],
    k: usize,
    (around, size, inside): (usize, usize, usize),
) -> (Vec<i64>, Vec<usize>) {
    let (mut indices, mut elements) = (vec![0; around * k * inside], vec![0; around * k * inside]);
    for (i, lane) in lanes.iter().enumerate() {
        // The place around the axis and that inside of it.
        let (outer, inner) = (i / inside, i % inside);
        for (j, &index) in lane.iter().enumerate() {
            let at = (outer * k + j) * inside + inner;
            indices[at] = index as i64;
            elements[at] = (outer * size + index) * inside + inner;
        }
    }
    (indices, elements)
}

/// The places of the first `k` elements, of equal ones the lower place first.
fn firsts<W: Number>(lane: &[W], k: usize, largest: bool) -> Vec<usize> {
    let mut places: Vec<usize> = (0..lane.len()).collect();
    let order = |&i: &usize, &j: &usize| {
        if precedes(lane[i], lane[j], largest) {
            Ordering::Less
        } else if precedes(lane[j], lane[i], largest) {
            Ordering::Greater
        } else {
            i.cmp(&j)
        }
    };
    places.sort_unstable_by(order);
    places.truncate(k);
    places
}
