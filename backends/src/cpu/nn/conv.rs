//! Conv: for each image and group, the elements that the kernel's cells meet are laid out as a matrix, which the
//! weights multiply ("im2col"). Padding stands in it as zeros.

use ops::nn::Conv;

use super::window::{Meeting, Sliding};
use crate::cpu::call::Call;
use crate::cpu::element::{Float, Number, dispatch_real};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::gemm::{Matrix, multiply_add};

pub(crate) fn run(op: &Conv, c: &Call<'_>) -> Outputs {
    dispatch_real!(c.dtype(0)?, T => conv::<T>(op, c))
}

fn conv<T: Float>(op: &Conv, c: &Call<'_>) -> Outputs {
    let (x, w) = (c.loaded::<T>(0)?, c.loaded::<T>(1)?);
    let bias = c.opt(2).map(|_| c.loaded::<T>(2)).transpose()?;
    let (input, kernel, output) = (c.shape(0)?, c.shape(1)?, c.output(0)?.extents());
    let groups = usize::try_from(op.group).unwrap_or(0);
    if input.len() < 2 || output.len() != input.len() || kernel.len() != input.len() || groups == 0 {
        return Err(CpuError::Invalid("its operands have not the ranks of a convolution"));
    }
    let meetings = Sliding::new(&op.window, &input[2..], &kernel[2..], &output[2..])?.meetings();
    let [area, positions] = [&input[2..], &output[2..]].map(|s| s.iter().product::<usize>());
    let (images, per_group, made) = (input[0], kernel[1], kernel[0] / groups);
    let rows = per_group * meetings.len();
    let mut y = Vec::with_capacity(images * kernel[0] * positions);
    let mut columns = vec![Number::ZERO; rows * positions];
    for image in 0..images {
        for group in 0..groups {
            let first = (image * input[1] + group * per_group) * area;
            lay_out(&x[first..first + per_group * area], area, &meetings, positions, &mut columns);
            let start = y.len();
            for channel in group * made..(group + 1) * made {
                let initial = bias.as_ref().map_or(Number::ZERO, |b| b[channel]);
                y.resize(y.len() + positions, initial);
            }
            let weights = Matrix::dense(&w[group * made * rows..], rows);
            multiply_add(
                [made, rows, positions],
                weights,
                Matrix::dense(&columns, positions),
                &mut y[start..],
            );
        }
    }
    c.only_numbers::<T>(y)
}

/// Fills in a row for each channel and cell: what the cell meets at each output position. Padding is left as it is,
/// since it lies at the same places every time.
fn lay_out<W: Number>(x: &[W], area: usize, meetings: &[Vec<Meeting>], positions: usize, columns: &mut [W]) {
    let mut rows = columns.chunks_exact_mut(positions.max(1));
    for channel in x.chunks_exact(area.max(1)) {
        for (cell, row) in meetings.iter().zip(rows.by_ref()) {
            for m in cell {
                row[m.position] = channel[m.element];
            }
        }
    }
}
