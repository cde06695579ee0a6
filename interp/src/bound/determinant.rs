//! Determinants, by any backward stable algorithm.
//!
//! What elimination with partial pivoting computes is the exact determinant of a matrix A + Δ, apart from the roundings of the
//! product of the diagonal: |Δ| is at most γ·|L|·|U|, with γ for as many roundings as there are rows (Higham, *Accuracy and
//! Stability of Numerical Algorithms*, theorem 9.3; §14.6 for determinants). The operands' own errors are part of Δ. A
//! determinant is linear in each row, so that det(A + Δ) is a sum over the sets of rows that are taken from Δ. No row
//! gives det(A), and one row its product with the cofactors of A. Of several rows each term is at most the product of
//! the rows' norms (Hadamard):
//!
//! |det(A + Δ) - det(A)| ≤ Σ |cᵢⱼ|·|δᵢⱼ| + Π(‖aᵢ‖ + ‖δᵢ‖) - Π‖aᵢ‖ - Σᵢ ‖δᵢ‖·Π‖aₖ‖, k ≠ i
//!
//! The remainder may be taken of the columns too, and relative to det(A), where A is regular: then it is that of I +
//! A⁻¹·Δ, with the cofactors over det(A) as A⁻¹. It is the same remainder each time, so that the least bound of it
//! holds.
//!
//! Up to four rows implementations also expand by minors: then each of the M! products is off by its own roundings,
//! relative to the permanent of |A|.
//!
//! The cofactors are those of L·U = P·(A + E), without a division, so that A may be singular: adj(L·U) = adj(U)·adj(L), and the
//! adjugate of a triangle follows from that of the triangle without its last row and column. Each element is a sum of
//! products that have gone through M² roundings at most, which is enough for E as well.

use ir::format::FloatFormat;

use super::Bound;
use super::ball::Ball;

/// How many roundings a product goes through where so many rows are expanded: by one row, and four by pairs of rows too.
const EXPANSION: [u32; 5] = [0, 0, 2, 5, 10];

/// Implementations look for pivots elsewhere, or take one that is smaller, and then |L|·|U| differs.
const OTHER_PIVOTS: f64 = 2.0;

/// Pivots whose rows are this far apart in scale may leave |L|·|U| that are more than [`OTHER_PIVOTS`] apart.
const ALIKE: f64 = 4.0;

/// How many eliminations with different pivots are followed.
const MOST_ELIMINATIONS: usize = 120;

