//! The window of convolutions and pools, as it slides over rows.
//!
//! The last spatial axis is that of rows: along it a cell of the kernel meets a run of elements at a run of positions. On the
//! axes before, a position of the output has a list of the cells that meet a row, and which row that is.

use std::ops::Range;

use ops::nn::window::{AutoPad, Window};

use crate::cpu::error::CpuError;

/// One spatial axis.
#[derive(Clone, Copy)]
struct Axis {
    input: usize,
    kernel: usize,
    output: usize,
    stride: usize,
    dilation: usize,
    begin: usize,
    end: usize,
}

impl Axis {
    /// The axis of which nothing is said: there is one element, and one cell.
    const POINT: Self = Self { input: 1, kernel: 1, output: 1, stride: 1, dilation: 1, begin: 0, end: 0 };

    /// The positions at which a cell meets an element, and the first one that it meets.
    fn run(&self, cell: usize) -> Run {
        // How far the cell reaches into the padding at position 0.
        let outside = self.begin as isize - (cell * self.dilation) as isize;
        let from = outside.max(0).cast_unsigned().div_ceil(self.stride);
        let beyond = (self.input as isize + outside).max(0).cast_unsigned().div_ceil(self.stride);
        let to = beyond.min(self.output);
        let positions = from.min(to)..to;
        let first = (positions.start * self.stride).checked_add_signed(-outside).unwrap_or(0);
        Run { positions, first }
    }

    /// How many cells lie on the input or its padding at a position, and do not overhang both.
    fn within(&self, position: usize) -> usize {
        let end = self.input + self.begin + self.end;
        (0..self.kernel).filter(|cell| position * self.stride + cell * self.dilation < end).count()
    }
}

/// Where a cell meets elements of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// The positions.
    pub(super) positions: Range<usize>,
    /// The element at the first of them; those after it are a stride apart.
    pub(super) first: usize,
}

/// A row of the input that some cells meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Met {
    /// The number of the cell on the axes before the last, in row-major order.
    pub(super) cell: usize,
    /// The row of the input.
    pub(super) row: usize,
}

/// A window over inputs of a known size.
pub(super) struct Slide {
    /// For each row of the output, the rows of the input, in the order of cells.
    pub(super) rows: Vec<Vec<Met>>,
    /// For each cell of the last axis, what it meets.
    pub(super) runs: Vec<Run>,
    /// How far apart the elements are that a cell meets.
    pub(super) stride: usize,
    /// The elements of a row of the input, and of the output.
    pub(super) widths: [usize; 2],
    /// For each row of the output, and for each position in one, how many cells lie on the input or its padding.
    pub(super) within: [Vec<usize>; 2],
    /// Whether each position meets the element of the same number, and that alone.
    pub(super) is_identity: bool,
}

impl Slide {
    /// The window over an input; all sizes are those of spatial axes.
    pub(super) fn new(
        window: &Window,
        input: &[usize],
        kernel: &[usize],
        output: &[usize],
    ) -> Result<Self, CpuError> {
        if kernel.len() != input.len() || output.len() != input.len() {
            return Err(CpuError::Invalid("the kernel and the output have not the input's spatial axes"));
        }
        let axes: Vec<Axis> = (0..input.len()).map(|i| axis(window, i, input, kernel, output)).collect();
        let (last, outer) = axes.split_last().map_or((Axis::POINT, &[][..]), |(last, outer)| (*last, outer));
        let mut rows = vec![vec![Met { cell: 0, row: 0 }]];
        let mut within = vec![1];
        for axis in outer {
            let met: Vec<Vec<Met>> = (0..axis.output).map(|position| met(axis, position)).collect();
            let join = |outer: &Met, inner: &Met| Met {
                cell: outer.cell * axis.kernel + inner.cell,
                row: outer.row * axis.input + inner.row,
            };
            let pairs = |outer: &[Met], inner: &[Met]| -> Vec<Met> {
                outer.iter().flat_map(|o| inner.iter().map(move |i| join(o, i))).collect()
            };
            rows = rows.iter().flat_map(|outer| met.iter().map(move |inner| pairs(outer, inner))).collect();
            let each = (0..axis.output).map(|position| axis.within(position));
            within = within.iter().flat_map(|&outer| each.clone().map(move |inner| outer * inner)).collect();
        }
        let is_point =
            |axis: &Axis| (axis.kernel, axis.stride, axis.begin) == (1, 1, 0) && axis.input == axis.output;
        Ok(Self {
            rows,
            runs: (0..last.kernel).map(|cell| last.run(cell)).collect(),
            stride: last.stride,
            widths: [last.input, last.output],
            within: [within, (0..last.output).map(|position| last.within(position)).collect()],
            is_identity: axes.iter().all(is_point),
        })
    }
}

