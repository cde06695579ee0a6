//! `LpNormalization`: lanes divided by their norm.

use crate::prelude::*;

attributes! {
    /// Each lane along an axis over its norm.
    ///
    /// `x: […, n, …] → y: as x`
    ///
    /// The norm is Σ|x| or √Σx². A lane of zeros stays one.
    ///
    /// ONNX: [LpNormalization](https://onnx.ai/onnx/operators/onnx__LpNormalization.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct LpNorm {
        /// The axis of the lanes.
        pub axis: i64 = -1,
        /// Whether the norm is Σ|x| (p = 1) and not √Σx² (p = 2).
        pub taxicab: bool as "p" { 1 => true, 2 => false } = false,
    }
}

impl Single for LpNorm {
    const ROW: Row = Row::new("LpNormalization");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        Some(LpNorm { axis: d.axis(x.rank())?, taxicab: d.flag() })
    }
}

impl<D: Dim> TypeRule<D> for LpNorm {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        rule::axis(self.axis, x.rank())?;
        Ok(vec![x.clone()])
    }
}

impl Operator for LpNorm {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts::calculates(Cost::PerOutput(3), Batch::meeting_along(x, self.axis), None, Vec::new())
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, x) = (c.arith, c.real(0));
        vec![Data::Real(lanes::map(x, &[c.axis(self.axis)], |lane| {
            let norm = if self.taxicab {
                a.sum(lane.iter().map(|&x| a.abs(x)))
            } else {
                a.call(Fun::Sqrt, a.dot(lane.iter().map(|&x| (x, x))))
            };
            let zero = a.real(0.0);
            let empty = a.compare(Comparison::Equal, norm, zero);
            // "Defined to be zero", by a constant or by an element over something positive: of either sign.
            let either_zero = a.either(zero, || a.neg(zero));
            lane.iter().map(|&x| a.select(empty, either_zero, a.div(x, norm))).collect()
        }))]
    }
}

#[cfg(test)]
tables! {
    both_norms_and_a_lane_of_zeros: "
        x = f64[2, 2] {3, 0, -4, 0}
        LpNormalization(x) {axis = 0} = f64[2, 2] {0.6, 0, -0.8, 0}
        LpNormalization(x) {axis = 0, p = 1} = f64[2, 2] {3/7, 0, -4/7, 0}
    ";
}
