//! Pad: for each axis a table says which element of the operand stands at each place of the output.

use ops::movement::{Pad, PadMode};

use crate::cpu::call::Call;
use crate::cpu::cells::{Cell, dispatch_cell, zero};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{axis_index, dense};

pub(crate) fn run(op: &Pad, c: &Call<'_>) -> Outputs {
    dispatch_cell!(c.dtype(0)?, C => pad::<C>(op, c))
}

fn pad<C: Cell>(op: &Pad, c: &Call<'_>) -> Outputs {
    let x = c.cells::<C>(0)?;
    let given = c.opt(1).map(|_| c.cells::<C>(1)).transpose()?;
    let fill = given.and_then(|fill| fill.first().copied()).unwrap_or(zero(c.dtype(0)?));
    let places = places(op, c.shape(0)?)?;
    c.only_cells(places.into_iter().map(|place| place.map_or(fill, |i| x[i])).collect())
}

/// The operand's element at each place of the output; `None` where the fill stands.
fn places(op: &Pad, shape: &[usize]) -> Result<Vec<Option<usize>>, CpuError> {
    let strides = dense(shape);
    let tables: Vec<Vec<Option<usize>>> = amounts(op, shape.len())?
        .into_iter()
        .zip(shape)
        .zip(&strides)
        .map(|((amounts, &size), &stride)| {
            let elements = sources(op.mode, amounts, size).into_iter();
            elements.map(|e| e.map(|e| e * stride as usize)).collect()
        })
        .collect();
    // Of nothing there may be billions of runs.
    if tables.iter().any(Vec::is_empty) {
        return Ok(Vec::new());
    }
    // From the first axis to the last, the starts of ever shorter runs.
    let mut starts = vec![Some(0)];
    for table in &tables {
        starts = starts.iter().flat_map(|&start| table.iter().map(move |&e| Some(start? + e?))).collect();
    }
    Ok(starts)
}

/// How much each axis grows at its beginning and at its end.
fn amounts(op: &Pad, rank: usize) -> Result<Vec<(i64, i64)>, CpuError> {
    let axes: Vec<i64> = op.axes.clone().unwrap_or_else(|| (0..rank as i64).collect());
    if op.pads.len() != 2 * axes.len() {
        return Err(CpuError::Invalid("it has not two pads for each axis"));
    }
    let (begins, ends) = op.pads.split_at(axes.len());
    let mut amounts = vec![(0, 0); rank];
    for ((&axis, &begin), &end) in axes.iter().zip(begins).zip(ends) {
        amounts[axis_index(axis, rank)?] = (begin, end);
    }
    Ok(amounts)
}

/// The operand's element at each place of an axis; `None` where the fill stands.
fn sources(mode: PadMode, (begin, end): (i64, i64), size: usize) -> Vec<Option<usize>> {
    let cropped = |amount: i64| amount.min(0).unsigned_abs() as usize;
    let added = |amount: i64| amount.max(0) as usize;
    let kept: Vec<usize> = (cropped(begin)..size.saturating_sub(cropped(end))).collect();
    let last = kept.len().saturating_sub(1);
    let walk = |count: i64| {
        let mut walker = Walker { mode, last, at: 0, forward: true };
        (0..added(count)).map(|_| walker.next()).collect::<Vec<_>>()
    };
    let before = walk(begin).into_iter().rev().map(|from_first| kept.get(from_first?).copied());
    let after = walk(end).into_iter().map(|from_last| kept.get(last - from_last?).copied());
    before.chain(kept.iter().copied().map(Some)).chain(after).collect()
}

/// Walks away from an edge of an axis; positions count from that edge inward.
struct Walker {
    mode: PadMode,
    last: usize,
    at: usize,
    forward: bool,
}

impl Iterator for Walker {
    type Item = usize;

    /// `None` where there is nothing to walk on.
    fn next(&mut self) -> Option<usize> {
        match self.mode {
            PadMode::Constant => return None,
            PadMode::Edge => {}
            // Beyond an edge the ring goes on at the other one.
            PadMode::Wrap => self.at = self.at.checked_sub(1).unwrap_or(self.last),
            // As light between two mirrors.
            PadMode::Reflect => {
                if self.at == self.last {
                    self.forward = false;
                } else if self.at == 0 {
                    self.forward = true;
                }
                self.at = if self.forward { self.at + 1 } else { self.at.saturating_sub(1) };
            }
        }
        Some(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn along(mode: PadMode, size: usize, begin: i64, end: i64) -> Vec<i64> {
        sources(mode, (begin, end), size).into_iter().map(|s| s.map_or(-1, |i| i as i64)).collect()
    }

    #[test]
    fn each_mode_goes_on_as_far_as_it_takes() {
        assert_eq!(along(PadMode::Constant, 2, 1, 2), [-1, 0, 1, -1, -1]);
        assert_eq!(along(PadMode::Reflect, 3, 5, 3), [1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1]);
        assert_eq!(along(PadMode::Reflect, 1, 2, 1), [0, 0, 0, 0]);
        assert_eq!(along(PadMode::Edge, 3, 2, 1), [0, 0, 0, 1, 2, 2]);
        assert_eq!(along(PadMode::Wrap, 2, 3, 3), [1, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(along(PadMode::Edge, 4, -1, 2), [1, 2, 3, 3, 3]);
        assert_eq!(along(PadMode::Constant, 2, -2, 1), [-1]);
    }
}
