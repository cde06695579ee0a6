//! `IsNaN`: which elements are no numbers.

use crate::prelude::*;

attributes! {
    /// Whether x is NaN.
    ///
    /// `x: any shape, floats → y: as x, bool`
    ///
    /// ONNX: [IsNaN](https://onnx.ai/onnx/operators/onnx__IsNaN.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct IsNaN;
}

impl Single for IsNaN {
    const ROW: Row = Row::new("IsNaN");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(0..=d.limits.max_rank)?;
        Some(IsNaN)
    }
}

impl<D: Dim> TypeRule<D> for IsNaN {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.need(0)?.with_dtype(DType::Bool)])
    }
}

impl Operator for IsNaN {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let edges = vec![(0, Edge::NonFinite), (0, Edge::Limits)];
        Facts::calculates(Cost::PerOutput(1), Batch::meeting(x, &[]), None, edges)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![Data::Int(lanes::each(c.real(0), |x| c.arith.is(Class::NaN, x)))]
    }
}

#[cfg(test)]
tables! {
    infinities_are_numbers: "
        IsNaN(f32[4] {nan, inf, -inf, 3e38}) = bool[4] {true, false, false, false}
    ";
}
