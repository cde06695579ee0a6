//! Pools of `f32`: over the rows that a row of the output meets, one cell after the other for the whole row.

use ir::DType;
use ops::nn::{AveragePool, GlobalPool, GlobalPoolFn, MaxPool};

use super::slide::Slide;
use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::sizes;
use crate::cpu::vector::fold::Fold;
use crate::cpu::vector::functions::larger;
use crate::cpu::vector::room::{each_part, zeros};
use crate::cpu::vector::wide::wide;

pub(crate) fn max(op: &MaxPool, c: &Call<'_>) -> Option<Outputs> {
    // Where the largest elements are, the plain kernel says.
    let is_here = c.dtype(0) == Ok(DType::F32) && c.outputs.len() == 1;
    is_here.then(|| {
        let slide = slide(c, &op.pool.window, &op.pool.kernel_shape)?;
        let is_met = is_met(&slide);
        pooled(
            c,
            &slide,
            f32::NEG_INFINITY,
            |x, y| larger(y, x),
            |row, y| {
                // What meets nothing is undefined.
                for (y, &is_met) in y.iter_mut().zip(&is_met) {
                    *y = if is_met && !slide.rows[row].is_empty() { *y } else { 0.0 };
                }
            },
        )
    })
}

pub(crate) fn average(op: &AveragePool, c: &Call<'_>) -> Option<Outputs> {
    (c.dtype(0) == Ok(DType::F32)).then(|| {
        let slide = slide(c, &op.pool.window, &op.pool.kernel_shape)?;
        let met: [Vec<usize>; 2] = [slide.rows.iter().map(Vec::len).collect(), counts(&slide)];
        let [rows, columns] = if op.count_include_pad { &slide.within } else { &met };
        pooled(
            c,
            &slide,
            0.0,
            |sum, x| sum + x,
            |row, y| {
                for (y, &column) in y.iter_mut().zip(columns) {
                    *y /= (rows[row] * column) as f32;
                }
            },
        )
    })
}

pub(crate) fn global(op: GlobalPool, c: &Call<'_>) -> Option<Outputs> {
    if c.dtype(0) != Ok(DType::F32) {
        return None;
    }
    let (x, shape) = (c.elements::<f32>(0).ok()?, c.shape(0).ok()?);
    let (lanes, n) = (shape.iter().take(2).product(), shape.iter().skip(2).product::<usize>());
    Some(c.only(match op.0 {
        GlobalPoolFn::Average => {
            let sums = Fold::total().lanes(c.threads(), &x, [lanes, n, 1]);
            sums.into_iter().map(|sum| sum / n as f32).collect()
        }
        GlobalPoolFn::Max if n == 0 => vec![0.0; lanes],
        GlobalPoolFn::Max => Fold::largest().lanes(c.threads(), &x, [lanes, n, 1]),
    }))
}

fn slide(c: &Call<'_>, window: &ops::nn::window::Window, kernel: &[i64]) -> Result<Slide, CpuError> {
    let (shape, output) = (c.shape(0)?, c.output(0)?.extents());
    if shape.len() < 2 || output.len() != shape.len() {
        return Err(CpuError::Invalid("it has no images"));
    }
    Slide::new(window, &shape[2..], &sizes(kernel), &output[2..])
}

/// How many cells of the last axis meet an element at each position.
fn counts(slide: &Slide) -> Vec<usize> {
    let met = |position| slide.runs.iter().filter(|run| run.positions.contains(&position)).count();
    (0..slide.widths[1]).map(met).collect()
}

/// Whether any does.
fn is_met(slide: &Slide) -> Vec<bool> {
    counts(slide).into_iter().map(|count| count > 0).collect()
}

/// Combines the elements in each window and hands every row of the output, with its number within the image,
/// to `finish`. First the rows that meet the window are combined with each other, then the elements of that
/// along the last axis.
fn pooled(
    c: &Call<'_>,
    slide: &Slide,
    neutral: f32,
    combine: impl Fn(f32, f32) -> f32 + Copy + Sync,
    finish: impl Fn(usize, &mut [f32]) + Sync,
) -> Outputs {
    let (x, shape) = (c.elements::<f32>(0)?, c.shape(0)?);
    let area: usize = shape.iter().skip(2).product();
    let [width_in, width] = slide.widths;
    let mut y = zeros(0f32, c.output(0)?.extents().iter().product());
    let rows = slide.rows.len();
    let cost = slide.runs.len() * slide.rows.first().map_or(1, Vec::len) * width;
    each_part(c.threads(), &mut y, width, cost, &|first, part| {
        let mut column = vec![neutral; width_in];
        wide!({
            for (number, y) in (first..).zip(part.chunks_exact_mut(width.max(1))) {
                let (image, row) = (&x[number / rows * area..][..area], number % rows);
                column.fill(neutral);
                for met in &slide.rows[row] {
                    let from = &image[met.row * width_in..][..width_in];
                    column.iter_mut().zip(from).for_each(|(y, &x)| *y = combine(*y, x));
                }
                y.fill(neutral);
                for run in &slide.runs {
                    // Where nothing is met, there may be nothing to start from either.
                    let from = column.get(run.first..).unwrap_or_default();
                    each_met(&mut y[run.positions.clone()], from, slide.stride, combine);
                }
                finish(row, y);
            }
        });
    });
    c.only(y)
}

/// Combines what is there with elements a stride apart.
#[inline(always)]
#[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
fn each_met(y: &mut [f32], from: &[f32], stride: usize, combine: impl Fn(f32, f32) -> f32) {
    match stride {
        1 => y.iter_mut().zip(from).for_each(|(y, &x)| *y = combine(*y, x)),
        // A distance that is known is one that vectors can be shuffled by.
        2 => {
            let (pairs, rest) = from.as_chunks::<2>();
            y.iter_mut().zip(pairs).for_each(|(y, pair)| *y = combine(*y, pair[0]));
            y.iter_mut().skip(pairs.len()).zip(rest).for_each(|(y, &x)| *y = combine(*y, x));
        }
        _ => y.iter_mut().zip(from.iter().step_by(stride)).for_each(|(y, &x)| *y = combine(*y, x)),
    }
}
