//! `CastLike`: the same numbers in the dtype of another operand.

use super::Rounding;
use super::cast::convert;
use crate::prelude::*;

attributes! {
    /// The same numbers in the dtype of a second operand, whose elements do not matter.
    ///
    /// `x: any shape, like: any shape → y: as x, of the dtype of like`
    ///
    /// As [`Cast`](super::Cast) has it.
    ///
    /// ONNX: [CastLike](https://onnx.ai/onnx/operators/onnx__CastLike.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct CastLike {
        /// How numbers that the dtype lacks become some that it has.
        pub rounding: Rounding as part,
    }
}

impl Single for CastLike {
    const ROW: Row = Row::new("CastLike");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let to = convert::draw(d)?;
        d.of(to, 0..=d.limits.max_rank)?;
        Some(CastLike { rounding: Rounding::draw(d, to) })
    }
}

impl<D: Dim> TypeRule<D> for CastLike {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let to = x.need(1)?.dtype;
        Ok(vec![x.need(0)?.with_dtype(to)])
    }
}

impl Operator for CastLike {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        convert::facts(x, operator::dtype(x, 1))
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        convert::hazards(x, operator::dtype(x, 1))
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![convert::convert(c, c.dtype(1), self.rounding)]
    }
}

#[cfg(test)]
tables! {
    the_dtype_is_that_of_the_other_operand: "
        CastLike(f32[2] {1.5, -2}, i8[3]) = i8[2] {1, -2}
        CastLike(f32[], f8e4m3fn[]) {round_mode = 'sideways'} is refused: attribute `round_mode` is sideways; it must be one of up, down, nearest
    ";
}
