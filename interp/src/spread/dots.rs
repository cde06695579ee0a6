//! Many sums of products at once.

use ir::format::FloatFormat;
use ndarray::{Array2, ArrayView2};
use ops::arith::each_dot;
use ops::matrix::product;

use super::walk::Walk;
use super::{Spread, bare};
use crate::balls::Balls;
use crate::bound::{self, Ball, by_panels};

/// The elements of a matrix, and their errors, each with the sign of its element, where there are any.
struct Side {
    values: Array2<f64>,
    errors: Option<Array2<f64>>,
}

impl Side {
    fn new(balls: &ArrayView2<'_, Ball>) -> Self {
        let is_exact = |x: &Ball| x.is_exact() || x.is_zero();
        // Of what is unknown, nothing is asked.
        let error = |x: &Ball| if is_exact(x) || !x.is_known() { 0.0 } else { x.error.copysign(x.value) };
        let errors = (!balls.iter().all(is_exact)).then(|| balls.map(error));
        Self { values: balls.map(|x| x.value), errors }
    }
}

/// The rows of a product's first operand: without their errors, and with them.
struct Rows<'a> {
    exact: bound::Rows<'a>,
    side: Side,
}

/// Σxy and Σ(xy)² of each row with each column.
struct Sums {
    plain: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn of(x: &Array2<f64>, y: &Array2<f64>) -> Self {
        let square = |x: &Array2<f64>| x.mapv(|x| x * x);
        Self { plain: product(&x.view(), &y.view()), squares: product(&square(x).view(), &square(y).view()) }
    }

    /// The sums of all terms that are a sum of two, as the errors of a product are: (a + b)² is a² + 2ab + b².
    fn and(mut self, more: Self) -> Self {
        self.plain.iter_mut().zip(more.plain).for_each(|(all, more)| *all += more);
        let both = self.squares.iter_mut().zip(more.squares);
        both.for_each(|(all, more)| *all += more + 2.0 * (*all * more).sqrt());
        self
    }
}

/// What the errors of both sides become: that of x·y is |x|·ey + |y|·ex.
fn carried(left: &Side, right: &Side) -> Option<Sums> {
    let by_left = left.errors.as_ref().map(|errors| Sums::of(errors, &right.values));
    let by_right = right.errors.as_ref().map(|errors| Sums::of(&left.values, errors));
    match (by_left, by_right) {
        (Some(by_left), Some(by_right)) => Some(by_left.and(by_right)),
        (one, other) => one.or(other),
    }
}

impl Spread<'_> {
    /// The balls of the product of two matrices. What the spread of a sum needs to know are products of matrices as well, but for
    /// what a loop makes of the terms in their order: that is left out, unless the accumulator is so narrow that it matters.
    pub(crate) fn dots(
        &self,
        a: &ArrayView2<'_, Ball>,
        b: &ArrayView2<'_, Ball>,
        addend: impl Fn(usize, usize) -> Option<Ball>,
    ) -> Vec<Ball> {
        let is_narrow = self.accumulator.precision() < FloatFormat::F32.precision();
        if is_narrow || self.bound.is_compensated() {
            return each_dot(&Balls::Spreads(*self), a, b, addend);
        }
        let exact = a.map(|&x| bare(x));
        let rows = Rows { exact: self.bound.rows(&exact.view()), side: Side::new(a) };
        by_panels(a.nrows(), b, |first, columns| self.panel(&rows, columns, |i, j| addend(i, first + j)))
    }

    /// The balls of the product of some rows with some columns.
    fn panel(
        &self,
        Rows { exact, side: left }: &Rows<'_>,
        b: &ArrayView2<'_, Ball>,
        addend: impl Fn(usize, usize) -> Option<Ball>,
    ) -> Vec<Ball> {
        let steps = self.bound.panel(exact, &b.map(|&x| bare(x)).view(), |i, j| addend(i, j).map(bare));
        let right = Side::new(b);
        let (sums, carried) = (Sums::of(&left.values, &right.values), carried(left, &right));
        let columns = b.ncols().max(1);
        let walk = |at: usize| Walk {
            terms: b.nrows() as u32,
            squares: sums.squares[at],
            variance: carried.as_ref().map_or(0.0, |carried| carried.squares[at]),
            common: carried.as_ref().map_or(0.0, |carried| carried.plain[at]),
        };
        let with_addend = |(at, step): (usize, Ball)| {
            let mut walk = walk(at);
            if let Some(first) = addend(at / columns, at % columns).filter(|x| x.is_known()) {
                walk.push(first.value, first.error);
            }
            self.summed(step, &walk, 0.0)
        };
        steps.into_iter().enumerate().map(with_addend).collect()
    }
}
