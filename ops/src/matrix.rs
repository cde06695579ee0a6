//! Sums of products of rows with columns, as fast as a processor adds.
//!
//! What makes a matrix product fast is that many sums are under way at once. Here these are those of neighbouring columns,
//! which share a vector register, and of some rows, which share what was loaded of the columns (`tile`). Each sum alone
//! is made in the order of its terms, one rounding for each product and one for each addition, so that it does not depend
//! on the processor, and is what a loop over the terms gives. The kernels that the reference judges keep nothing of this.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2, s};
use pulp::{Arch, Simd, WithSimd};

/// How many rows are under way at once, and how many vectors of columns: so many sums fit in sixteen registers.
const ROWS: usize = 4;
const VECTORS: usize = 3;

/// How many terms are taken before the next rows: so many of a panel's stay in a first-level cache.
const TERMS: usize = 128;

/// A product of so many terms in all is made before others are laid out.
const LITTLE: usize = 256;

/// The product of two matrices, in row-major order: each element is Σ x·y over a row and a column, the terms added in their
/// order, to 0.
///
/// # Panics
/// If the rows are not as long as the columns.
pub fn product(a: &ArrayView2<'_, f64>, b: &ArrayView2<'_, f64>) -> Vec<f64> {
    assert_eq!(a.ncols(), b.nrows(), "each term has a factor in the row and one in the column");
    if a.len() * b.ncols() <= LITTLE {
        let dot = |x: ArrayView1<'_, f64>, y| x.iter().zip(y).fold(0.0, |sum, (x, y)| sum + x * y);
        return a.rows().into_iter().flat_map(|x| b.columns().into_iter().map(move |y| dot(x, y))).collect();
    }
    let mut sums = vec![0.0; a.nrows() * b.ncols()];
    if !sums.is_empty() && a.ncols() > 0 {
        let a = a.as_standard_layout();
        let rows = a.as_slice().expect("the standard layout").chunks_exact(a.ncols()).collect();
        Arch::new().dispatch(Product { rows, b, sums: &mut sums });
    }
    sums
}

/// The work, for whatever vectors the processor has.
struct Product<'a> {
    rows: Vec<&'a [f64]>,
    b: &'a ArrayView2<'a, f64>,
    sums: &'a mut [f64],
}

/// The sums of some rows with the columns of a panel.
type Tile<S> = [[<S as Simd>::f64s; VECTORS]; ROWS];

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, b, sums } = self;
        let ((length, count), width) = (b.dim(), VECTORS * S::F64_LANES);
        let mut panel = vec![0.0; length * width];
        let mut tiles: Vec<Tile<S>> = Vec::new();
        for first in (0..count).step_by(width) {
            let columns = first..count.min(first + width);
            // The elements of these columns side by side; what is wider than that stays as it was.
            let mut side_by_side = ArrayViewMut2::from_shape((length, width), &mut panel).expect("its size");
            side_by_side.slice_mut(s![.., ..columns.len()]).assign(&b.slice(s![.., columns.clone()]));
            tiles.clear();
            tiles.resize(rows.len().div_ceil(ROWS), [[simd.splat_f64s(0.0); VECTORS]; ROWS]);
            for (block, terms) in S::as_simd_f64s(&panel).0.chunks(TERMS * VECTORS).enumerate() {
                for (rows, sums) in rows.chunks(ROWS).zip(&mut tiles) {
                    tile(simd, factors(rows, block * TERMS), terms, sums);
                }
            }
            for (i, tile) in tiles.iter().flatten().take(rows.len()).enumerate() {
                let row = &mut sums[i * count..][columns.clone()];
                for (to, &from) in row.chunks_mut(S::F64_LANES).zip(tile) {
                    simd.partial_store_f64s(to, from);
                }
            }
        }
    }
}

/// The elements of a tile's rows from a place on. Where there are fewer rows, the last one stands for the others, whose
/// sums nobody reads.
fn factors<'a>(rows: &[&'a [f64]], from: usize) -> [&'a [f64]; ROWS] {
    std::array::from_fn(|r| &rows[r.min(rows.len() - 1)][from..])
}

/// Adds to each sum of a tile the products of its row's factors with its column's terms.
#[inline(always)]
#[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
fn tile<S: Simd>(simd: S, factors: [&[f64]; ROWS], terms: &[S::f64s], sums: &mut Tile<S>) {
    let mut totals = *sums;
    let [a, b, c, d] = factors;
    for ((((columns, a), b), c), d) in terms.chunks_exact(VECTORS).zip(a).zip(b).zip(c).zip(d) {
        for (totals, &factor) in totals.iter_mut().zip([a, b, c, d]) {
            let factor = simd.splat_f64s(factor);
            for (total, &column) in totals.iter_mut().zip(columns) {
                *total = simd.add_f64s(*total, simd.mul_f64s(factor, column));
            }
        }
    }
    *sums = totals;
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    #[test]
    fn every_sum_is_that_of_a_loop_whatever_the_sizes() {
        let special = [f64::INFINITY, f64::NAN, -0.0, 0.0, f64::from_bits(1), 1e300, -1e-300];
        let number = |i: usize| match i % 97 {
            at @ 0..7 => special[at],
            _ => ((i * 7919) % 1009) as f64 / 37.0 - 13.0,
        };
        let bits = |x: f64| if x.is_nan() { None } else { Some(x.to_bits()) };
        let (few, many) = ([0, 1, 3, 4, 5], [0, 1, 5, 6, 11, 12, 13, 23, 24, 25, 50]);
        for length in [0, 1, 2, TERMS - 1, TERMS, 2 * TERMS + 3] {
            for (m, n) in few.into_iter().flat_map(|m| many.map(|n| (m, n))) {
                let a = Array2::from_shape_fn((m, length), |(i, k)| number(i * length + k));
                let b = Array2::from_shape_fn((length, n), |(k, j)| number(13 + j * length + k));
                let right: Vec<Option<u64>> = a
                    .rows()
                    .into_iter()
                    .flat_map(|x| b.columns().into_iter().map(move |y| (x, y)))
                    .map(|(x, y)| bits(x.iter().zip(y).fold(0.0, |sum, (x, y)| sum + x * y)))
                    .collect();
                let by_columns = b.t().as_standard_layout().into_owned();
                for b in [b.view(), by_columns.t()] {
                    let made: Vec<Option<u64>> = product(&a.view(), &b).into_iter().map(bits).collect();
                    assert_eq!(made, right, "{m}×{length}×{n}");
                }
            }
        }
    }
}
