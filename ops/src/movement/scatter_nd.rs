//! `ScatterND`: a copy of one operand in which updates stand where lists of indices point to.

use super::index::{listed, lists_in_range, point_at, points_into};
use super::scatter::{Places, Reduction, place};
use crate::prelude::*;

attributes! {
    /// A copy of x in which updates stand where lists of indices point to, or are combined with what is there.
    ///
    /// `x: [s…(n), r…], indices: [i…, n], i64, updates: [i…, r…] → y: as x`
    ///
    /// A list has an index for each of the first axes. Negative indices count from the axis' end. One out of range is
    /// undefined, and so is an element to which several point that are not combined.
    ///
    /// ONNX: [ScatterND](https://onnx.ai/onnx/operators/onnx__ScatterND.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ScatterNd {
        /// What becomes of an update and what is there.
        pub reduction: Reduction as part,
    }
}

impl Single for ScatterNd {
    const ROW: Row = Row::new("ScatterND");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        let pointed = d.int(1, x.rank() as i64) as usize;
        let rest = &x.shape[pointed..];
        let lists = d.int(0, (d.limits.max_rank - rest.len()).min(d.limits.max_rank - 1) as i64);
        let lists: Vec<Sym<'a>> = (0..lists).map(|_| d.dim()).collect();
        d.pinned_like(DType::I64, [&lists[..], &[(pointed as i64).into()]].concat());
        d.matching(x.dtype, &lists.iter().chain(rest).copied().map(Some).collect::<Vec<_>>())?;
        Some(ScatterNd { reduction: Reduction::draw(d, x.dtype)? })
    }
}

impl<D: Dim> TypeRule<D> for ScatterNd {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (data, indices, updates) = (x.ranked_from(0, 1)?, x.ranked_from(1, 1)?, x.need(2)?);
        let (into, rest) = data.shape.split_at(listed(r, indices, data.rank())?);
        points_into(r, indices, into)?;
        let slices = [&indices.shape[..indices.rank() - 1], rest].concat();
        rule::same_shape(r, &slices, &updates.shape)?;
        rule::same_dtype(&[data, updates])?;
        Ok(vec![data.clone()])
    }
}

/// Each list of indices leads to a slice, and its updates to the elements of that.
fn places<A: Arith>(c: &Call<'_, A>) -> Places {
    let (indices, shape) = (c.int(1), c.data(0).shape());
    let (lists, length) = indices.shape().split_at(indices.ndim() - 1);
    let (lists, length) = (lists.iter().product::<usize>(), length[0]);
    let (into, rest) = shape.split_at(length);
    let inner: usize = rest.iter().product();
    let all: Vec<A::Z> = indices.iter().copied().collect();
    let target = |update: usize| {
        let list = all[update / inner * length..][..length].iter().copied();
        point_at(c.arith, list, into).map(|at| place(&at, into) * inner + update % inner)
    };
    (0..lists * inner).map(target).collect()
}

impl Operator for ScatterNd {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        self.reduction.facts()
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let places = x[0].map_or(0, operator::elements);
        // Lists that are all different need more than the smallest axis has, and where there is a result it tells.
        let shows = places > 0 && self.reduction == Reduction::None;
        let out_of_range = lists_in_range(x, 0).into_iter().map(|hazard| match hazard {
            Hazard::Outside { operand, low, high } if shows => Hazard::Perhaps { operand, low, high },
            other => other,
        });
        self.reduction.hazards(x, places, out_of_range.collect(), None)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        self.reduction.scattered(c, &places(c))
    }
}

#[cfg(test)]
tables! {
    the_example_of_the_specification: "
        x = i32[8] {1, 2, 3, 4, 5, 6, 7, 8}
        ScatterND(x, i64[4, 1] {4, 3, 1, 7}, i32[4] {9, 10, 11, 12}) = i32[8] {1, 11, 3, 10, 9, 6, 7, 12}
    ";
    slices_are_updated_as_a_whole: "
        x = f32[2, 2, 2] {0, 0, 0, 0, 0, 0, 0, 0}; to = i64[1, 2, 2] {0, 1, -1, 0}; updates = f32[1, 2, 2] {1, 2, 3, 4}
        ScatterND(x, to, updates) {reduction = 'add'} = f32[2, 2, 2] {0, 0, 1, 2, 3, 4, 0, 0}
        ScatterND(x, to, f32[1, 2] {1, 2}) {reduction = 'add'} is refused
    ";
    a_list_of_no_indices_leads_to_all_there_is: "
        ScatterND(f32[2] {1, 2}, i64[1, 0], f32[1, 2] {3, 4}) = f32[2] {3, 4}
        ScatterND(f32[2] {1, 2}, i64[2, 0], f32[2, 2] {3, 4, 5, 6}) {reduction = 'add'} = f32[2] {9, 12}
    ";
    lists_that_are_all_different_may_need_every_index: "
        ScatterND(f32[4, 2], i64[8, 2], f32[8]) has the hazards [Perhaps { operand: 1, low: -2.0, high: 1.0 }, Repeated { operand: 1, axis: None }]
        ScatterND(f32[4, 2], i64[9, 2], f32[9]) has the hazards [Perhaps { operand: 1, low: -2.0, high: 1.0 }, Always]
        ScatterND(f32[4, 2], i64[8, 2], f32[8]) {reduction = 'max'} has the hazards [Outside { operand: 1, low: -2.0, high: 1.0 }]
        ScatterND(f32[4, 2, 0], i64[1, 2], f32[1, 0]) has the hazards [Outside { operand: 1, low: -2.0, high: 1.0 }, Repeated { operand: 1, axis: None }]
    ";
}
