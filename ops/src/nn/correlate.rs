//! Sums of products of what filters meet in images, with them: what Conv and ConvTranspose are made of.
//!
//! What the filters meet is laid out, so that their sums are a product of matrices.

use std::collections::BTreeMap;

use ir::{Dim, Type};
use ndarray::{Array2, ArrayView1, ArrayView2, s};

use crate::arith::{Arith, Class};
use crate::data::{Call, Data};
use crate::lanes::array;
use crate::nn::window::Tap;
use crate::rule::{Args, Reject, Rule, same_dtype, same_shape};

/// How many elements are laid out at once, for many filters to meet: some megabytes of any number system.
const LAID_OUT: usize = 1 << 17;

/// The types of X and of the filters, W, that meet it in groups of channels, as convolution and its transpose both
/// require them; and the channels of the result. `channels` and `maps` tell of W how many X has, and how many the
/// result. The bias has one number for each of these, and `stated` is the kernel's shape, where an attribute has it.
pub(super) fn operands<'a, D: Dim>(
    x: Args<'a, D>,
    r: &mut dyn Rule<D>,
    group: D,
    stated: Option<&[D]>,
    channels: impl Fn(&Type<D>) -> D,
    maps: impl Fn(&Type<D>) -> D,
) -> Result<(&'a Type<D>, &'a Type<D>, D), Reject> {
    let input = x.ranked_from(0, 3)?;
    let w = x.ranked(1, input.rank()..=input.rank())?;
    same_dtype(&[input, w])?;
    r.le(D::from(1), group)?;
    r.eq(channels(w), input.shape[1])?;
    // The channels that W has on its first axis fall into the groups evenly.
    r.eq(w.shape[0] / group * group, w.shape[0])?;
    if let Some(stated) = stated {
        same_shape(r, &w.shape[2..], stated)?;
    }
    // Not before: on the order in which terms come to be depends which solution is found.
    let maps = maps(w);
    if let Some(bias) = x.opt(2) {
        same_dtype(&[input, bias])?;
        r.eq(x.ranked(2, 1..=1)?.shape[0], maps)?;
    }
    Ok((input, w, maps))
}

/// The sizes of spatial axes.
pub(super) fn spatial(shape: &[usize]) -> Vec<i64> {
    shape[2..].iter().map(|&d| d as i64).collect()
}

/// The result where it has no elements, however many positions of a window it has: no images may have large ones.
pub(super) fn nothing<A: Arith>(c: &Call<'_, A>) -> Option<Data<A>> {
    (c.outputs[0].count() == 0).then(|| Data::Real(array(&c.extents(0), Vec::new())))
}

/// The sums of products of the images, operand 0, in groups of channels with the filters of each, which `taps` tells by
/// position what they meet in a channel. A bias is operand 2.
pub(super) fn correlated<A: Arith>(
    c: &Call<'_, A>,
    filters: &[Array2<A::R>],
    kernel_area: usize,
    taps: &[Vec<Tap>],
) -> Vec<A::R> {
    let (a, x, bias) = (c.arith, c.real(0).as_standard_layout(), c.opt_real(2));
    let (images, channels) = (x.shape()[0], x.shape()[1]);
    let area: usize = x.shape()[2..].iter().product();
    let per_group = channels / filters.len().max(1);
    let layouts = layouts(taps, kernel_area, filters.first().map_or(0, |of| of.dim().0));
    let x = x.as_slice().expect("it is in standard layout");
    let is_finite: Vec<Vec<bool>> =
        filters.iter().map(|of| of.rows().into_iter().map(|w| all_finite(a, &w)).collect()).collect();
    let mut out = Vec::new();
    for n in 0..images {
        let mut first = 0;
        for (group, of) in filters.iter().enumerate() {
            let image = &x[(n * channels + group * per_group) * area..][..per_group * area];
            let plane = out.len();
            out.resize(plane + of.nrows() * taps.len(), a.real(0.0));
            // An accumulator may start from the bias, so it is a term like the others.
            let addend = |m, _| bias.map(|bias| bias[[first + m]]);
            let met = Met { image, area, channels: per_group, kernel_area, taps };
            for layout in &layouts {
                met.correlate(a, layout, &of.view(), addend, &mut out[plane..]);
            }
            for (m, filter) in of.rows().into_iter().enumerate() {
                let sums = &mut out[plane + m * taps.len()..][..taps.len()];
                if !is_finite[group][m] {
                    // Padding is zeros. Some implementations multiply them, others leave them out; that makes a
                    // difference where the weight is an infinity or NaN.
                    let padded = sums.iter_mut().zip(taps).filter(|(_, taps)| taps.len() < kernel_area);
                    padded.for_each(|(sum, _)| *sum = a.unknown_real());
                }
                if kernel_area > 1 {
                    a.convolved(sums, image, filter.to_slice().expect("a filter is a row of a matrix"));
                }
            }
            first += of.nrows();
        }
    }
    out
}

