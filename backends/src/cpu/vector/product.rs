//! C += A·B of floats, by the crate `gemm`.

use gemm::Parallelism;
use ndarray::ArrayViewMut2;

use super::room::each_part;
use crate::cpu::element::Real;

/// A matrix inside a slice: where it starts, and the distances between rows and between columns.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a, W> {
    elements: &'a [W],
    row_step: usize,
    column_step: usize,
}

impl<'a, W> Matrix<'a, W> {
    /// A dense row-major matrix.
    pub(super) fn dense(elements: &'a [W], columns: usize) -> Self {
        Self { elements, row_step: columns, column_step: 1 }
    }

    /// This matrix, or the one with rows and columns exchanged.
    pub(super) fn transposed_if(self, transposed: bool) -> Self {
        if transposed {
            Self { row_step: self.column_step, column_step: self.row_step, ..self }
        } else {
            self
        }
    }

    /// The rows from one on.
    fn below(self, row: usize) -> Self {
        Self { elements: &self.elements[row * self.row_step..], ..self }
    }

    /// Whether all of `rows` × `columns` elements lie in the slice.
    fn holds(&self, rows: usize, columns: usize) -> bool {
        let last = |count: usize, step: usize| count.checked_sub(1).map(|last| last * step);
        match (last(rows, self.row_step), last(columns, self.column_step)) {
            (Some(row), Some(column)) => row + column < self.elements.len(),
            _ => true,
        }
    }
}

/// The products below which a further thread costs more than it gains.
const GRAIN: usize = 1 << 22;

/// The rows of the result below which a thread of its own costs more than it gains: each one lays B out for itself.
const ROWS: usize = 64;

/// Adds A·B to C, which is dense, or writes it where C is no part of the sum: A is `m` × `k`, B is `k` × `n`.
///
/// # Panics
/// If a matrix is smaller than that: a kernel has miscalculated.
pub(super) fn multiply<W: Product>(
    threads: usize,
    [m, k, n]: [usize; 3],
    a: Matrix<'_, W>,
    b: Matrix<'_, W>,
    c: &mut [W],
    adds: bool,
) {
    let threads = threads.min(m * k * n / GRAIN).max(1);
    let c = &mut c[..m * n];
    if threads > 1 && m >= threads * ROWS {
        return each_part(threads, c, n, usize::MAX, &|row, part| {
            multiply(1, [part.len() / n, k, n], a.below(row), b, part, adds);
        });
    }
    let parallelism = if threads > 1 { Parallelism::Rayon(threads) } else { Parallelism::None };
    let c = ArrayViewMut2::from_shape((m, n), c).expect("as many elements as the matrix has");
    product(k, a, b, c, adds, parallelism);
}

/// Writes A·B to C, whose rows may lie apart, on this thread: C is `m` × `n`, A is `m` × `k`, B is `k` × `n`.
///
/// # Panics
/// If A or B is smaller than that: a kernel has miscalculated.
pub(super) fn multiply_into<W: Product>(
    k: usize,
    a: Matrix<'_, W>,
    b: Matrix<'_, W>,
    c: ArrayViewMut2<'_, W>,
) {
    product(k, a, b, c, false, Parallelism::None);
}

#[allow(unsafe_code, reason = "the crate takes pointers")]
fn product<W: Product>(
    k: usize,
    a: Matrix<'_, W>,
    b: Matrix<'_, W>,
    mut c: ArrayViewMut2<'_, W>,
    adds: bool,
    parallelism: Parallelism,
) {
    let (m, n) = c.dim();
    assert!(a.holds(m, k) && b.holds(k, n), "a matrix exceeds its slice");
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        if !adds {
            c.fill(W::ZERO);
        }
        return;
    }
    let [row_step, column_step] = [c.strides()[0], c.strides()[1]];
    // SAFETY: `Product` is implemented for `f32` and `f64` alone, types the crate has. Every element of A and B lies in
    // its slice, as the assertion says. `c` is a view of all of its elements and borrowed mutably, so it overlaps
    // neither `a` nor `b`.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            column_step,
            row_step,
            adds,
            a.elements.as_ptr(),
            a.column_step as isize,
            a.row_step as isize,
            b.elements.as_ptr(),
            b.column_step as isize,
            b.row_step as isize,
            W::ONE,
            W::ONE,
            false,
            false,
            false,
            parallelism,
        );
    }
}

/// Numbers that the crate multiplies matrices of.
pub(super) trait Product: Real {}
impl Product for f32 {}
impl Product for f64 {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_add_to_what_is_there_or_take_its_place() {
        let (a, b) = ([1., 2., 3., 4., 5., 6.], [1., 0., -1., 2., 1., 1.]);
        let mut c = [10f32; 4];
        let right = || Matrix::dense(&b, 3).transposed_if(true);
        multiply(1, [2, 3, 2], Matrix::dense(&a, 3), right(), &mut c, true);
        assert_eq!(c, [8., 17., 8., 29.]);
        multiply(2, [2, 3, 2], Matrix::dense(&a, 3), right(), &mut c, false);
        assert_eq!(c, [-2., 7., -2., 19.]);
        multiply(1, [2, 0, 2], Matrix::dense(&a, 0), Matrix::dense(&b, 2), &mut c, false);
        assert_eq!(c, [0.; 4]);
    }

    #[test]
    fn threads_change_no_bit() {
        let [m, k, n] = [2 * ROWS + 3, 257, 255];
        let numbers = |count: usize| (0..count).map(|i| (i * 7919 % 1009) as f32 / 997.0 - 0.5).collect();
        let (a, b): (Vec<f32>, Vec<f32>) = (numbers(m * k), numbers(k * n));
        let product = |threads| {
            let mut c = numbers(m * n);
            let a = Matrix::dense(&a, m).transposed_if(true);
            multiply(threads, [m, k, n], a, Matrix::dense(&b, n), &mut c, true);
            c
        };
        assert!(m * k * n / GRAIN > 1, "so that there are threads");
        assert_eq!(product(1), product(2));
    }

    #[test]
    fn a_product_goes_to_some_columns_of_a_matrix() {
        let mut c = ndarray::Array2::from_elem((2, 5), 9f32);
        let columns = c.slice_mut(ndarray::s![.., 1..3]);
        multiply_into(2, Matrix::dense(&[1., 2., 3., 4.], 2), Matrix::dense(&[1., 0., 0., 1.], 2), columns);
        assert_eq!(c, ndarray::array![[9., 1., 2., 9., 9.], [9., 3., 4., 9., 9.]]);
    }

    #[test]
    #[should_panic(expected = "exceeds")]
    fn a_matrix_that_is_too_small_is_not_read_beyond_its_end() {
        multiply(1, [2, 2, 2], Matrix::dense(&[1f64; 3], 2), Matrix::dense(&[1.; 4], 2), &mut [0.; 4], true);
    }
}
