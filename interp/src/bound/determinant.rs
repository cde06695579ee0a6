//! Determinants, by any backward stable algorithm.
//!
//! What elimination with partial pivoting computes is the exact determinant of a matrix A + Δ, apart from the product of
//! the diagonal: |Δ| is at most γ·|L|·|U|, with γ for as many roundings as there are rows (Higham, *Accuracy and Stability of
//! Numerical Algorithms*, theorem 9.3). A determinant is linear in each row, so that det(A + Δ) - det(A) is a sum over the
//! sets of rows that are taken from Δ, and each of its terms is at most the product of the rows' norms (Hadamard):
//!
//! |det(A + Δ) - det(A)| ≤ Π(‖aᵢ‖ + ‖δᵢ‖) - Π‖aᵢ‖
//!
//! The operands' own errors are part of Δ. Up to four rows implementations also expand by minors: then each of the M!
//! products is off by its own roundings, relative to the permanent of |A|.

use super::Bound;
use super::ball::Ball;

/// Up to so many rows a determinant may be expanded by minors.
const EXPANDED: usize = 4;

/// Implementations choose other pivots where two are close, and then |L|·|U| differs.
const OTHER_PIVOTS: f64 = 2.0;

impl Bound<'_> {
    /// The determinant of a matrix with so many rows.
    pub(super) fn any_determinant(&self, matrix: &[Ball], rows: usize) -> Ball {
        let m: Vec<Ball> = matrix.iter().map(|&x| self.operand(x)).collect();
        match m[..] {
            [] => return Ball::exact(1.0),
            [x] => return x,
            _ => {}
        }
        let factors = Factors::of(m.iter().map(|x| x.value).collect(), rows);
        if m.iter().any(|x| x.undefined) {
            return Ball::undefined(factors.determinant);
        }
        if m.iter().any(|x| !x.is_known() || !x.value.is_finite()) || !factors.determinant.is_finite() {
            return Ball::unknown(factors.determinant);
        }
        let is_zero = |x: &Ball| x.is_exact() && x.value == 0.0;
        let in_row = |k: usize| m[k * rows..(k + 1) * rows].iter().all(is_zero);
        let in_column = |k: usize| m.iter().skip(k).step_by(rows).all(is_zero);
        if (0..rows).any(|k| in_row(k) || in_column(k)) {
            return Ball::either_zero();
        }
        self.around(&m, &factors, rows)
    }

    fn around(&self, m: &[Ball], factors: &Factors, rows: usize) -> Ball {
        let least = if self.profile.flush_to_zero { self.format.min_normal() } else { self.format.ulp(0.0) };
        let division = (self.profile.division)(self.dtype) / self.profile.rounding;
        let roundings = rows as u32 + division.ceil() as u32;
        // The reference eliminates in f64.
        let growth = OTHER_PIVOTS * (self.growth(roundings) + f64::from(roundings) * f64::EPSILON);
        let (mut sizes, mut moved, mut most) = (1.0, 1.0, 1.0);
        for (row, &own) in m.chunks_exact(rows).zip(&factors.sizes) {
            let size = norm(row.iter().map(|x| x.value));
            let off = norm(row.iter().map(|x| x.error)) + growth * own + rows as f64 * least;
            sizes *= size;
            moved *= size + off;
            most *= (size + off).max(own).max(1.0);
        }
        if most.is_nan() || most > self.format.max_finite() {
            return Ball::unknown(factors.determinant);
        }
        let by_elimination = (moved - sizes).max(0.0) + f64::from(roundings) * f64::EPSILON * moved;
        let by_minors = if rows <= EXPANDED {
            let magnitudes: Vec<f64> = m.iter().map(|x| x.value.abs() + x.error).collect();
            self.growth(2 * roundings) * permanent(&magnitudes, rows)
        } else {
            0.0
        };
        let product = self.growth(rows as u32) * moved.min(factors.determinant.abs() + by_elimination);
        let flushed = (rows * rows) as f64 * least * most;
        let local = by_elimination.max(by_minors) + product + flushed;
        self.widened(factors.determinant, 0.0, local * super::TWICE_ROUNDED)
    }
}

fn norm(row: impl Iterator<Item = f64>) -> f64 {
    row.map(|x| x * x).sum::<f64>().sqrt()
}

/// The sum of the products that a determinant takes with signs.
fn permanent(m: &[f64], rows: usize) -> f64 {
    let mut sums = vec![0.0; 1 << rows];
    sums[0] = 1.0;
    for taken in 1..sums.len() {
        let row = taken.count_ones() as usize - 1;
        sums[taken] = (0..rows)
            .filter(|c| taken & (1 << c) != 0)
            .map(|c| m[row * rows + c] * sums[taken & !(1 << c)])
            .sum();
    }
    sums[(1 << rows) - 1]
}

/// What elimination with partial pivoting in f64 gives.
struct Factors {
    determinant: f64,
    /// The norm of each row of |L|·|U|, in the order of the matrix.
    sizes: Vec<f64>,
}

impl Factors {
    fn of(mut m: Vec<f64>, rows: usize) -> Self {
        let mut places: Vec<usize> = (0..rows).collect();
        let mut determinant = 1.0;
        for k in 0..rows {
            let size = |r: usize| m[r * rows + k].abs();
            let largest = (k + 1..rows).fold(k, |best, r| if size(r) > size(best) { r } else { best });
            if largest != k {
                (0..rows).for_each(|c| m.swap(largest * rows + c, k * rows + c));
                places.swap(largest, k);
                determinant = -determinant;
            }
            let pivot = m[k * rows + k];
            determinant *= pivot;
            if pivot == 0.0 {
                continue;
            }
            for r in k + 1..rows {
                let factor = m[r * rows + k] / pivot;
                // L is kept where U is done.
                m[r * rows + k] = factor;
                for c in k + 1..rows {
                    m[r * rows + c] -= factor * m[k * rows + c];
                }
            }
        }
        let lower = |r: usize, k: usize| if r == k { 1.0 } else { m[r * rows + k].abs() };
        let product =
            |r: usize, c: usize| -> f64 { (0..=r.min(c)).map(|k| lower(r, k) * m[k * rows + c].abs()).sum() };
        let mut sizes = vec![0.0; rows];
        for (r, &place) in places.iter().enumerate() {
            sizes[place] = norm((0..rows).map(|c| product(r, c)));
        }
        Self { determinant, sizes }
    }
}
