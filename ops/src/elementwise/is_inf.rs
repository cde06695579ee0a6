//! `IsInf`: which elements are infinite.

use crate::prelude::*;

attributes! {
    /// Whether x is infinite.
    ///
    /// `x: any shape, floats → y: as x, bool`
    ///
    /// Without `detect_negative` -∞ does not count, and without `detect_positive` +∞ does not.
    ///
    /// ONNX: [IsInf](https://onnx.ai/onnx/operators/onnx__IsInf.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct IsInf {
        /// Whether -∞ counts.
        pub detect_negative: bool = true,
        /// Whether +∞ counts.
        pub detect_positive: bool = true,
    }
}

impl Single for IsInf {
    const ROW: Row = Row::new("IsInf");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(0..=d.limits.max_rank)?;
        Some(IsInf { detect_negative: d.chance(0.7), detect_positive: d.chance(0.7) })
    }
}

impl<D: Dim> TypeRule<D> for IsInf {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.need(0)?.with_dtype(DType::Bool)])
    }
}

impl Operator for IsInf {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let edges = vec![(0, Edge::NonFinite), (0, Edge::Limits)];
        Facts::calculates(Cost::PerOutput(1), Batch::meeting(x, &[]), None, edges)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        let counts = |class, x, detects| if detects { a.is(class, x) } else { a.int(0) };
        let holds = |x: A::R| {
            let negative = counts(Class::NegativeInfinity, x, self.detect_negative);
            let positive = counts(Class::PositiveInfinity, x, self.detect_positive);
            a.exact([negative, positive], |[n, p]| Some(n | p))
        };
        vec![Data::Int(lanes::each(c.real(0), holds))]
    }
}

#[cfg(test)]
tables! {
    infinities_count_by_sign: "
        x = f32[4] {nan, inf, -inf, 3e38}
        IsInf(x) {detect_negative = 1, detect_positive = 1} = bool[4] {false, true, true, false}
        IsInf(x) {detect_negative = 1, detect_positive = 0} = bool[4] {false, false, true, false}
        IsInf(x) {detect_negative = 0, detect_positive = 1} = bool[4] {false, true, false, false}
        IsInf(x) {detect_negative = 0, detect_positive = 0} = bool[4] {false, false, false, false}
    ";
}