/// Whether every number is known to be finite.
fn all_finite<A: Arith>(a: &A, numbers: &ArrayView1<'_, A::R>) -> bool {
    let classes = [Class::NaN, Class::PositiveInfinity, Class::NegativeInfinity];
    numbers.iter().all(|&x| classes.into_iter().all(|class| a.peek(a.is(class, x)) == Some(0)))
}

/// Positions that are laid out in one matrix, and the cells of a channel's kernel that are in it, in their order.
/// Padding is zeros there.
struct Layout {
    positions: Vec<usize>,
    cells: Vec<usize>,
}

impl Layout {
    /// About as many steps as its sums take: each number is looked at, and all meet.
    fn cost(&self, filters: usize) -> usize {
        let positions = self.positions.len();
        (filters + positions + filters * positions) * self.cells.len()
    }
}

/// The layouts of all positions: one, or where most of that would be padding, as where a large kernel spreads a small
/// image, one for positions that meet the same cells. These have one cell of padding more, if they have any: it makes
/// the sign of a zero open.
fn layouts(taps: &[Vec<Tap>], kernel_area: usize, filters: usize) -> Vec<Layout> {
    let whole = Layout { positions: (0..taps.len()).collect(), cells: (0..kernel_area).collect() };
    if taps.iter().all(|taps| taps.len() == kernel_area) {
        return vec![whole];
    }
    let mut by_cells: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for (position, taps) in taps.iter().enumerate() {
        let mut cells: Vec<usize> = taps.iter().map(|tap| tap.cell).collect();
        cells.sort_unstable();
        if let Some(padding) = (0..kernel_area).find(|&cell| cells.get(cell) != Some(&cell)) {
            cells.insert(padding, padding);
        }
        by_cells.entry(cells).or_default().push(position);
    }
    let apart: Vec<Layout> =
        by_cells.into_iter().map(|(cells, positions)| Layout { positions, cells }).collect();
    let cost: usize = apart.iter().map(|layout| layout.cost(filters)).sum();
    if 2 * cost < whole.cost(filters) { apart } else { vec![whole] }
}

/// The channels of an image that one group of filters meets.
struct Met<'a, R> {
    image: &'a [R],
    /// The elements of a channel.
    area: usize,
    channels: usize,
    kernel_area: usize,
    /// By position, what a filter meets in a channel.
    taps: &'a [Vec<Tap>],
}