impl Bound<'_> {
    /// The determinant of a matrix with so many rows.
    pub(super) fn any_determinant(&self, matrix: &[Ball], rows: usize) -> Ball {
        let m: Vec<Ball> = matrix.iter().map(|&x| self.operand(x)).collect();
        match m[..] {
            [] => return Ball::exact(1.0),
            // Elimination that ends at a pivot of 0 knows no sign of it.
            [x] if x.is_zero() => return Ball::either_zero(),
            [x] => return x,
            _ => {}
        }
        let factors = Factors::of(m.iter().map(|x| x.value).collect(), rows);
        let determinant = factors.determinant();
        if m.iter().any(|x| x.is_undefined()) {
            return Ball::undefined(determinant);
        }
        if m.iter().any(|x| !x.is_known() || !x.value.is_finite()) || !determinant.is_finite() {
            return Ball::unknown(determinant);
        }
        self.around(&m, &factors)
    }

    fn around(&self, m: &[Ball], factors: &Factors) -> Ball {
        let (rows, determinant) = (factors.rows, factors.determinant());
        let values: Vec<f64> = m.iter().map(|x| x.value).collect();
        let least = self.least();
        let division = (self.profile.division)(self.dtype);
        let roundings = rows as u32 + (division / self.profile.rounding).ceil() as u32 - 1;
        // The reference eliminates in f64.
        let growth = OTHER_PIVOTS * (self.growth(roundings) + f64::from(roundings) * f64::EPSILON);
        let has_zeros_alone = has_zeros_alone(m, rows);
        let is_no_divisor = |factors: &Factors| {
            let most = factors.grown().into_iter().fold(0.0, f64::max);
            // A row or column of zeros makes a pivot of 0 of which nothing is left.
            let off = if has_zeros_alone { 0.0 } else { growth * most };
            factors.pivots().any(|pivot| self.is_no_divisor(pivot, off))
        };
        let carried: Vec<f64> = m.iter().map(|x| x.error).collect();
        let farthest = carried.iter().copied().fold(0.0, f64::max);
        let by_rows = Factors::all(&values, rows, growth, farthest);
        let by_columns = Factors::all(&transposed(&values, rows), rows, growth, farthest);
        let (Some(by_rows), Some(by_columns)) = (by_rows, by_columns) else {
            return Ball::unknown(determinant);
        };
        if by_rows.iter().chain(&by_columns).any(is_no_divisor) {
            return Ball::unknown(determinant);
        }
        let largest = |of: fn(&Factors) -> Vec<f64>| {
            let over = |all: &[Factors]| all.iter().map(of).reduce(|a, b| larger(&a, &b)).unwrap_or_default();
            larger(&over(&by_rows), &transposed(&over(&by_columns), rows))
        };
        let (grown, multiplied) = (largest(Factors::grown), largest(Factors::multiplied));
        let slip = OTHER_PIVOTS * least.max(division * self.format.ulp(0.0));
        let moved: Vec<f64> = (0..m.len())
            .map(|i| carried[i] + growth * grown[i] + slip * multiplied[i] + rows as f64 * least)
            .collect();

        let near = Neighbourhood::of(&values, factors);
        let most = near.largest_product(&moved, &grown);
        if most.is_nan() || most > self.format.max_finite() {
            return Ball::unknown(determinant);
        }
        // Only here: what overflows, or is divided by what nothing is promised for, need not be 0 times 0 either.
        if has_zeros_alone {
            return Ball::either_zero();
        }
        let by_elimination = near.distance(&moved);
        let by_minors = EXPANSION.get(rows).map_or(0.0, |&roundings| {
            let magnitudes: Vec<f64> = m.iter().map(|x| x.reach()).collect();
            near.distance(&carried) + self.growth(roundings) * permanent(&magnitudes, rows)
        });
        let of_product = self.growth(rows as u32) + rows as f64 * f64::EPSILON;
        let product = of_product * (determinant.abs() + by_elimination);
        let flushed = (rows * rows) as f64 * least * most;
        let local = by_elimination.max(by_minors) + product + flushed;
        self.widened(determinant, 0.0, local * super::TWICE_ROUNDED)
    }
}

impl Bound<'_> {
    /// Whether dividing by a pivot may go wrong in some implementation. The pivot may count as 0 in the
    /// division although a test for 0 has let it pass (a denormal that is flushed), or be so large that
    /// nothing is promised of the quotient. Halves are so coarse that a pivot which should be 0, and is off
    /// by `off`, may come out as a denormal, too.
    fn is_no_divisor(&self, pivot: f64, off: f64) -> bool {
        let least = self.format.min_normal();
        let may_vanish = self.profile.flush_to_zero || self.profile.moderate_divisors;
        let is_too_large = self.profile.moderate_divisors && pivot.abs() > least.recip();
        let is_half = self.format.precision() < FloatFormat::F32.precision();
        let left = if is_half { off } else { 0.0 };
        let is_tiny = pivot.abs() < least + left && (pivot != 0.0 || left > 0.0);
        is_too_large || may_vanish && is_tiny
    }
}

/// Whether a row or a column holds nothing but zeros, in every implementation.
fn has_zeros_alone(m: &[Ball], rows: usize) -> bool {
    let is_zero = |x: &Ball| x.is_exact() && x.value == 0.0;
    let in_row = |k: usize| m[k * rows..(k + 1) * rows].iter().all(is_zero);
    let in_column = |k: usize| m.iter().skip(k).step_by(rows).all(is_zero);
    (0..rows).any(|k| in_row(k) || in_column(k))
}

