//! Gather: slices of one operand that indices, the other operand, point to along an axis.

use super::index::{in_range, point, points_into};
use crate::prelude::*;

attributes! {
    /// Slices of x that indices point to along an axis.
    ///
    /// `x: [a…, n, b…], indices: [i…] → y: [a…, i…, b…]`
    ///
    /// Negative indices count from the axis' end. One out of range is undefined.
    ///
    /// ONNX: [Gather](https://onnx.ai/onnx/operators/onnx__Gather.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Gather {
        /// The axis that the indices point into.
        pub axis: i64 = 0,
    }
}

impl Single for Gather {
    const ROW: Row = Row::new("Gather").carrying();

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let most = d.limits.max_rank;
        let rank = d.rank(0..=most)?;
        // The output has the axes of both operands but one.
        let data_rank = d.int(1, most.min(rank + 1).max(1) as i64) as usize;
        let data = d.any(data_rank..=data_rank)?;
        let axis = d.axis(data.rank())?;
        d.any_pinned(rank + 1 - data_rank)?;
        Some(Gather { axis })
    }
}

impl<D: Dim> TypeRule<D> for Gather {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (data, indices) = (x.need(0)?, x.need(1)?);
        let axis = rule::axis(self.axis, data.rank())?;
        points_into(r, indices, &data.shape[axis..=axis])?;
        let mut shape = data.shape[..axis].to_vec();
        shape.extend(&indices.shape);
        shape.extend(&data.shape[axis + 1..]);
        Ok(vec![Type::new(data.dtype, shape)])
    }
}

impl EitherKind for Gather {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Elements, Some(0))
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        in_range(x, self.axis)
    }

    /// The axes of the indices stand for the axis that they point into.
    fn outputs<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, x: &Numbers<A, K>) -> Vec<Numbers<A, K>> {
        let axis = c.axis(self.axis);
        let (before, size, after) = (&x.shape()[..axis], x.shape()[axis], &x.shape()[axis + 1..]);
        let (outer, inner) = (before.iter().product::<usize>(), after.iter().product::<usize>());
        let from = lanes::broadcast(x, x.shape());
        let pointed: Vec<_> = c.int(1).iter().map(|&index| point(c.arith, index, size)).collect();
        let mut elements = Vec::with_capacity(outer * pointed.len() * inner);
        for (first, pointed) in (0..outer).flat_map(|i| pointed.iter().map(move |p| (i * size, p.as_ref()))) {
            let slice = pointed.map(|i| &from[(first + i) * inner..][..inner]);
            elements.extend((0..inner).map(|k| slice.as_ref().element::<A, K>(c.arith, |slice| slice[k])));
        }
        vec![lanes::array(&c.extents(0), elements)]
    }
}

#[cfg(test)]
tables! {
    the_indices_shape_replaces_the_axis: "
        rows = i32[3, 2] {1, 2, 3, 4, 5, 6}; columns = i32[2, 3] {1, 2, 3, 4, 5, 6}
        Gather(rows, i64[2, 1] {1, -3}) {axis = 0} = i32[2, 1, 2] {3, 4, 1, 2}
        Gather(columns, i64[] {2}) {axis = -1} = i32[2] {3, 6}
    ";
    out_of_range_is_undefined_and_an_empty_axis_has_nothing: "
        Gather(f32[3] {1, 2, 3}, i64[2] {3, -4}) = f32[2] {nan, nan}
        Gather(i32[3] {1, 2, 3}, i64[2] {3, -4}) = i32[2] {0, 0}
        Gather(i32[0, 2], i64[1] {0}) is refused
        Gather(i32[0, 2], i64[0]) = i32[0, 2]
    ";
}
