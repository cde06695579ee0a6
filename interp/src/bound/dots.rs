//! The bounds of many sums of products at once: of each row with each column.
//!
//! What the bound of one needs ([`super::products`]) is, but for four sums, known of its row or of its column alone. The
//! sums are matrix products, of which the carried ones are left out where one side is exact.

use std::cell::Cell;

use ndarray::{Array2, ArrayView2, Axis, ShapeBuilder, s};
use ops::arith::each_dot;
use ops::matrix::product;
use ops::plain::Plain;

use super::Bound;
use super::ball::Ball;
use super::products::{Obstacle, Products, Side, Signs, Sums};
use super::sums::low_bit;

/// The rows of a matrix as numbers and sides.
struct Factors {
    sides: Vec<Side>,
    values: Array2<f64>,
    /// The largest magnitudes.
    reaches: Array2<f64>,
    /// Where there are any.
    errors: Option<Array2<f64>>,
}

impl Factors {
    fn new(bound: &Bound<'_>, balls: &ArrayView2<'_, Ball>) -> Self {
        let mut sides = vec![Side::EMPTY; balls.nrows()];
        let [mut values, mut reaches] = [(); 2].map(|()| Vec::with_capacity(balls.len()));
        let mut are_exact = true;
        let mut visit = |side: &mut Side, x: Ball| {
            let x = bound.factor(x);
            side.push(x);
            are_exact &= x.is_exact();
            values.push(x.value);
            reaches.push(x.reach());
        };
        // In the order in which they lie in memory, and so are the numbers.
        let shape = balls.raw_dim().set_f(!balls.is_standard_layout());
        if balls.is_standard_layout() {
            for (side, row) in sides.iter_mut().zip(balls.rows()) {
                row.iter().for_each(|&x| visit(side, x));
            }
        } else {
            for column in balls.columns() {
                sides.iter_mut().zip(column).for_each(|(side, &x)| visit(side, x));
            }
        }
        let matrix = |items| Array2::from_shape_vec(shape, items).expect("a number for each ball");
        Self {
            sides,
            values: matrix(values),
            reaches: matrix(reaches),
            errors: (!are_exact).then(|| balls.mapv(|x| bound.factor(x).error)),
        }
    }
}

/// The four sums of each row with each column, but for those that are 0 throughout.
struct Matrices {
    values: Vec<f64>,
    sizes: Vec<f64>,
    by_left: Option<Vec<f64>>,
    by_right: Option<Vec<f64>>,
}

impl Matrices {
    fn new(rows: &Factors, columns: &Factors) -> Self {
        let times = |x: &Array2<f64>, y: &Array2<f64>| product(&x.view(), &y.t());
        let magnitudes = || columns.values.mapv(f64::abs);
        Self {
            values: times(&rows.values, &columns.values),
            sizes: times(&rows.reaches, &columns.reaches),
            by_left: rows.errors.as_ref().map(|errors| times(errors, &magnitudes())),
            by_right: columns.errors.as_ref().map(|errors| times(&rows.reaches, errors)),
        }
    }

    fn at(&self, i: usize) -> Sums {
        let carried = |sums: &Option<Vec<f64>>| sums.as_ref().map_or(0.0, |sums| sums[i]);
        Sums {
            value: self.values[i],
            size: self.sizes[i],
            by_left: carried(&self.by_left),
            by_right: carried(&self.by_right),
        }
    }
}

/// The rows of a product's first operand, and what every column asks of them.
pub(crate) struct Rows<'a> {
    balls: ArrayView2<'a, Ball>,
    factors: Factors,
}

/// How many factors of columns are held at once. Memory for those of a large matrix would come from the system, and go
/// back to it, page by page, each time.
const HELD: usize = 1 << 20;

/// How many columns are computed at once.
const COLUMNS: usize = 64;

