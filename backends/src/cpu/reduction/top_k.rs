//! TopK: each lane sorted, so the order is that of `sorted` even where it is left open. NaN comes first.

use std::cmp::Ordering;

use ops::reduction::TopK;

use super::arg::precedes;
use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, dispatch_number};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::lanes::Lanes;
use crate::cpu::strided::{axis_index, split_at};

pub(crate) fn run(op: TopK, c: &Call<'_>) -> Outputs {
    dispatch_number!(c.dtype(0)?, T => top_k::<T>(op, c))
}

fn top_k<T: Numeric>(op: TopK, c: &Call<'_>) -> Outputs {
    let (x, shape) = (c.elements::<T>(0)?, c.shape(0)?);
    let axis = axis_index(op.axis, shape.len())?;
    let (around, size, inside) = split_at(shape, axis);
    let k = usize::try_from(op.k).ok().filter(|&k| k <= size);
    let k = k.ok_or(CpuError::Invalid("it wants more elements than there are"))?;
    let lanes = Lanes::new(shape, &[axis]);
    let firsts = lanes.reduce(&x, |lane| firsts(lane, k, op.largest));
    let mut places = vec![0; around * k * inside];
    for (i, lane) in firsts.iter().enumerate() {
        let start = i / inside * k * inside + i % inside;
        lane.iter().enumerate().for_each(|(j, &place)| places[start + j * inside] = place);
    }
    // The element at `place` of the lane around and inside which an output lies.
    let source = |(i, &place): (usize, &usize)| x[(i / (k * inside) * size + place) * inside + i % inside];
    let values = places.iter().enumerate().map(source).collect();
    let indices: Vec<i64> = places.iter().map(|&p| p as i64).collect();
    Ok(vec![c.store(0, values)?, c.store(1, indices)?])
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