/// The norm of each row.
fn norms(m: &[f64], rows: usize) -> Vec<f64> {
    m.chunks_exact(rows).map(|row| row.iter().map(|x| x * x).sum::<f64>().sqrt()).collect()
}

fn transposed(m: &[f64], rows: usize) -> Vec<f64> {
    (0..m.len()).map(|i| m[i % rows * rows + i / rows]).collect()
}

/// The larger of two matrices, element by element.
fn larger(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x.max(*y)).collect()
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

/// The products of the norms of rows, each of them of the matrix or of what is added to it.
struct Products {
    none: f64,
    one: f64,
    more: f64,
}

impl Products {
    /// Those of rows of the matrix and what is added to each, by how many rows are taken from what is added.
    fn of(rows: impl Iterator<Item = (f64, f64)>) -> Self {
        rows.fold(Self { none: 1.0, one: 0.0, more: 0.0 }, |all, (size, off)| Self {
            none: all.none * size,
            one: all.one * size + all.none * off,
            more: all.more * (size + off) + all.one * off,
        })
    }

    /// Those of one moved row or more.
    fn moved(&self) -> f64 {
        self.one + self.more
    }
}

/// What tells how far a determinant moves with the elements of its matrix.
struct Neighbourhood {
    rows: usize,
    /// The norms of the rows and of the columns.
    sizes: [Vec<f64>; 2],
    /// At least the magnitude of each cofactor.
    cofactors: Vec<f64>,
    /// At most the magnitude of the determinant; not above 0 where it may be 0.
    least: f64,
}

impl Neighbourhood {
    /// That of a matrix which has these factors.
    fn of(m: &[f64], factors: &Factors) -> Self {
        let rows = factors.rows;
        let rounding = (rows * rows) as f64 * f64::EPSILON;
        let moved: Vec<f64> = factors.grown().iter().map(|own| rounding * own).collect();
        let sizes = [norms(m, rows), norms(&transposed(m, rows), rows)];
        let others = |sizes: &[f64], moved: &[f64]| -> Vec<Products> {
            let off = norms(moved, rows);
            let all = |without| (0..rows).filter(move |&k| k != without);
            (0..rows).map(|i| Products::of(all(i).map(|k| (sizes[k], off[k])))).collect()
        };
        let by_rows = others(&sizes[0], &moved);
        let by_columns = others(&sizes[1], &transposed(&moved, rows));
        let (found, terms) = (factors.cofactors(|x| x), factors.cofactors(f64::abs));
        let cofactor = |at: usize| {
            let (row, column) = (&by_rows[at / rows], &by_columns[at % rows]);
            let own = found[at].abs() + rounding * terms[at] + row.moved().min(column.moved());
            own.min(row.none).min(column.none)
        };
        let cofactors = (0..rows * rows).map(cofactor).collect();
        let near = Self { rows, sizes, cofactors, least: 0.0 };
        let determinant = factors.determinant().abs();
        let least = determinant - rounding * determinant - near.distance(&moved);
        Self { least, ..near }
    }

    /// How far the determinant moves at most where each element moves by so much.
    fn distance(&self, by: &[f64]) -> f64 {
        let first: f64 = self.cofactors.iter().zip(by).map(|(c, d)| c * d).sum();
        first + self.remainder(by)
    }

