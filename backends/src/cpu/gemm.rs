//! C += A·B, term by term: for integers, and for floats where the product by vectors is to be checked.

use super::element::Number;

/// A matrix inside a slice: where it starts, and the distances between rows and between columns.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a, W> {
    pub(crate) elements: &'a [W],
    pub(crate) row_stride: usize,
    pub(crate) column_stride: usize,
}

impl<'a, W> Matrix<'a, W> {
    /// A dense row-major matrix.
    pub(crate) fn dense(elements: &'a [W], columns: usize) -> Self {
        Self { elements, row_stride: columns, column_stride: 1 }
    }

    /// This matrix with rows and columns exchanged.
    pub(crate) fn transposed(self) -> Self {
        Self { row_stride: self.column_stride, column_stride: self.row_stride, ..self }
    }

    /// Whether all of `rows` × `columns` elements lie in the slice.
    fn holds(&self, rows: usize, columns: usize) -> bool {
        rows == 0
            || columns == 0
            || (rows - 1) * self.row_stride + (columns - 1) * self.column_stride < self.elements.len()
    }
}

/// Adds A·B to C, which is dense: A is `m` × `k`, B is `k` × `n`. Row by row, so that the innermost loop runs along rows of B
/// and C.
///
/// # Panics
/// If a matrix is smaller than that: a kernel has miscalculated.
pub(crate) fn multiply_add<W: Number>(
    [m, k, n]: [usize; 3],
    a: Matrix<'_, W>,
    b: Matrix<'_, W>,
    c: &mut [W],
) {
    assert!(a.holds(m, k) && b.holds(k, n) && m * n <= c.len(), "a matrix exceeds its slice");
    if m == 0 || k == 0 || n == 0 {
        return;
    }
    for (i, row) in c.chunks_exact_mut(n).take(m).enumerate() {
        for l in 0..k {
            let x = a.elements[i * a.row_stride + l * a.column_stride];
            for (j, y) in row.iter_mut().enumerate() {
                *y = y.add(x.mul(b.elements[l * b.row_stride + j * b.column_stride]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product<W: Number + std::fmt::Debug>(from: fn(i8) -> W) -> Vec<W> {
        let a: Vec<W> = [1, 2, 3, 4, 5, 6].map(from).to_vec();
        let b: Vec<W> = [1, 0, -1, 2, 1, 1].map(from).to_vec();
        let mut c = vec![from(10); 4];
        multiply_add([2, 3, 2], Matrix::dense(&a, 3), Matrix::dense(&b, 3).transposed(), &mut c);
        c
    }

    #[test]
    fn every_kind_of_number_accumulates() {
        assert_eq!(product(f32::from), [8., 17., 8., 29.]);
        assert_eq!(product(f64::from), [8., 17., 8., 29.]);
        assert_eq!(product(i32::from), [8, 17, 8, 29]);
    }
}
