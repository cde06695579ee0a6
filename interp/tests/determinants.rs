//! Bounds of determinants hold, whichever algorithm an implementation has, and are not much wider than its errors.

use ir::round::round_to;
use ir::{DType, Stream};
use onnxsmith_interp::Profile;
use onnxsmith_interp::bound::{Ball, Bound};
use ops::Arith;
use rand::{Rng, RngExt};

/// Where elimination looks for its pivots.
#[derive(Clone, Copy, Debug)]
enum Pivots {
    /// The largest of what is left of a column.
    Column,
    /// The last of what is left of a column that is almost as large as the largest.
    NearlyLargest,
    /// The largest of all that is left.
    Complete,
}

/// A native way to calculate determinants, which rounds each step to a dtype.
#[derive(Clone, Copy, Debug)]
enum Algorithm {
    ByRows(Pivots),
    ByColumns(Pivots),
    /// By minors of the first row.
    Expansion,
}

impl Algorithm {
    /// Those that are in use for so many rows.
    fn all(rows: usize) -> impl Iterator<Item = Self> {
        let pivots = [Pivots::Column, Pivots::NearlyLargest, Pivots::Complete];
        let eliminations = pivots.into_iter().flat_map(|p| [Self::ByRows(p), Self::ByColumns(p)]);
        eliminations.chain((rows <= 4).then_some(Self::Expansion))
    }

    fn run(self, m: &[f64], rows: usize, dtype: DType) -> f64 {
        match self {
            Self::ByRows(pivots) => eliminated(m.to_vec(), rows, pivots, dtype),
            Self::ByColumns(pivots) => {
                let transposed = (0..m.len()).map(|i| m[i % rows * rows + i / rows]).collect();
                eliminated(transposed, rows, pivots, dtype)
            }
            Self::Expansion => expanded(m, rows, dtype),
        }
    }
}

/// The place of the pivot of a step.
fn pivot(m: &[f64], rows: usize, k: usize, pivots: Pivots) -> (usize, usize) {
    let size = |(r, c): (usize, usize)| m[r * rows + c].abs();
    let (columns, share) = match pivots {
        Pivots::Column => (k..k + 1, 1.0),
        Pivots::NearlyLargest => (k..k + 1, 0.999),
        Pivots::Complete => (k..rows, 1.0),
    };
    let places = || columns.clone().flat_map(|c| (k..rows).map(move |r| (r, c)));
    let largest = places().map(size).fold(0.0, f64::max);
    let mut found = places().filter(|&at| size(at) >= share * largest);
    match pivots {
        Pivots::NearlyLargest => found.next_back(),
        Pivots::Column | Pivots::Complete => found.next(),
    }
    .unwrap_or((k, k))
}

fn eliminated(mut m: Vec<f64>, rows: usize, pivots: Pivots, dtype: DType) -> f64 {
    let round = |v| round_to(dtype, v);
    let mut product = 1.0;
    for k in 0..rows {
        let (row, column) = pivot(&m, rows, k, pivots);
        if row != k {
            (0..rows).for_each(|c| m.swap(row * rows + c, k * rows + c));
            product = -product;
        }
        if column != k {
            (0..rows).for_each(|r| m.swap(r * rows + column, r * rows + k));
            product = -product;
        }
        let pivot = m[k * rows + k];
        product = round(product * pivot);
        if pivot == 0.0 {
            return product;
        }
        for r in k + 1..rows {
            let factor = round(m[r * rows + k] / pivot);
            (k + 1..rows).for_each(|c| {
                m[r * rows + c] = round(m[r * rows + c] - round(factor * m[k * rows + c]));
            });
        }
    }
    product
}

fn expanded(m: &[f64], rows: usize, dtype: DType) -> f64 {
    if rows == 1 {
        return m[0];
    }
    let minor = |without: usize| -> Vec<f64> {
        (rows..rows * rows).filter(|i| i % rows != without).map(|i| m[i]).collect()
    };
    let terms = (0..rows).map(|c| {
        let term = round_to(dtype, m[c] * expanded(&minor(c), rows - 1, dtype));
        if c % 2 == 0 { term } else { -term }
    });
    terms.fold(0.0, |sum, term| round_to(dtype, sum + term))
}

