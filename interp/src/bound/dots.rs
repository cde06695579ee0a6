//! The bounds of many sums of products at once: of each row with each column.
//!
//! What the bound of one needs ([`super::products`]) is, but for four sums, known of its row or of its column alone. The
//! sums are matrix products, of which the carried ones are left out where one side is exact.

use std::cell::Cell;

use ir::format::FloatFormat;
use ops::arith::each_dot;
use ops::lanes::Lanes;
use ops::matrix::sums_of_products;

use super::Bound;
use super::ball::Ball;
use super::products::{Obstacle, Products, Side, Sums};
use super::sums::low_bit;

/// The rows or the columns, as sums and sides.
struct Factors {
    sides: Vec<Side>,
    values: Lanes<'static, f64>,
    /// The largest magnitudes.
    reaches: Lanes<'static, f64>,
    /// Where there are any.
    errors: Option<Lanes<'static, f64>>,
}

impl Factors {
    fn new(bound: &Bound<'_>, balls: &Lanes<'_, Ball>) -> Self {
        let elements = balls.items().len();
        let [mut values, mut reaches, mut errors] = [(); 3].map(|()| Vec::with_capacity(elements));
        let side = |lane: &[Ball]| {
            let mut side = Side::EMPTY;
            for x in lane.iter().map(|&x| bound.factor(x)) {
                side.push(x);
                values.push(x.value);
                reaches.push(x.value.abs() + x.error);
                errors.push(x.error);
            }
            side
        };
        let sides = balls.iter().map(side).collect();
        let are_exact = errors.iter().all(|&error| error == 0.0);
        let lanes = |items: Vec<f64>| Lanes::from_items(items, balls.count(), balls.length());
        Self {
            sides,
            values: lanes(values),
            reaches: lanes(reaches),
            errors: (!are_exact).then(|| lanes(errors)),
        }
    }

    fn magnitudes(&self) -> Lanes<'static, f64> {
        self.values.map(|x| x.abs())
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
        let by_left = rows.errors.as_ref().map(|errors| sums_of_products(errors, &columns.magnitudes()));
        let by_right = columns.errors.as_ref().map(|errors| sums_of_products(&rows.reaches, errors));
        Self {
            values: sums_of_products(&rows.values, &columns.values),
            sizes: sums_of_products(&rows.reaches, &columns.reaches),
            by_left,
            by_right,
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

impl Bound<'_> {
    /// The balls of the sums of products of each row with each column.
    pub(super) fn all_dots(
        &self,
        rows: &Lanes<'_, Ball>,
        columns: &Lanes<'_, Ball>,
        addend: impl Fn(usize, usize) -> Option<Ball>,
    ) -> Vec<Ball> {
        if self.is_compensated() {
            return each_dot(self, rows, columns, addend);
        }
        let (left, right) = (Factors::new(self, rows), Factors::new(self, columns));
        let matrices = Matrices::new(&left, &right);
        // Most rows and columns go through as many roundings.
        let last = Cell::new((0, self.growth(0)));
        let growth = |roundings| {
            if last.get().0 != roundings {
                last.set((roundings, self.growth(roundings)));
            }
            last.get().1
        };
        let mut balls = Vec::with_capacity(rows.count() * columns.count());
        for (i, row) in rows.iter().enumerate() {
            for (j, column) in columns.iter().enumerate() {
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
                    let factors = [left.values.lane(i), right.values.lane(j)];
                    let first = addend.map_or(i32::MAX / 2, |(x, _)| low_bit(x.value));
                    self.sum_of_products(&products, |size| self.common_grain(factors, first, size), growth)
                });
            }
        }
        balls
    }

    /// The lowest bit of any product, one of which has the lowest bit `first`, if the working dtype has all multiples of
    /// it up to a size. Random numbers are refuted by the first of them.
    fn common_grain(&self, [x, y]: [&[f64]; 2], first: i32, size: f64) -> Option<i32> {
        let mut least = first;
        for (&x, &y) in x.iter().zip(y) {
            if !self.is_grid(size, least) {
                return None;
            }
            least = least.min(low_bit(x) + low_bit(y));
        }
        Some(least).filter(|&least| self.is_grid(size, least))
    }

    /// Whether values of sums of products are compensated.
    pub(super) fn is_compensated(&self) -> bool {
        self.format == FloatFormat::F64
    }
}
