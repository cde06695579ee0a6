//! Det: elimination with partial pivoting, 16-bit floats in `f32`.

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, dispatch_real};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let &[.., rows, columns] = shape else { return Err(CpuError::Invalid("it has no matrices")) };
    if rows != columns {
        return Err(CpuError::Invalid("its matrices are not square"));
    }
    let count = shape[..shape.len() - 2].iter().product();
    dispatch_real!(c.dtype(0)?, T => {
        let mut x = c.loaded::<T>(0)?;
        let matrix = |i: usize| i * rows * rows..(i + 1) * rows * rows;
        c.only((0..count).map(|i| T::store(determinant(&mut x[matrix(i)], rows))).collect())
    })
}

fn determinant<W: Number>(m: &mut [W], rows: usize) -> W {
    let mut product = W::ONE;
    for k in 0..rows {
        let size = |r: usize| m[r * rows + k].abs();
        let largest = (k + 1..rows).fold(k, |best, r| if size(r) > size(best) { r } else { best });
        if largest != k {
            (k..rows).for_each(|c| m.swap(largest * rows + c, k * rows + c));
            product = product.neg();
        }
        let (above, below) = m.split_at_mut((k + 1) * rows);
        let pivot_row = &above[k * rows + k..];
        let pivot = pivot_row[0];
        product = product.mul(pivot);
        if pivot == W::ZERO {
            return product;
        }
        for row in below.chunks_exact_mut(rows) {
            let factor = row[k].div(pivot);
            for (y, &x) in row[k..].iter_mut().zip(pivot_row) {
                *y = y.sub(factor.mul(x));
            }
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::determinant;

    #[test]
    fn rows_that_change_places_change_the_sign() {
        assert_eq!(determinant(&mut [0.0, 2.0, 3.0, 0.0f32], 2), -6.0);
        assert_eq!(determinant(&mut [0.0, 2.0, 0.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0f64], 3), 24.0);
        assert_eq!(determinant(&mut [1.0, 2.0, 2.0, 4.0f32], 2), 0.0);
        assert_eq!(determinant::<f32>(&mut [], 0), 1.0);
    }
}
