//! Conv of `f32`.
//!
//! For some rows of the output at a time, what the kernel's cells meet there is laid out as a matrix, which the weights multiply:
//! so much of it as stays in a cache. Where a cell is all the kernel and meets every element, that matrix is the input itself.
//! Where each channel is convolved alone, there is nothing to multiply: the cells are added up, row by row.

use std::borrow::Cow;

use ir::DType;
use ndarray::{ArrayViewMut2, Axis};
use ops::nn::Conv;

use super::slide::Slide;
use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::vector::product::{Matrix, multiply, multiply_into};
use crate::cpu::vector::room::{each_part, zeros};
use crate::cpu::vector::wide::wide;

/// How many elements of the matrix are laid out at a time: half a megabyte.
const LAID_OUT: usize = 1 << 17;

pub(crate) fn run(op: &Conv, c: &Call<'_>) -> Option<Outputs> {
    if c.dtype(0) != Ok(DType::F32) {
        return None;
    }
    Some(Problem::new(op, c).and_then(|problem| c.only(problem.run(c.threads()))))
}

/// A convolution with its sizes.
struct Problem<'a> {
    x: Cow<'a, [f32]>,
    w: Cow<'a, [f32]>,
    bias: Option<Cow<'a, [f32]>>,
    slide: Slide,
    images: usize,
    groups: usize,
    /// The channels of the input, and of the output, in a group.
    channels: usize,
    maps: usize,
    /// The elements of a channel of the input, the cells of the kernel, and the positions of the output.
    area: usize,
    cells: usize,
    positions: usize,
}

impl<'a> Problem<'a> {
    fn new(op: &Conv, c: &Call<'a>) -> Result<Self, CpuError> {
        let (input, kernel, output) = (c.shape(0)?, c.shape(1)?, c.output(0)?.extents());
        let groups = usize::try_from(op.group).unwrap_or(0);
        if input.len() < 2 || output.len() != input.len() || kernel.len() != input.len() || groups == 0 {
            return Err(CpuError::Invalid("its operands have not the ranks of a convolution"));
        }
        let [area, cells, positions] =
            [&input[2..], &kernel[2..], &output[2..]].map(|sizes| sizes.iter().product::<usize>());
        Ok(Self {
            x: c.elements(0)?,
            w: c.elements(1)?,
            bias: c.opt(2).map(|_| c.elements(2)).transpose()?,
            slide: Slide::new(&op.window, &input[2..], &kernel[2..], &output[2..])?,
            images: input[0],
            groups,
            channels: kernel[1],
            maps: kernel[0] / groups,
            area,
            cells,
            positions,
        })
    }

    fn run(&self, threads: usize) -> Vec<f32> {
        let mut y = zeros(0f32, self.images * self.groups * self.maps * self.positions);
        if y.is_empty() {
            return y;
        }
        if self.channels == 1 {
            let cost = self.positions * self.cells;
            each_part(threads, &mut y, self.positions, cost, &|first, part| {
                wide!({
                    for (map, y) in (first..).zip(part.chunks_exact_mut(self.positions)) {
                        self.alone(map, y);
                    }
                });
            });
            return y;
        }
        for (number, y) in y.chunks_exact_mut(self.maps * self.positions).enumerate() {
            let group = number % self.groups;
            let x = &self.x[number * self.channels * self.area..][..self.channels * self.area];
            if self.slide.is_identity {
                self.weigh(threads, group, x, y);
            } else {
                self.in_blocks(threads, group, x, y);
            }
        }
        y
    }

    /// The bias of a map, by its number in all groups.
    fn bias(&self, map: usize) -> f32 {
        self.bias.as_ref().map_or(0.0, |bias| bias[map])
    }

    /// Adds the bias to some positions of all maps of a group.
    fn add_bias(&self, group: usize, mut y: ArrayViewMut2<'_, f32>) {
        if self.bias.is_some() {
            for (map, mut y) in (group * self.maps..).zip(y.rows_mut()) {
                y += self.bias(map);
            }
        }
    }