/// The rows that the cells of an axis meet at a position.
fn met(axis: &Axis, position: usize) -> Vec<Met> {
    let row = |cell: usize| {
        let row = (position * axis.stride + cell * axis.dilation).checked_sub(axis.begin)?;
        (row < axis.input).then_some(Met { cell, row })
    };
    (0..axis.kernel).filter_map(row).collect()
}

/// An axis with its padding, which may follow from the sizes.
fn axis(window: &Window, i: usize, input: &[usize], kernel: &[usize], output: &[usize]) -> Axis {
    let listed = |list: &[i64], i: usize, otherwise: usize| {
        list.get(i).map_or(otherwise, |&v| usize::try_from(v).unwrap_or(0))
    };
    let stride = listed(&window.strides, i, 1).max(1);
    let dilation = listed(&window.dilations, i, 1);
    let [input, kernel, output] = [input, kernel, output].map(|sizes| sizes[i]);
    let reach = output.saturating_sub(1) * stride + kernel.saturating_sub(1) * dilation + 1;
    let missing = reach.saturating_sub(input);
    let (begin, end) = match window.auto_pad {
        AutoPad::NotSet => (listed(&window.pads, i, 0), listed(&window.pads, window.pads.len() / 2 + i, 0)),
        AutoPad::Valid => (0, 0),
        AutoPad::SameUpper => (missing / 2, missing - missing / 2),
        AutoPad::SameLower => (missing - missing / 2, missing / 2),
    };
    Axis { input, kernel, output, stride, dilation, begin, end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(auto_pad: AutoPad, strides: &[i64], dilations: &[i64], pads: &[i64]) -> Window {
        let [strides, dilations, pads] = [strides, dilations, pads].map(<[i64]>::to_vec);
        Window { auto_pad, strides, dilations, pads, ceil_mode: true }
    }

    #[test]
    fn cells_meet_runs_of_elements() {
        let runs = |window: &Window, input, kernel, output| {
            let slide = Slide::new(window, &[input], &[kernel], &[output]).unwrap();
            slide.runs.into_iter().map(|run| (run.positions, run.first)).collect::<Vec<_>>()
        };
        // x = [a b c d], padded by one before: 0a, bc.
        let padded = window(AutoPad::NotSet, &[2], &[], &[1, 0]);
        assert_eq!(runs(&padded, 4, 2, 2), [(1..2, 1), (0..2, 0)]);
        // x = [a b c], padded by four before, with cells two apart: 0.0.a, 0.0.b, 0.a.c, 0.b.0, a.c.0.
        let dilated = window(AutoPad::NotSet, &[], &[2], &[4, 2]);
        assert_eq!(runs(&dilated, 3, 3, 5), [(4..5, 0), (2..5, 0), (0..3, 0)]);
        // A cell that lies in the padding at all positions.
        let outside = runs(&window(AutoPad::NotSet, &[], &[], &[3, 0]), 1, 4, 1);
        let (last, others) = outside.split_last().expect("there are cells");
        assert!(others.iter().all(|(positions, _)| positions.is_empty()) && *last == (0..1, 0));
    }

    #[test]
    fn same_padding_is_shared_between_both_ends() {
        let firsts = |auto_pad| {
            let slide = Slide::new(&window(auto_pad, &[3], &[], &[]), &[4], &[2], &[2]).unwrap();
            slide.runs.into_iter().map(|run| (run.positions.start, run.first)).collect::<Vec<_>>()
        };
        // Two positions reach over five elements of four: the one that is missing goes to the end, or to the beginning.
        assert_eq!(firsts(AutoPad::SameUpper), [(0, 0), (0, 1)]);
        assert_eq!(firsts(AutoPad::SameLower), [(1, 2), (0, 0)]);
    }

    #[test]
    fn rows_are_met_in_the_order_of_cells() {
        let padded = window(AutoPad::NotSet, &[1, 2], &[], &[1, 0, 1, 0]);
        let slide = Slide::new(&padded, &[2, 4], &[3, 2], &[2, 2]).unwrap();
        let rows = |i: usize| slide.rows[i].iter().map(|met| (met.cell, met.row)).collect::<Vec<_>>();
        assert_eq!((rows(0), rows(1)), (vec![(1, 0), (2, 1)], vec![(0, 0), (1, 1)]));
        assert_eq!((slide.stride, slide.widths, slide.is_identity), (2, [4, 2], false));
    }

    #[test]
    fn what_overhangs_the_padding_does_not_count() {
        let slide = Slide::new(&window(AutoPad::NotSet, &[2], &[], &[0, 1]), &[5], &[3], &[3]).unwrap();
        assert_eq!(slide.within[1], [3, 3, 2]);
    }
}
