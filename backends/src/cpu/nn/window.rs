//! The sliding window of convolution and pooling, as lists of what meets what.

use ops::nn::pooling::Pooling;
use ops::nn::window::{AutoPad, Window};

use crate::cpu::call::Call;
use crate::cpu::error::CpuError;
use crate::cpu::strided::sizes;

/// One spatial axis.
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
    /// What cell `cell` of the kernel meets at output position `position`: how far from the first element, and
    /// negative in the padding before it.
    fn meets(&self, position: usize, cell: usize) -> isize {
        (position * self.stride + cell * self.dilation) as isize - self.begin as isize
    }

    /// The element that a cell meets; `None` in the padding.
    fn element(&self, position: usize, cell: usize) -> Option<usize> {
        usize::try_from(self.meets(position, cell)).ok().filter(|&at| at < self.input)
    }

    /// Whether a cell meets an element or the padding, and does not overhang it.
    fn is_padded(&self, position: usize, cell: usize) -> bool {
        self.meets(position, cell) < (self.input + self.end) as isize
    }
}

/// A window over the spatial axes of an input of known size.
pub(crate) struct Sliding {
    axes: Vec<Axis>,
}

/// The images that a pool goes over.
pub(crate) struct Images {
    /// The window over each.
    pub(crate) sliding: Sliding,
    /// For each cell of the kernel where it meets an element: [`Sliding::meetings`].
    pub(crate) cells: Vec<Vec<Meeting>>,
    /// The elements of one, and the positions on it.
    pub(crate) area: usize,
    pub(crate) positions: usize,
}

impl Images {
    /// Those of the first operand.
    pub(crate) fn of(c: &Call<'_>, pool: &Pooling) -> Result<Self, CpuError> {
        let (shape, output) = (c.shape(0)?, c.output(0)?.extents());
        if shape.len() < 2 || output.len() != shape.len() {
            return Err(CpuError::Invalid("it has no images"));
        }
        let (space, positions) = (&shape[2..], &output[2..]);
        let sliding = Sliding::new(&pool.window, space, &sizes(&pool.kernel_shape), positions)?;
        let cells = sliding.meetings();
        Ok(Self { sliding, cells, area: space.iter().product(), positions: positions.iter().product() })
    }
}

/// An output position and the element of the input that a cell of the kernel meets there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Meeting {
    pub(crate) position: usize,
    pub(crate) element: usize,
}

impl Sliding {
    /// The window over an input; all sizes are those of spatial axes.
    pub(crate) fn new(
        window: &Window,
        input: &[usize],
        kernel: &[usize],
        output: &[usize],
    ) -> Result<Self, CpuError> {
        let n = input.len();
        if kernel.len() != n || output.len() != n {
            return Err(CpuError::Invalid("the kernel and the output have not the input's spatial axes"));
        }
        let listed =
            |list: &[i64], i: usize, default: i64| list.get(i).copied().unwrap_or(default).max(0) as usize;
        let axis = |i: usize| {
            let (stride, dilation) = (listed(&window.strides, i, 1), listed(&window.dilations, i, 1));
            let mut axis = Axis {
                input: input[i],
                kernel: kernel[i],
                output: output[i],
                stride,
                dilation,
                begin: 0,
                end: 0,
            };
            // The cells that the last position needs beyond the input, shared between both ends.
            let reach = output[i].saturating_sub(1) * stride + kernel[i].saturating_sub(1) * dilation + 1;
            let missing = reach.saturating_sub(input[i]);
            (axis.begin, axis.end) = match window.auto_pad {
                AutoPad::NotSet => (listed(&window.pads, i, 0), listed(&window.pads, n + i, 0)),
                AutoPad::Valid => (0, 0),
                AutoPad::SameUpper => (missing / 2, missing.div_ceil(2)),
                AutoPad::SameLower => (missing.div_ceil(2), missing / 2),
            };
            axis
        };
        Ok(Self { axes: (0..n).map(axis).collect() })
    }

    /// For each cell of the kernel, in row-major order, where it meets an element.
    pub(crate) fn meetings(&self) -> Vec<Vec<Meeting>> {
        let mut all = vec![vec![Meeting { position: 0, element: 0 }]];
        for axis in &self.axes {
            let on_axis: Vec<Vec<Meeting>> = (0..axis.kernel)
                .map(|cell| {
                    let met = |position| Some(Meeting { position, element: axis.element(position, cell)? });
                    (0..axis.output).filter_map(met).collect()
                })
                .collect();
            let joined = |outer: &Meeting, inner: &Meeting| Meeting {
                position: outer.position * axis.output + inner.position,
                element: outer.element * axis.input + inner.element,
            };
            let product = |outer: &[Meeting], inner: &[Meeting]| -> Vec<Meeting> {
                outer.iter().flat_map(|o| inner.iter().map(move |i| joined(o, i))).collect()
            };
            all =
                all.iter().flat_map(|outer| on_axis.iter().map(move |inner| product(outer, inner))).collect();
        }
        all
    }

    /// For each output position the number of cells that meet an element or the padding.
    pub(crate) fn padded_counts(&self) -> Vec<usize> {
        let mut all = vec![1];
        for axis in &self.axes {
            let count = |p: usize| (0..axis.kernel).filter(|&cell| axis.is_padded(p, cell)).count();
            let counts: Vec<usize> = (0..axis.output).map(count).collect();
            all = all.iter().flat_map(|&outer| counts.iter().map(move |&inner| outer * inner)).collect();
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(auto_pad: AutoPad, strides: &[i64], pads: &[i64]) -> Window {
        let (strides, pads) = (strides.to_vec(), pads.to_vec());
        Window { auto_pad, strides, dilations: vec![], pads, ceil_mode: true }
    }

    fn pairs(window: &Window, input: usize, kernel: usize, output: usize) -> Vec<Vec<(usize, usize)>> {
        let sliding = Sliding::new(window, &[input], &[kernel], &[output]).unwrap();
        let cells = sliding.meetings().into_iter();
        cells.map(|cell| cell.iter().map(|m| (m.position, m.element)).collect()).collect()
    }

    #[test]
    fn cells_meet_elements_but_not_the_padding() {
        let padded = pairs(&window(AutoPad::NotSet, &[2], &[1, 0]), 4, 2, 2);
        assert_eq!(padded, [vec![(1, 1)], vec![(0, 0), (1, 2)]]);
        // ⌈4 / 3⌉ = 2 positions reach over 3 + 3 = 6 cells: one is added at each end; of 3 one goes to one end.
        let upper = pairs(&window(AutoPad::SameUpper, &[3], &[]), 4, 2, 2);
        assert_eq!(upper, [vec![(0, 0), (1, 3)], vec![(0, 1)]]);
        let lower = pairs(&window(AutoPad::SameLower, &[3], &[]), 4, 2, 2);
        assert_eq!(lower, [vec![(1, 2)], vec![(0, 0), (1, 3)]]);
    }

    #[test]
    fn axes_multiply() {
        let sliding = Sliding::new(&window(AutoPad::NotSet, &[], &[]), &[2, 3], &[1, 2], &[2, 2]).unwrap();
        let second: Vec<_> = sliding.meetings()[1].iter().map(|m| (m.position, m.element)).collect();
        assert_eq!(second, [(0, 1), (1, 2), (2, 4), (3, 5)]);
    }

    #[test]
    fn overhang_is_not_padding() {
        let sliding = Sliding::new(&window(AutoPad::NotSet, &[2], &[0, 1]), &[5], &[3], &[3]).unwrap();
        assert_eq!(sliding.padded_counts(), [3, 3, 2]);
    }
}
