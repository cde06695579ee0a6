//! `GlobalLpPool`: the norm of each channel of each image.

use super::norm::norm;
use super::pooling::{of_nothing, pooled};
use crate::prelude::*;

attributes! {
    /// The norm (Σ|x|ᵖ)^(1/p) of all elements of each channel of each image.
    ///
    /// `x: [N, C, spatial…] → y: [N, C, 1…]`
    ///
    /// What LpPool gives with a window as large as the image; so the norm of no elements is undefined.
    ///
    /// ONNX: [GlobalLpPool](https://onnx.ai/onnx/operators/onnx__GlobalLpPool.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct GlobalLpPool {
        /// Which norm.
        pub p: i64 { 1.. } = 2,
    }
}

impl Single for GlobalLpPool {
    const ROW: Row = Row::new("GlobalLpPool");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(3..=d.limits.max_rank)?;
        Some(GlobalLpPool { p: d.choose(&[1, 2, 2, 3])? })
    }
}

impl<D: Dim> TypeRule<D> for GlobalLpPool {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![pooled(x, r)?])
    }
}

impl Operator for GlobalLpPool {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts::calculates(Cost::PerInput(2), Batch::meeting(x, &[]), None, Vec::new())
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        of_nothing(x)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let x = c.real(0);
        let spatial: Vec<usize> = (2..x.ndim()).collect();
        let norm = |lane: &[A::R]| match lane {
            [] => c.arith.undefined_real(),
            lane => norm(self.p, c.arith, lane.iter().copied()),
        };
        vec![Data::Real(lanes::reduce(x, &spatial, &c.extents(0), norm))]
    }
}

#[cfg(test)]
tables! {
    every_channel_has_its_own_norm: "
        x = f64[1, 2, 1, 2] {3, -4, -1, 2}
        GlobalLpPool(x) = f64[1, 2, 1, 1] {5, √5}
        GlobalLpPool(x) {p = 1} = f64[1, 2, 1, 1] {7, 3}
        // The third roots of 91 and 9.
        GlobalLpPool(x) {p = 3} ≈ f64[1, 2, 1, 1] {4.4979414452754, 2.0800838230519041}
        GlobalLpPool(f64[1, 1, 0]) = f64[1, 1, 1] {nan}
        GlobalLpPool(f64[1, 1, 0]) has the hazards [Always]
    ";
}