/// The balls of the product of so many rows with the columns of a matrix, in row-major order: some columns are given to
/// `panel` at once, with the place of the first.
pub(crate) fn by_panels(
    rows: usize,
    b: &ArrayView2<'_, Ball>,
    mut panel: impl FnMut(usize, &ArrayView2<'_, Ball>) -> Vec<Ball>,
) -> Vec<Ball> {
    let width = (HELD / b.nrows().max(1)).max(COLUMNS);
    if b.ncols() <= width {
        return panel(0, b);
    }
    let mut all = Array2::from_elem((rows, b.ncols()), Ball::exact(0.0));
    for (i, columns) in b.axis_chunks_iter(Axis(1), width).enumerate() {
        let balls = panel(i * width, &columns);
        let there = ArrayView2::from_shape((rows, columns.ncols()), &balls).expect("a ball for each sum");
        all.slice_mut(s![.., i * width..i * width + columns.ncols()]).assign(&there);
    }
    all.into_raw_vec_and_offset().0
}

impl Bound<'_> {
    /// The balls of the product of two matrices, in row-major order.
    pub(super) fn all_dots(
        &self,
        a: &ArrayView2<'_, Ball>,
        b: &ArrayView2<'_, Ball>,
        addend: impl Fn(usize, usize) -> Option<Ball>,
    ) -> Vec<Ball> {
        if self.is_compensated() {
            return each_dot(self, a, b, addend);
        }
        let rows = self.rows(a);
        by_panels(a.nrows(), b, |first, columns| self.panel(&rows, columns, |i, j| addend(i, first + j)))
    }

    /// The rows of a matrix, for [`panel`](Self::panel).
    pub(crate) fn rows<'a>(&self, a: &ArrayView2<'a, Ball>) -> Rows<'a> {
        Rows { balls: *a, factors: Factors::new(self, a) }
    }

    /// The balls of the product of some rows with some columns, in row-major order. No value of it is compensated.
    pub(crate) fn panel(
        &self,
        rows: &Rows<'_>,
        b: &ArrayView2<'_, Ball>,
        addend: impl Fn(usize, usize) -> Option<Ball>,
    ) -> Vec<Ball> {
        let Rows { balls: a, factors: left } = rows;
        let right = Factors::new(self, &b.t());
        let matrices = Matrices::new(left, &right);
        // Most rows and columns go through as many roundings.
        let last = Cell::new((0, self.growth(0)));
        let growth = |roundings| {
            if last.get().0 != roundings {
                last.set((roundings, self.growth(roundings)));
            }
            last.get().1
        };
        let mut balls = Vec::with_capacity(a.nrows() * b.ncols());
        for (i, row) in a.rows().into_iter().enumerate() {
            for (j, column) in b.columns().into_iter().enumerate() {
                let addend = addend(i, j).map(|x| (x, Ball::exact(1.0)));
                let mut products =
                    Products { left: left.sides[i], right: right.sides[j], sums: matrices.at(balls.len()) };
                if let Some((x, y)) = addend {
                    products.push(self.factor(x), y);
                }
                // An infinity times an error of 0 is NaN in the sums.
                balls.push(if products.obstacle() == Obstacle::Infinite {
                    self.long_dot(row.iter().copied().zip(column.iter().copied()).chain(addend))
                } else {
                    let first = addend.map_or(i32::MAX / 2, |(x, _)| low_bit(x.value));
                    let terms = || left.values.row(i).into_iter().zip(right.values.row(j));
                    let signs = || {
                        let none = addend.iter().fold(Signs::NONE, |signs, &(x, y)| {
                            signs.and((x.value, x.reach()), (y.value, y.reach()))
                        });
                        let sizes = left.reaches.row(i).into_iter().zip(right.reaches.row(j));
                        let factors = terms().zip(sizes);
                        factors.fold(none, |signs, ((&x, &y), (&a, &b))| signs.and((x, a), (y, b)))
                    };
                    let grain = |size| self.common_grain(terms(), first, size);
                    self.sum_of_products(&products, signs, grain, growth)
                });
            }
        }
        balls
    }

    /// The lowest bit of any product, one of which has the lowest bit `first`, if the working dtype has all multiples of
    /// it up to a size. Random numbers are refuted by the first of them.
    fn common_grain<'t>(
        &self,
        terms: impl Iterator<Item = (&'t f64, &'t f64)>,
        first: i32,
        size: f64,
    ) -> Option<i32> {
        let mut least = first;
        for (&x, &y) in terms {
            if !self.is_grid(size, least) {
                return None;
            }
            least = least.min(low_bit(x) + low_bit(y));
        }
        Some(least).filter(|&least| self.is_grid(size, least))
    }

    /// Whether values of sums of products are compensated: they are those of the plain number system.
    pub(crate) fn is_compensated(&self) -> bool {
        Plain::new(self.dtype).is_compensated()
    }
}