    /// What comes of more than one row or column that moves.
    fn remainder(&self, by: &[f64]) -> f64 {
        let rows = self.rows;
        let more = |sizes: &[f64], by: &[f64]| Products::of(sizes.iter().copied().zip(norms(by, rows))).more;
        let by_norms = more(&self.sizes[0], by).min(more(&self.sizes[1], &transposed(by, rows)));
        if self.least <= 0.0 {
            return by_norms;
        }
        // Relative to the determinant, the rows of A⁻¹·Δ are added to those of the unit matrix.
        let element = |at: usize| {
            let (i, j) = (at / rows, at % rows);
            (0..rows).map(|k| self.cofactors[k * rows + i] * by[k * rows + j]).sum::<f64>() / self.least
        };
        let relative: Vec<f64> = (0..rows * rows).map(element).collect();
        let unit = vec![1.0; rows];
        let by_inverse = more(&unit, &relative).min(more(&unit, &transposed(&relative, rows)));
        by_norms.min(self.least * by_inverse)
    }

    /// The largest number that elimination or expansion may meet.
    fn largest_product(&self, by: &[f64], grown: &[f64]) -> f64 {
        let rows = norms(by, self.rows).into_iter().zip(norms(grown, self.rows));
        self.sizes[0].iter().zip(rows).map(|(size, (off, own))| (size + off).max(own).max(1.0)).product()
    }
}

/// What elimination with partial pivoting in f64 gives.
#[derive(Clone)]
struct Factors {
    rows: usize,
    /// L below the diagonal, where it has ones, and U.
    m: Vec<f64>,
    /// Which row of the matrix each row is.
    places: Vec<usize>,
    is_negative: bool,
}

impl Factors {
    fn of(m: Vec<f64>, rows: usize) -> Self {
        (0..rows).fold(Self::begun(m, rows), |factors, k| {
            let pivot = factors.largest(k);
            factors.eliminated(k, pivot)
        })
    }

    /// Those of every elimination that takes the largest element for a pivot, or one that ties with it: where rows are of
    /// different scale, |L|·|U| of one is far from that of another. `None` where there are too many.
    fn all(m: &[f64], rows: usize, growth: f64, carried: f64) -> Option<Vec<Self>> {
        (0..rows).try_fold(vec![Self::begun(m.to_vec(), rows)], |all, k| {
            // Each step may double what was carried, as no element of L is above 1.
            let carried = carried * libm::exp2(k as f64);
            let next = |factors: Self| {
                let pivots = factors.pivots_near(k, growth, carried).into_iter();
                pivots.map(move |pivot| factors.clone().eliminated(k, pivot))
            };
            let all: Vec<Self> = all.into_iter().flat_map(next).take(MOST_ELIMINATIONS + 1).collect();
            (all.len() <= MOST_ELIMINATIONS).then_some(all)
        })
    }

    fn begun(m: Vec<f64>, rows: usize) -> Self {
        Self { rows, m, places: (0..rows).collect(), is_negative: false }
    }

    /// The row of the largest element left in this column.
    fn largest(&self, k: usize) -> usize {
        let element = |r: usize| self.m[r * self.rows + k].abs();
        (k + 1..self.rows).fold(k, |best, r| if element(r) > element(best) { r } else { best })
    }

    /// The rows that may be the pivot's: that of the largest element, which is first, and those that tie with it. Each is off by
    /// what it has carried, and by so much of itself and of what was subtracted from it. Of rows of one scale, one is enough.
    fn pivots_near(&self, k: usize, growth: f64, carried: f64) -> Vec<usize> {
        let element = |r: usize, c: usize| self.m[r * self.rows + c].abs();
        let subtracted = |r: usize| (0..k).map(|j| element(r, j) * element(j, k)).sum::<f64>();
        let off = |r: usize| carried + growth * (element(r, k) + subtracted(r));
        let scale = |r: usize| (k..self.rows).map(|c| element(r, c)).fold(0.0, f64::max);
        let largest = self.largest(k);
        let least = element(largest, k) - off(largest);
        let ties = |r: usize| element(r, k) > 0.0 && element(r, k) + off(r) >= least;
        let mut pivots = vec![largest];
        for r in (k..self.rows).filter(|&r| ties(r)) {
            let is_alike = |&p: &usize| scale(r) <= ALIKE * scale(p) && scale(p) <= ALIKE * scale(r);
            if !pivots.iter().any(is_alike) {
                pivots.push(r);
            }
        }
        pivots
    }

