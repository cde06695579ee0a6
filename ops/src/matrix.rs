//! Sums of products of rows with columns, as fast as a processor adds.
//!
//! What makes a matrix product fast is that many sums are under way at once. Here these are those of neighbouring columns,
//! which share a vector register, and of some rows, which share what was loaded of the columns (`tile`). Each sum alone
//! is made in the order of its terms, one rounding for each product and one for each addition, so that it does not depend
//! on the processor, and is what a loop over the terms gives. The kernels that the reference judges keep nothing of this.

use pulp::{Arch, Simd, WithSimd};

use crate::lanes::Lanes;

/// How many rows are under way at once, and how many vectors of columns: so many sums fit in sixteen registers.
const ROWS: usize = 4;
const VECTORS: usize = 3;

/// How many terms are taken before the next rows: so many of a panel's stay in a first-level cache.
const TERMS: usize = 128;

/// Σ x·y for each row with each column, the columns of the first row first: the terms are added in their order, to 0.
///
/// # Panics
/// If rows and columns are not as long.
pub fn sums_of_products(rows: &Lanes<'_, f64>, columns: &Lanes<'_, f64>) -> Vec<f64> {
    assert_eq!(rows.length(), columns.length(), "each term has a factor in the row and one in the column");
    let mut sums = vec![0.0; rows.count() * columns.count()];
    if !sums.is_empty() && rows.length() > 0 {
        Arch::new().dispatch(Product { rows, columns, sums: &mut sums });
    }
    sums
}

/// The work, for whatever vectors the processor has.
struct Product<'a> {
    rows: &'a Lanes<'a, f64>,
    columns: &'a Lanes<'a, f64>,
    sums: &'a mut [f64],
}

/// The sums of some rows with the columns of a panel.
type Tile<S> = [[<S as Simd>::f64s; VECTORS]; ROWS];

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
    fn with_simd<S: Simd>(self, simd: S) {
        let (length, width) = (self.rows.length(), VECTORS * S::F64_LANES);
        let mut panel = vec![0.0; length * width];
        let mut tiles: Vec<Tile<S>> = Vec::new();
        for first in (0..self.columns.count()).step_by(width) {
            let columns = first..self.columns.count().min(first + width);
            interleave(&self.columns.part(columns.clone()), width, &mut panel);
            tiles.clear();
            tiles.resize(self.rows.count().div_ceil(ROWS), [[simd.splat_f64s(0.0); VECTORS]; ROWS]);
            for (block, terms) in S::as_simd_f64s(&panel).0.chunks(TERMS * VECTORS).enumerate() {
                for (number, sums) in tiles.iter_mut().enumerate() {
                    let factors = factors(self.rows, number * ROWS, block * TERMS);
                    tile(simd, factors, terms, sums);
                }
            }
            for (i, sums) in tiles.iter().flatten().take(self.rows.count()).enumerate() {
                let row = &mut self.sums[i * self.columns.count()..][columns.clone()];
                for (to, &from) in row.chunks_mut(S::F64_LANES).zip(sums) {
                    simd.partial_store_f64s(to, from);
                }
            }
        }
    }
}

/// The elements of so many columns, those at one place side by side; what is wider than that stays 0 or as it was.
fn interleave(columns: &Lanes<'_, f64>, width: usize, panel: &mut [f64]) {
    for (j, column) in columns.iter().enumerate() {
        panel.iter_mut().skip(j).step_by(width).zip(column).for_each(|(to, &from)| *to = from);
    }
}

/// The elements of a tile's rows from a place on. Where there are fewer rows, the last one stands for the others, whose
/// sums nobody reads.
fn factors<'a>(rows: &'a Lanes<'_, f64>, first: usize, from: usize) -> [&'a [f64]; ROWS] {
    std::array::from_fn(|r| &rows.lane((first + r).min(rows.count() - 1))[from..])
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
    use super::*;

    #[test]
    fn every_sum_is_that_of_a_loop_whatever_the_sizes() {
        let special = [f64::INFINITY, f64::NAN, -0.0, 0.0, f64::from_bits(1), 1e300, -1e-300];
        let number = |i: usize| match i % 97 {
            at @ 0..7 => special[at],
            _ => ((i * 7919) % 1009) as f64 / 37.0 - 13.0,
        };
        let (few, many) = ([0, 1, 3, 4, 5], [0, 1, 5, 6, 11, 12, 13, 23, 24, 25, 50]);
        for length in [0, 1, 2, TERMS - 1, TERMS, 2 * TERMS + 3] {
            for (m, n) in few.into_iter().flat_map(|m| many.map(|n| (m, n))) {
                let lanes = |count: usize, from: usize| {
                    Lanes::from_items(
                        (from..from + count * length).map(number).collect::<Vec<_>>(),
                        count,
                        length,
                    )
                };
                let (rows, columns) = (lanes(m, 0), lanes(n, 13));
                let sums = sums_of_products(&rows, &columns);
                let right = rows.iter().flat_map(|row| {
                    columns.iter().map(move |column| row.iter().zip(column).fold(0.0, |s, (x, y)| s + x * y))
                });
                let bits = |x: f64| if x.is_nan() { None } else { Some(x.to_bits()) };
                assert!(sums.iter().copied().map(bits).eq(right.map(bits)), "{m}×{length}×{n}");
            }
        }
    }
}
