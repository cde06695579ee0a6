//! Means, variances and determinants, by the algorithms that implementations use.

use ops::Arith;

use super::{Malice, Number};

impl Malice<'_> {
    /// Into how many parts a lane is divided at least.
    fn parts(&self) -> usize {
        self.profile().partial_sums as usize
    }

    /// The mean of a lane: a sum divided, that corrected by a second pass, or a running one, which takes a lane as a whole.
    pub(super) fn any_mean(&self, lane: &[Number], count: usize) -> Number {
        let is_other = self.by.does(self.by.habits.other_algorithm);
        if is_other && self.parts() == 1 && count == lane.len() && self.by.coin() {
            return self.running(lane).0;
        }
        let divided = |sum: Number| self.div(sum, self.real(count as f64));
        let mean = divided(self.any_sum(lane.iter().copied(), self.parts()));
        if !is_other || count != lane.len() {
            return mean;
        }
        let left: Vec<Number> = lane.iter().map(|&x| self.sub(x, mean)).collect();
        self.add(mean, divided(self.any_sum(left.into_iter(), self.parts())))
    }

    /// The variance of a lane about its mean, in two passes or, where that is a liberty of the profile, a running one.
    pub(super) fn any_variance(&self, lane: &[Number], mean: Number) -> Number {
        let count = self.real(lane.len() as f64);
        let squares = if self.profile().running_variance && self.by.does(self.by.habits.other_algorithm) {
            self.running(lane).1
        } else {
            // One number, however often it is read: else its errors would not cancel.
            let mean = self.operand(mean);
            let minus = Number { held: -mean.held, truth: -mean.truth };
            let centred: Vec<Number> = lane.iter().map(|&x| self.plus(self.operand(x), minus)).collect();
            self.any_dot(centred.into_iter().map(|d| (d, d)), self.parts())
        };
        self.div(squares, count)
    }

    /// The running mean of a lane from its first element on, and the running sum of the squares of its distances (Welford).
    fn running(&self, lane: &[Number]) -> (Number, Number) {
        let zero = self.real(0.0);
        let Some((&first, rest)) = lane.split_first() else { return (zero, zero) };
        // The first has no distance, unless it is infinite or NaN.
        let none = Number { held: 0.0 * first.held, truth: 0.0 * first.truth };
        rest.iter().zip(2u32..).fold((first, none), |(mean, squares), (&x, counted)| {
            let before = self.sub(x, mean);
            let mean = self.add(mean, self.div(before, self.real(counted.into())));
            let squares = self.add(squares, self.mul(before, self.sub(x, mean)));
            (mean, squares)
        })
    }

    /// A determinant by elimination of rows or of columns, or by minors where there are few.
    pub(super) fn any_determinant(&self, matrix: &[Number], rows: usize) -> Number {
        let transposed = || (0..rows * rows).map(|i| matrix[i % rows * rows + i / rows]).collect();
        match self.by.one_of(&[0, 1, 2]) {
            0 if (2..=4).contains(&rows) => self.by_minors(matrix, rows),
            1 => self.by_elimination(transposed(), rows),
            _ => self.by_elimination(matrix.to_vec(), rows),
        }
    }

    /// The determinant by elimination with partial pivoting.
    fn by_elimination(&self, mut m: Vec<Number>, rows: usize) -> Number {
        let mut is_negative = false;
        for k in 0..rows {
            let size = |r: &usize| m[r * rows + k].held.abs();
            let from = (k..rows).max_by(|r, s| size(r).total_cmp(&size(s))).unwrap_or(k);
            if from != k {
                (0..rows).for_each(|c| m.swap(from * rows + c, k * rows + c));
                is_negative = !is_negative;
            }
            // The same number where it is compared and where it divides.
            let pivot = self.operand(m[k * rows + k]);
            if pivot.held == 0.0 {
                return self.real(0.0);
            }
            for r in k + 1..rows {
                let factor = self.over(self.operand(m[r * rows + k]), pivot);
                for c in k + 1..rows {
                    m[r * rows + c] = self.sub(m[r * rows + c], self.mul(factor, m[k * rows + c]));
                }
            }
        }
        let product = self.any_product((0..rows).map(|k| m[k * rows + k]));
        if is_negative { self.neg(product) } else { product }
    }

    /// The determinant by minors of the first row, and of what is left of it.
    fn by_minors(&self, m: &[Number], rows: usize) -> Number {
        if rows == 1 {
            return m[0];
        }
        let minor = |column: usize| -> Vec<Number> {
            let places = (rows..rows * rows).filter(|place| place % rows != column);
            places.map(|place| m[place]).collect()
        };
        let terms: Vec<(Number, Number)> = (0..rows)
            .map(|column| {
                let of_minor = self.by_minors(&minor(column), rows - 1);
                (m[column], if column % 2 == 0 { of_minor } else { self.neg(of_minor) })
            })
            .collect();
        self.any_dot(terms.into_iter(), 1)
    }
}
