//! MatMul: matrix products as numpy has them, over any number of leading axes.

use ndarray::{ArrayView2, ArrayViewD, Axis, CowArray, Ix2, Ix3};

use crate::linear::int_product;
use crate::prelude::*;

attributes! {
    /// The product of matrices, or of stacks of them, as numpy has it.
    ///
    /// `A: […, M, K], B: […, K, N] → Y: […, M, N]`
    ///
    /// The leading axes broadcast. A vector on the left is a row, one on the right a column; the axis it lacks is not
    /// in the result either. Where K is 0, the result is 0. Integers wrap.
    ///
    /// ONNX: [MatMul](https://onnx.ai/onnx/operators/onnx__MatMul.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct MatMul;
}

impl Single for MatMul {
    const ROW: Row = Row::new("MatMul");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let ranks = 1..=d.limits.max_rank;
        let a = d.any(ranks.clone())?;
        if d.chance(0.3) {
            d.of(a.dtype, ranks)?;
        } else if d.again(|t| t.dtype == a.dtype).is_none() {
            let rank = d.rank(ranks)?;
            d.fresh(a.dtype, rank);
        }
        Some(MatMul)
    }
}

impl<D: Dim> TypeRule<D> for MatMul {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (a, b) = (x.ranked_from(0, 1)?, x.ranked_from(1, 1)?);
        let dtype = rule::same_dtype(&[a, b])?;
        let (mut left, mut right) = (a.shape.clone(), b.shape.clone());
        if a.rank() == 1 {
            left.insert(0, D::from(1));
        }
        if b.rank() == 1 {
            right.push(D::from(1));
        }
        let (i, j) = (left.len() - 2, right.len() - 2);
        r.eq(left[i + 1], right[j])?;
        let mut shape = rule::broadcast_shapes(r, &[&left[..i], &right[..j]])?;
        if a.rank() > 1 {
            shape.push(left[i]);
        }
        if b.rank() > 1 {
            shape.push(right[j + 1]);
        }
        Ok(vec![Type::new(dtype, shape)])
    }
}

/// The elements of the product; both operands are brought to matrices under the same leading axes first, and `product` is
/// that of two matrices.
fn multiply<T: Clone, U>(
    a: &ArrayD<T>,
    b: &ArrayD<T>,
    y: &[usize],
    mut product: impl FnMut(&ArrayView2<'_, T>, &ArrayView2<'_, T>) -> Vec<U>,
) -> Vec<U> {
    let batch = &y[..y.len() - usize::from(a.ndim() > 1) - usize::from(b.ndim() > 1)];
    let a = if a.ndim() == 1 { a.view().insert_axis(Axis(0)) } else { a.view() };
    let b = if b.ndim() == 1 { b.view().insert_axis(Axis(1)) } else { b.view() };
    if let Ok(b) = b.view().into_dimensionality::<Ix2>() {
        // One matrix on the right, which the rows of all on the left meet.
        let rows = a.shape()[..a.ndim() - 1].iter().product();
        let a = a.to_shape((rows, b.nrows())).expect("as many elements");
        return product(&a.view(), &b);
    }
    let [a, b] = [&a, &b].map(|x| {
        let shape = [batch, &x.shape()[x.ndim() - 2..]].concat();
        x.broadcast(shape).expect("the type rule makes the leading axes broadcast")
    });
    let (a, b) = (stack(&a), stack(&b));
    a.outer_iter().zip(b.outer_iter()).flat_map(|(a, b)| product(&a, &b)).collect()
}

/// The matrices of a tensor, one after the other.
fn stack<'a, T: Clone>(x: &'a ArrayViewD<'_, T>) -> CowArray<'a, T, Ix3> {
    let (batch, matrix) = x.shape().split_at(x.ndim() - 2);
    x.to_shape((batch.iter().product(), matrix[0], matrix[1])).expect("as many elements")
}

impl Operator for MatMul {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let depth = x[0].and_then(|a| a.shape.last()).map_or(0, |&k| k.max(0) as u64);
        // A stack of matrices on the left meets one matrix on the right, or a vector.
        Facts::calculates(
            Cost::PerOutput(2 * depth),
            Batch::apart_if(operator::rank(x, 0) >= 2 && operator::rank(x, 1) <= 2),
            Some(0),
            vec![(0, Edge::Stall), (1, Edge::Stall)],
        )
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, shape) = (c.arith, c.extents(0));
        vec![if c.is_real() {
            let product = multiply(c.real(0), c.real(1), &shape, |x, y| a.dots(x, y, |_, _| None));
            Data::Real(lanes::array(&shape, product))
        } else {
            let product = multiply(c.int(0), c.int(1), &shape, |x, y| int_product(a, x, y));
            Data::Int(lanes::array(&shape, product))
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outputs, tensor, values};

    /// Shapes of A, B and the product, as numpy.matmul has them.
    #[test]
    fn shapes_follow_numpy() {
        for (a, b, y) in [
            (&[2, 3][..], &[3, 4][..], Some(&[2, 4][..])),
            (&[3], &[3], Some(&[])),
            (&[3], &[3, 4], Some(&[4])),
            (&[2, 3], &[3], Some(&[2])),
            (&[5, 1, 2, 3], &[4, 3, 1], Some(&[5, 4, 2, 1])),
            (&[3], &[5, 3, 4], Some(&[5, 4])),
            (&[5, 2, 3], &[3], Some(&[5, 2])),
            (&[2, 0], &[0, 2], Some(&[2, 2])),
            (&[1, 2, 3], &[0, 3, 2], Some(&[0, 2, 2])),
            (&[2, 3], &[2, 3], None),
            (&[], &[1], None),
        ] {
            let ones =
                |shape: &[i64]| tensor(DType::F32, shape, &vec![1.; shape.iter().product::<i64>() as usize]);
            let found = outputs(MatMul, &[&ones(a), &ones(b)]).ok();
            assert_eq!(found.as_ref().map(|t| t[0].ty().shape), y.map(<[i64]>::to_vec), "{a:?} @ {b:?}");
            let depth = a.last().map_or(0., |&k| k as f64);
            assert!(found.iter().flat_map(|t| values(&t[0])).all(|v| v == depth), "{a:?} @ {b:?}");
        }
    }

    tables! {
        every_matrix_of_a_batch_meets_its_own: "
            a = i32[2, 1, 2] {1, 2, 3, 4}; b = i32[2, 2, 2] {1, 0, 0, 1, 10, 20, 30, 40}
            MatMul(a, b) = i32[2, 1, 2] {1, 2, 150, 220}
        ";
        integers_wrap: "
            MatMul(u32[2] {65536, 1}, u32[2] {65536, 7}) = u32[] {7}
        ";
    }
}