    /// The maps of an image and a group where each position has an element of the input: the weights times that.
    fn weigh(&self, threads: usize, group: usize, x: &[f32], y: &mut [f32]) {
        let weights = Matrix::dense(&self.w[group * self.maps * self.channels..], self.channels);
        let x = Matrix::dense(x, self.positions);
        multiply(threads, [self.maps, self.channels, self.positions], weights, x, y, false);
        self.add_bias(group, ArrayViewMut2::from_shape((self.maps, self.positions), y).expect("all maps"));
    }

    /// One map of an image, from one channel.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
    fn alone(&self, number: usize, y: &mut [f32]) {
        let map = number % (self.groups * self.maps);
        let channel = number / self.maps;
        let x = &self.x[channel * self.area..][..self.area];
        let w = &self.w[map * self.cells..][..self.cells];
        let Slide { rows, runs, stride, widths: [width_in, width], .. } = &self.slide;
        y.fill(self.bias(map));
        for (y, rows) in y.chunks_exact_mut((*width).max(1)).zip(rows) {
            for met in rows {
                let from = &x[met.row * width_in..][..*width_in];
                for (run, &w) in runs.iter().zip(&w[met.cell * runs.len()..]) {
                    let y = &mut y[run.positions.clone()];
                    let from = from.get(run.first..).unwrap_or_default();
                    if *stride == 1 {
                        y.iter_mut().zip(from).for_each(|(y, &x)| *y += w * x);
                    } else {
                        y.iter_mut().zip(from.iter().step_by(*stride)).for_each(|(y, &x)| *y += w * x);
                    }
                }
            }
        }
    }

    /// The maps of an image and a group, some rows of the output at a time.
    fn in_blocks(&self, threads: usize, group: usize, x: &[f32], y: &mut [f32]) {
        let (rows, width) = (self.slide.rows.len(), self.slide.widths[1]);
        let height = self.channels * self.cells;
        let at_a_time = (LAID_OUT / (height * width).max(1)).clamp(1, rows.div_ceil(threads).max(1));
        let weights = Matrix::dense(&self.w[group * self.maps * height..], height);
        let mut y = ArrayViewMut2::from_shape((self.maps, self.positions), y).expect("all maps");
        let mut blocks: Vec<_> = y.axis_chunks_iter_mut(Axis(1), at_a_time * width).collect();
        each_part(threads, &mut blocks, 1, height * self.maps * at_a_time * width, &|first, part| {
            let mut matrix = vec![0f32; height * at_a_time * width];
            for (block, y) in (first..).zip(part) {
                let here = block * at_a_time..rows.min((block + 1) * at_a_time);
                let matrix = &mut matrix[..height * y.ncols()];
                self.lay_out(x, &self.slide.rows[here], matrix);
                multiply_into(height, weights, Matrix::dense(matrix, y.ncols()), y.view_mut());
                self.add_bias(group, y.view_mut());
            }
        });
    }

    /// A row for each channel and cell: what the cell meets at each position of some rows of the output.
    fn lay_out(&self, x: &[f32], rows: &[Vec<super::slide::Met>], matrix: &mut [f32]) {
        let Slide { runs, stride, widths: [width_in, width], .. } = &self.slide;
        let columns = rows.len() * width;
        matrix.fill(0.0);
        for (channel, block) in matrix.chunks_exact_mut(self.cells * columns).enumerate() {
            let x = &x[channel * self.area..][..self.area];
            for (i, rows) in rows.iter().enumerate() {
                for met in rows {
                    let from = &x[met.row * width_in..][..*width_in];
                    for (cell, run) in (met.cell * runs.len()..).zip(runs) {
                        let to = &mut block[cell * columns + i * width..][run.positions.clone()];
                        let from = from.get(run.first..).unwrap_or_default();
                        if *stride == 1 {
                            to.copy_from_slice(&from[..to.len()]);
                        } else {
                            to.iter_mut().zip(from.iter().step_by(*stride)).for_each(|(y, &x)| *y = x);
                        }
                    }
                }
            }
        }
    }
}
