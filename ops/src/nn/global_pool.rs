//! The global pools: one number from all elements of an image's channel.

use super::pooling::{of_nothing, pooled};
use crate::prelude::*;

attributes! {
    /// A pool over all spatial axes of X `[N, C, spatial…]`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct GlobalPool(GlobalPoolFn);
}

functions! {
    /// How the elements are combined.
    pub enum GlobalPoolFn of "`x: [N, C, spatial…] → y: [N, C, 1…]`"; {
        /// The mean of each channel of each image.
        Average = "GlobalAveragePool",
        /// The largest element of each channel of each image.
        ///
        /// NaN, if one is.
        Max = "GlobalMaxPool",
    }
}

impl Family for GlobalPool {
    const ROWS: &'static [(GlobalPoolFn, Row)] = ROWS;

    fn draw<'a>(function: GlobalPoolFn, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(3..=d.limits.max_rank).map(|_| GlobalPool(function))
    }
}

impl<D: Dim> TypeRule<D> for GlobalPool {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![pooled(x, r)?])
    }
}

impl Operator for GlobalPool {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let edges = vec![(0, Edge::Stall), (0, Edge::Alike)];
        Facts::calculates(Cost::PerInput(1), Batch::meeting(x, &[]), Some(0), edges)
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        of_nothing(x)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, x) = (c.arith, c.real(0));
        let spatial: Vec<usize> = (2..x.ndim()).collect();
        vec![Data::Real(lanes::reduce(x, &spatial, &c.extents(0), |lane| {
            let all = lane.iter().copied();
            match self.0 {
                _ if lane.is_empty() => a.undefined_real(),
                GlobalPoolFn::Average => a.average(all, lane.len()),
                // From −∞ on, as in MaxPool.
                GlobalPoolFn::Max => a.max_of(a.real(f64::NEG_INFINITY), all),
            }
        }))]
    }
}

#[cfg(test)]
tables! {
    of_no_elements_there_is_neither_a_mean_nor_a_largest: "
        GlobalAveragePool(f32[1, 2, 0]) = f32[1, 2, 1] {nan, nan}
        GlobalMaxPool(f32[1, 2, 0]) = f32[1, 2, 1] {nan, nan}
        GlobalAveragePool(f32[1, 2, 3, 0]) has the hazards [Always]
        GlobalAveragePool(f32[1, 2, 3, 1]) has the hazards []
        GlobalMaxPool(f32[1, 2]) is refused: the standard does not say what becomes of an image that has no spatial axes
    ";
}
