//! `GatherElements`: elements of one operand that indices, the other operand, point to along an axis.

use super::index::{along, in_range, moved, point};
use crate::prelude::*;

attributes! {
    /// Elements of x that indices point to along an axis, each at its own place on the others.
    ///
    /// `x: […, n, …], indices: […, m, …] → y: as indices`
    ///
    /// The indices may be less than x on the other axes too. Negative ones count from the axis' end. One out of range
    /// is undefined.
    ///
    /// ONNX: [GatherElements](https://onnx.ai/onnx/operators/onnx__GatherElements.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct GatherElements {
        /// The axis that the indices point into.
        pub axis: i64 = 0,
    }
}

impl Single for GatherElements {
    const ROW: Row = Row::new("GatherElements");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let rank = d.any(1..=d.limits.max_rank)?.rank();
        d.any_pinned(rank)?;
        Some(GatherElements { axis: d.axis(rank)? })
    }
}

impl<D: Dim> TypeRule<D> for GatherElements {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (data, indices) = along(x, self.axis, r)?;
        Ok(vec![indices.with_dtype(data.dtype)])
    }
}

impl EitherKind for GatherElements {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Elements, Some(0))
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        in_range(x, self.axis)
    }

    /// Each index stands for itself: the element is at its own position but for the axis.
    fn outputs<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, x: &Numbers<A, K>) -> Vec<Numbers<A, K>> {
        let axis = c.axis(self.axis);
        let from = lanes::broadcast(x, x.shape());
        vec![lanes::build(&c.extents(0), |at| {
            let pointed = point(c.arith, c.int(1)[at], x.shape()[axis]);
            pointed.element::<A, K>(c.arith, |i| from[moved(at, (axis, i), x.shape())])
        })]
    }
}

#[cfg(test)]
tables! {
    the_examples_of_the_specification: "
        x = f32[3, 3] {1, 2, 3, 4, 5, 6, 7, 8, 9}; indices = i32[2, 3] {1, -1, 0, 2, 0, 0}
        GatherElements(x, indices) {axis = 0} = f32[2, 3] {4, 8, 3, 7, 2, 3}
        GatherElements(x, indices) {axis = -1} = f32[2, 3] {2, 3, 1, 6, 4, 4}
    ";
    indices_may_be_more_than_x_along_the_axis_alone: "
        x = f32[3, 3] {1, 2, 3, 4, 5, 6, 7, 8, 9}; wide = i32[1, 4] {0, 0, 0, 0}
        GatherElements(x, wide) {axis = 0} is refused
        GatherElements(x, wide) {axis = 1} = f32[1, 4] {1, 1, 1, 1}
    ";
}