    /// One column more eliminated, by the row that is its pivot.
    fn eliminated(mut self, k: usize, pivot: usize) -> Self {
        let rows = self.rows;
        let m = &mut self.m;
        if pivot != k {
            (0..rows).for_each(|c| m.swap(pivot * rows + c, k * rows + c));
            self.places.swap(pivot, k);
            self.is_negative = !self.is_negative;
        }
        let pivot = m[k * rows + k];
        if pivot == 0.0 {
            return self;
        }
        for r in k + 1..rows {
            let factor = m[r * rows + k] / pivot;
            // L is kept where U is done.
            m[r * rows + k] = factor;
            for c in k + 1..rows {
                m[r * rows + c] -= factor * m[k * rows + c];
            }
        }
        self
    }

    /// The diagonal of U.
    fn pivots(&self) -> impl Iterator<Item = f64> {
        self.m.iter().step_by(self.rows + 1).copied()
    }

    fn determinant(&self) -> f64 {
        let product: f64 = self.pivots().product();
        if self.is_negative { -product } else { product }
    }

    /// |L|·|U|, its rows in the order of the matrix.
    fn grown(&self) -> Vec<f64> {
        let (rows, m) = (self.rows, &self.m);
        let lower = |r: usize, k: usize| if r == k { 1.0 } else { m[r * rows + k].abs() };
        let mut grown = vec![0.0; m.len()];
        for (r, &place) in self.places.iter().enumerate() {
            for c in 0..rows {
                grown[place * rows + c] = (0..=r.min(c)).map(|k| lower(r, k) * m[k * rows + c].abs()).sum();
            }
        }
        grown
    }

    /// For each matrix element, Σ|u| of its column down to the diagonal. An absolute error in an element of L
    /// (a denormal quotient) is magnified by at most this.
    fn multiplied(&self) -> Vec<f64> {
        let (rows, m) = (self.rows, &self.m);
        let column = |c: usize| (0..=c).map(|k| m[k * rows + c].abs()).sum::<f64>();
        let columns: Vec<f64> = (0..rows).map(column).collect();
        columns.iter().copied().cycle().take(m.len()).collect()
    }

    /// The unsigned cofactors of L·U. `f` is applied to each element of L and U as the recurrence takes it,
    /// the negative ones off the diagonal: the identity gives the cofactors, |x| the sum of the magnitudes of
    /// each one's terms.
    fn cofactors(&self, f: impl Fn(f64) -> f64) -> Vec<f64> {
        let rows = self.rows;
        // What is not on the diagonal comes with a minus.
        let element =
            |r: usize, c: usize| f(if r == c { self.m[r * rows + c] } else { -self.m[r * rows + c] });
        let (mut upper, mut lower) = (vec![0.0; rows * rows], vec![0.0; rows * rows]);
        let mut determinant = 1.0;
        for k in 0..rows {
            for i in 0..k {
                upper[i * rows + k] = (i..k).map(|j| upper[i * rows + j] * element(j, k)).sum();
                lower[k * rows + i] = (i..k).map(|j| element(k, j) * lower[j * rows + i]).sum();
            }
            for i in 0..k {
                (i..k).for_each(|j| upper[i * rows + j] *= element(k, k));
            }
            (upper[k * rows + k], lower[k * rows + k]) = (determinant, 1.0);
            determinant *= element(k, k);
        }
        let mut cofactors = vec![0.0; rows * rows];
        for (r, &place) in self.places.iter().enumerate() {
            for c in 0..rows {
                let terms = (r.max(c)..rows).map(|k| upper[c * rows + k] * lower[k * rows + r]);
                cofactors[place * rows + c] = terms.sum();
            }
        }
        cofactors
    }
}
