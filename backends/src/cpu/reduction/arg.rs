//! ArgMax and ArgMin. As in numpy, a NaN is both the largest and the smallest element.

use ops::reduction::Arg;
use ops::reduction::arg::ArgFn;

use crate::cpu::call::Call;
use crate::cpu::element::{Number, dispatch_work};
use crate::cpu::error::Outputs;
use crate::cpu::lanes::Lanes;
use crate::cpu::strided::axis_index;

pub(crate) fn run(op: Arg, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let lanes = Lanes::new(shape, &[axis_index(op.axis, shape.len())?]);
    let largest = matches!(op.function, ArgFn::Max);
    dispatch_work!(c.dtype(0)?, T => {
        c.only(lanes.reduce(&c.elements::<T>(0)?, &|lane| first_of(lane, largest, op.select_last_index)))
    })
}

fn first_of<W: Number>(lane: &[W], largest: bool, last: bool) -> i64 {
    let mut best = 0;
    for (i, &x) in lane.iter().enumerate().skip(1) {
        // Where elements are equal, the later one takes over only if the last is wanted.
        if if last { !precedes(lane[best], x, largest) } else { precedes(x, lane[best], largest) } {
            best = i;
        }
    }
    best as i64
}

/// Whether `x` comes strictly before `y` when elements are ordered from the largest (or smallest) on, NaN first.
pub(super) fn precedes<W: Number>(x: W, y: W, largest: bool) -> bool {
    let strictly = if largest { x > y } else { x < y };
    strictly || (x.is_nan() && !y.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_and_nan() {
        let lane = [1.0f32, 3.0, 3.0, 1.0];
        let each = [(true, false), (true, true), (false, false), (false, true)];
        assert_eq!(each.map(|(largest, last)| first_of(&lane, largest, last)), [1, 2, 0, 3]);
        let lane = [1.0, f32::NAN, 9.0, f32::NAN];
        assert_eq!(each.map(|(largest, last)| first_of(&lane, largest, last)), [1, 3, 1, 3]);
    }
}
