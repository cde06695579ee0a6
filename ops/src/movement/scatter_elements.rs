//! `ScatterElements`: a copy of one operand in which updates stand where indices point to along an axis.

use super::index::{along, in_range, moved, point};
use super::scatter::{Places, Reduction};
use crate::prelude::*;

attributes! {
    /// A copy of x in which updates stand where indices point to along an axis, or are combined with what is there.
    ///
    /// `x: […, n, …], indices: […, m, …], updates: as indices → y: as x`
    ///
    /// Each update is at its own place on the other axes, on which the indices may be less than x. Negative indices count
    /// from the axis' end. One out of range is undefined, and so is an element to which several point that are not combined.
    ///
    /// ONNX: [ScatterElements](https://onnx.ai/onnx/operators/onnx__ScatterElements.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ScatterElements {
        /// The axis that the indices point into.
        pub axis: i64 = 0,
        /// What becomes of an update and what is there.
        pub reduction: Reduction as part,
    }
}

impl Single for ScatterElements {
    const ROW: Row = Row::new("ScatterElements");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        let indices = d.any_pinned(x.rank())?;
        d.matching(x.dtype, &indices.shape.iter().copied().map(Some).collect::<Vec<_>>())?;
        Some(ScatterElements { axis: d.axis(x.rank())?, reduction: Reduction::draw(d, x.dtype)? })
    }
}

impl<D: Dim> TypeRule<D> for ScatterElements {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (data, indices) = along(x, self.axis, r)?;
        let updates = x.need(2)?;
        rule::same_shape(r, &indices.shape, &updates.shape)?;
        rule::same_dtype(&[data, updates])?;
        Ok(vec![data.clone()])
    }
}

impl ScatterElements {
    /// Each update is at its own place but for the axis.
    fn places<A: Arith>(self, c: &Call<'_, A>) -> Places {
        let (indices, shape) = (c.int(1), c.data(0).shape());
        let axis = c.axis(self.axis);
        let places = lanes::build(indices.shape(), |at| {
            point(c.arith, indices[at], shape[axis]).map(|i| moved(at, (axis, i), shape))
        });
        places.into_iter().collect()
    }
}

impl Operator for ScatterElements {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        self.reduction.facts()
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let [Some(data), Some(indices), ..] = x else { return Vec::new() };
        // Where there is a lane, it has this many places for its updates.
        let lane = rule::accepted(rule::axis(self.axis, data.rank()));
        let places = if indices.shape[lane] > data.shape[lane] { 0 } else { u64::MAX };
        self.reduction.hazards(x, places, in_range(x, self.axis), Some(lane))
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        self.reduction.scattered(c, &self.places(c))
    }
}

#[cfg(test)]
tables! {
    the_examples_of_the_specification: "
        x = f32[1, 5] {1, 2, 3, 4, 5}; updates = f32[1, 2] {1.5, 2}
        ScatterElements(x, i64[1, 2] {1, 3}, updates) {axis = 1} = f32[1, 5] {1, 1.5, 3, 2, 5}
        ScatterElements(x, i64[1, 2] {1, -4}, updates) {axis = 1, reduction = 'add'} = f32[1, 5] {1, 5.5, 3, 4, 5}
    ";
    more_updates_than_places_and_sums_of_truth_are_undefined: "
        ScatterElements(f32[2], i64[3], f32[3]) has the hazards [Outside { operand: 1, low: -2.0, high: 1.0 }, Always]
        ScatterElements(bool[2], i64[2], bool[2]) has the hazards [Outside { operand: 1, low: -2.0, high: 1.0 }, Repeated { operand: 1, axis: Some(0) }]
        ScatterElements(f32[2], i64[3], f32[3]) {reduction = 'add'} has the hazards [Outside { operand: 1, low: -2.0, high: 1.0 }]
        ScatterElements(bool[2], i64[1], bool[1]) {reduction = 'max'} has the hazards [Outside { operand: 1, low: -2.0, high: 1.0 }, Always]
    ";
}