/// What is special about a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Plain,
    LargeRow,
    LargeColumn,
    /// One row is almost a multiple of another.
    NearlySingular,
    /// All rows are almost multiples of one.
    NearlyOfRankOne,
    /// Of integers, of which sums cancel.
    Integers,
    /// Of pivots that are all alike.
    Signs,
    /// Of first elements that tie, in rows of different scale.
    Tied,
    /// Elements get smaller along rows and columns.
    Graded,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Plain,
        Self::LargeRow,
        Self::LargeColumn,
        Self::NearlySingular,
        Self::NearlyOfRankOne,
        Self::Integers,
        Self::Signs,
        Self::Tied,
        Self::Graded,
    ];

    fn draw(self, rows: usize, rng: &mut impl Rng) -> Vec<f64> {
        let plain: Vec<f64> = (0..rows * rows).map(|_| rng.random_range(-2.0..2.0)).collect();
        let element = |i: usize| {
            let (r, c, x) = (i / rows, i % rows, plain[i]);
            match self {
                Self::LargeRow => x * if r == rows / 2 { 1e3 } else { 1.0 },
                Self::LargeColumn => x * if c == rows / 2 { 1e3 } else { 1.0 },
                Self::NearlySingular if r == 0 => 0.7 * plain[rows + c] + 1e-4 * x,
                Self::Plain | Self::NearlySingular => x,
                Self::NearlyOfRankOne => plain[r] * plain[rows + c] + 1e-2 * x,
                Self::Integers => x.round(),
                Self::Signs => 1f64.copysign(x),
                Self::Tied if c == 0 => 1f64.copysign(x),
                Self::Tied => x * 2f64.powi(12 * (r as i32 % 3)),
                Self::Graded => x * 0.5f64.powi((r + c) as i32),
            }
        };
        (0..rows * rows).map(element).collect()
    }
}

/// A matrix of balls, and numbers in each of them.
fn balls(kind: Kind, rows: usize, dtype: DType, rng: &mut impl Rng) -> (Vec<Ball>, Vec<f64>) {
    let spread = if rng.random_bool(0.3) { rng.random_range(0.0..1e-3) } else { 0.0 };
    let ball = |x| {
        let value = round_to(dtype, x);
        Ball::within(value, spread * value.abs())
    };
    let balls: Vec<Ball> = kind.draw(rows, rng).into_iter().map(ball).collect();
    let inside = balls.iter().map(|x| x.value + x.error * rng.random_range(-1.0..=1.0)).collect();
    (balls, inside)
}

#[test]
fn determinants_stay_inside() {
    let mut most_used = 0.0f64;
    let (mut known, mut unknown) = (0, 0);
    for seed in 0..6000u64 {
        let rng = &mut Stream::new(seed).child("determinant").rng();
        let rows: usize = rng.random_range(2..=9);
        let kind = Kind::ALL[seed as usize % Kind::ALL.len()];
        let dtype = [DType::F32, DType::F32, DType::F16, DType::BF16][rng.random_range(0..4)];
        let (balls, inside) = balls(kind, rows, dtype, rng);
        let bound = Bound::new(&Profile::TIGHT, dtype).determinant(&balls, rows);
        *(if bound.is_known() { &mut known } else { &mut unknown }) += 1;
        for algorithm in Algorithm::all(rows) {
            let result = algorithm.run(&inside, rows, dtype);
            let off = (result - bound.value).abs();
            let case = || format!("seed {seed} {kind:?} {algorithm:?} {dtype}: {result} of {inside:?}");
            assert!(off <= bound.error || !bound.is_known(), "{} is not {bound:?}", case());
            if bound.is_known() && bound.error > 0.0 {
                most_used = most_used.max(off / bound.error);
            }
        }
    }
    assert!(most_used > 0.2, "no bound is used by more than {most_used}");
    assert!(known > 3 * unknown, "{known} are bounded, {unknown} are not");
}

/// Bounds by the rows' norms alone were 58, 130, 300 and 5,700 times the median error.
#[test]
fn bounds_grow_slowly_with_the_rows() {
    for (rows, limit) in [(2, 50.0), (3, 90.0), (4, 150.0), (8, 600.0)] {
        let ratio = |seed| {
            let rng = &mut Stream::new(seed).child("width").rng();
            let m: Vec<f64> =
                Kind::Plain.draw(rows, rng).into_iter().map(|x| round_to(DType::F32, x)).collect();
            let balls: Vec<Ball> = m.iter().map(|&x| Ball::exact(x)).collect();
            let bound = Bound::new(&Profile::TIGHT, DType::F32).determinant(&balls, rows);
            let result = Algorithm::ByRows(Pivots::Column).run(&m, rows, DType::F32);
            bound.error / (result - bound.value).abs()
        };
        let mut ratios: Vec<f64> = (0..501).map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        assert!(median < limit, "{rows} rows: half of the bounds are more than {median} errors");
    }
}
