//! `GatherND`: slices that lists of indices, one for each of the first axes, point to.

use super::index::{listed, lists_in_range, point_at, points_into};
use crate::prelude::*;

attributes! {
    /// Slices of x that lists of indices point to, an index for each of the axes behind those of the batch.
    ///
    /// `x: [b…, s…(n), r…], indices: [b…, i…, n], i64 → y: [b…, i…, r…]`
    ///
    /// Negative indices count from the axis' end. One out of range is undefined.
    ///
    /// ONNX: [GatherND](https://onnx.ai/onnx/operators/onnx__GatherND.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct GatherNd {
        /// How many of the first axes both operands share.
        pub batch_dims: i64 { 0.. } = 0,
    }
}

impl GatherNd {
    /// How many of the first axes belong to the batch.
    fn batch(self) -> usize {
        usize::try_from(self.batch_dims).unwrap_or(usize::MAX)
    }
}

impl Single for GatherNd {
    const ROW: Row = Row::new("GatherND");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let most = d.limits.max_rank;
        let last = most.checked_sub(1)?;
        // The output has the axes of the batch, those of the indices and those that no index points into.
        let rank = d.rank(0..=most)?;
        let batch = if d.chance(0.6) { 0 } else { d.int(0, rank.min(last) as i64) as usize };
        let rest = d.int(0, rank.min(last).saturating_sub(batch) as i64) as usize;
        let pointed = d.int(1, (most - batch - rest) as i64) as usize;
        let x = d.any(batch + pointed + rest..=batch + pointed + rest)?;
        let lists = (0..rank - rest).map(|a| if a < batch { x.shape[a] } else { d.dim() });
        let mut shape: Vec<Sym<'a>> = lists.collect();
        shape.push((pointed as i64).into());
        d.pinned_like(DType::I64, shape);
        Some(GatherNd { batch_dims: batch as i64 })
    }
}

impl<D: Dim> TypeRule<D> for GatherNd {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let batch = self.batch();
        let least = batch.saturating_add(1);
        let (x, indices) = (x.ranked_from(0, least)?, x.ranked_from(1, least)?);
        for (&ours, &theirs) in x.shape.iter().zip(&indices.shape).take(batch) {
            r.eq(ours, theirs)?;
        }
        let listed = listed(r, indices, x.rank() - batch)?;
        r.le(D::from(1), D::from(listed as i64))?;
        let rest = batch + listed;
        points_into(r, indices, &x.shape[batch..rest])?;
        let lists = indices.shape[..indices.rank() - 1].iter();
        Ok(vec![Type::new(x.dtype, lists.chain(&x.shape[rest..]).copied().collect::<Vec<_>>())])
    }
}

impl EitherKind for GatherNd {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Elements, Some(0))
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        lists_in_range(x, self.batch())
    }

    fn outputs<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, x: &Numbers<A, K>) -> Vec<Numbers<A, K>> {
        let (batch, indices) = (self.batch(), c.int(1));
        let lists = indices.ndim() - 1;
        let sizes = &x.shape()[batch..batch + indices.shape()[lists]];
        vec![lanes::build(&c.extents(0), |at| {
            let (list, rest) = at.split_at(lists);
            let index = |place| indices[[list, &[place]].concat().as_slice()];
            let pointed = point_at(c.arith, (0..sizes.len()).map(index), sizes);
            pointed.element::<A, K>(c.arith, |i| x[[&list[..batch], &i, rest].concat().as_slice()])
        })]
    }
}

#[cfg(test)]
tables! {
    the_examples_of_the_specification: "
        x = i32[2, 2] {0, 1, 2, 3}; y = f32[2, 2, 2] {0, 1, 2, 3, 4, 5, 6, 7}
        GatherND(x, i64[2, 2] {0, 0, 1, 1}) = i32[2] {0, 3}
        GatherND(x, i64[2, 1] {1, -2}) = i32[2, 2] {2, 3, 0, 1}
        GatherND(y, i64[2, 1, 2] {0, 1, 1, 0}) = f32[2, 1, 2] {2, 3, 4, 5}
        GatherND(y, i64[2, 1] {1, 0}) {batch_dims = 1} = f32[2, 2] {2, 3, 4, 5}
    ";
    a_list_is_of_one_index_at_least_and_of_as_many_as_there_are_axes_at_most: "
        GatherND(f32[2], i64[1, 0]) is refused
        GatherND(f32[2], i64[1, 2] {0, 0}) is refused
        GatherND(f32[2], i64[2, 1] {0, 0}) {batch_dims = 1} is refused
    ";
    only_what_an_index_out_of_range_points_to_is_undefined: "
        GatherND(f32[2, 2] {1, 2, 3, 4}, i64[2, 2] {1, -3, 1, -2}) = f32[2] {nan, 3}
    ";
}