impl<R: Copy> Met<'_, R> {
    /// Puts the sums of each filter at the positions of a layout in their places, filter by filter.
    fn correlate<A: Arith<R = R>>(
        &self,
        a: &A,
        layout: &Layout,
        filters: &ArrayView2<'_, R>,
        addend: impl Fn(usize, usize) -> Option<R>,
        sums: &mut [R],
    ) {
        let width = layout.cells.len();
        let length = self.channels * width;
        let of_layout = (width < self.kernel_area).then(|| {
            Array2::from_shape_fn((filters.nrows(), length), |(m, i)| {
                filters[[m, i / width * self.kernel_area + layout.cells[i % width]]]
            })
        });
        let filters = of_layout.as_ref().map_or(*filters, |of| of.view());
        let mut columns = vec![0; self.kernel_area];
        layout.cells.iter().enumerate().for_each(|(column, &cell)| columns[cell] = column);
        let at_once = (LAID_OUT / length.max(1)).clamp(1, layout.positions.len().max(1));
        let mut laid_out = Array2::from_elem((at_once, length), a.real(0.0));
        for positions in layout.positions.chunks(at_once) {
            for (mut row, &position) in laid_out.rows_mut().into_iter().zip(positions) {
                if self.taps[position].len() < width {
                    row.fill(a.real(0.0));
                }
                for channel in 0..self.channels {
                    let image = &self.image[channel * self.area..];
                    for tap in &self.taps[position] {
                        row[channel * width + columns[tap.cell]] = image[tap.input];
                    }
                }
            }
            let laid_out = laid_out.slice(s![..positions.len(), ..]);
            let made = a.dots(&filters, &laid_out.t(), &addend);
            for (m, made) in made.chunks_exact(positions.len()).enumerate() {
                let sums = &mut sums[m * self.taps.len()..];
                positions.iter().zip(made).for_each(|(&position, &sum)| sums[position] = sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ir::{Attributes, DType, Tensor};

    use super::*;
    use crate::nn::{Conv, ConvTranspose};
    use crate::testing::{outputs, parse, tensor, values};

    #[test]
    fn positions_that_are_laid_out_in_parts_are_in_order() {
        let (channels, size) = (70, 30usize);
        let parts = size * size * channels * 9 / LAID_OUT;
        assert!(parts > 0, "some positions are in a second part");
        let attributes = Attributes::new().ints("pads", &[1, 1, 1, 1]);
        // Each element tells its place, and the kernel's centre alone is not 0.
        let x = tensor(
            DType::F32,
            &[1, channels as i64, size as i64, size as i64],
            &(0..channels * size * size).map(|i| (i % (size * size)) as f64).collect::<Vec<_>>(),
        );
        let weights: Vec<f64> = (0..2 * channels * 9).map(|i| if i % 9 == 4 { 1. } else { 0. }).collect();
        let w = tensor(DType::F32, &[2, channels as i64, 3, 3], &weights);
        let y = outputs(parse::<Conv>("Conv", &attributes), &[&x, &w]).unwrap().remove(0);
        let right = (0..2 * size * size).map(|i| (i % (size * size) * channels) as f64);
        assert!(values(&y).into_iter().eq(right));
    }

    /// A tensor of small whole numbers, which no order of summing rounds.
    fn whole_numbers(shape: &[i64], from: i64) -> Tensor {
        let count: i64 = shape.iter().product();
        let elements: Vec<f64> = (0..count).map(|i| ((i + from) * 7 % 11 - 5) as f64).collect();
        tensor(DType::F32, shape, &elements)
    }

    /// A ConvTranspose of 2 images in 2 groups of 2 channels and 3 maps each, as it is written: each element spread
    /// over the results.
    fn spread([rows, columns]: [i64; 2], kernel: [i64; 2], stride: i64) {
        let (x, w) =
            (whole_numbers(&[2, 4, rows, columns], 0), whole_numbers(&[4, 3, kernel[0], kernel[1]], 3));
        let attributes = Attributes::new().int("group", 2).ints("strides", &[stride, 1]);
        let op = parse::<ConvTranspose>("ConvTranspose", &attributes);
        let y = outputs(op, &[&x, &w]).unwrap().remove(0);
        let [.., height, width] = *y.shape() else { panic!("it has two spatial axes") };
        let [rows, columns, high, wide, stride] =
            [rows, columns, kernel[0], kernel[1], stride].map(|size| size as usize);
        let mut right = vec![0.0; 12 * height * width];
        for (i, x) in values(&x).into_iter().enumerate() {
            let (n, channel) = (i / (4 * rows * columns), i / (rows * columns) % 4);
            let (row, column) = (i / columns % rows, i % columns);
            for (k, w) in values(&w)[channel * 3 * high * wide..][..3 * high * wide].iter().enumerate() {
                let (map, at) = (channel / 2 * 3 + k / (high * wide), (k / wide % high, k % wide));
                right[((n * 6 + map) * height + stride * row + at.0) * width + column + at.1] += x * w;
            }
        }
        assert_eq!(values(&y), right, "{rows}×{columns} by {high}×{wide}, {stride} apart");
    }

    #[test]
    fn what_meets_the_same_cells_is_laid_out_together() {
        // A kernel of 6 by 5 spreads images of 3 by 2: a result is reached by 6 elements at most, of 30 cells.
        spread([3, 2], [6, 5], 2);
        // One of 1 by 6 reaches rows 3 apart, and five elements of six are all cells but one.
        spread([4, 5], [1, 6], 3);
        for (high, wide) in (1..5).flat_map(|high| (1..8).map(move |wide| (high, wide))) {
            spread([2, 4], [high, wide], 2);
        }
    }

    #[test]
    fn one_layout_does_where_little_of_it_is_padding() {
        let taps = |cells: &[usize]| cells.iter().map(|&cell| Tap { input: 0, cell }).collect::<Vec<_>>();
        let of = |taps: &[Vec<Tap>], kernel_area| -> Vec<(Vec<usize>, Vec<usize>)> {
            let layouts = layouts(taps, kernel_area, 4);
            layouts.into_iter().map(|layout| (layout.positions, layout.cells)).collect()
        };
        let full = [taps(&[0, 1]), taps(&[1, 0])];
        assert_eq!(of(&full, 2), [(vec![0, 1], vec![0, 1])]);
        let padded = [taps(&[0, 1]), taps(&[1])];
        assert_eq!(of(&padded, 2), [(vec![0, 1], vec![0, 1])]);
        let mostly_padded = [taps(&[5, 1]), taps(&[]), taps(&[1, 5])];
        assert_eq!(of(&mostly_padded, 64), [(vec![1], vec![0]), (vec![0, 2], vec![0, 1, 5])]);
    }
}
