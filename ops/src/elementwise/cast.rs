//! Cast: the same numbers in another dtype, which is an attribute.

pub(super) mod convert;
pub(crate) mod narrow;
pub(super) mod rounding;

use self::rounding::Rounding;
use crate::prelude::*;

attributes! {
    /// The same numbers in another dtype, which is an attribute.
    ///
    /// `x: any shape → y: the same, of dtype to`
    ///
    /// Floats are rounded to the nearest, ties to even. A float that becomes an integer loses its fraction, and must
    /// then fit: else it is undefined. To one of [4](https://onnx.ai/onnx/technical/int4.html) and
    /// [2](https://onnx.ai/onnx/technical/int2.html) bits it may be rounded to the nearest as well, ties to even: those pages
    /// have that, and ONNX's reference evaluator drops the fraction. Integers that do not fit lose their high bits. All
    /// but 0 is true, NaN too. For floats of 8 bits and less, [tables](https://onnx.ai/onnx/technical/float8.html) say
    /// what becomes of what does not fit.
    ///
    /// Where `saturate` and `round_mode` do not concern the dtype, whatever they say is accepted and nothing is
    /// written; so they are written only in opsets that have them.
    ///
    /// ONNX: [Cast](https://onnx.ai/onnx/operators/onnx__Cast.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Cast {
        /// The dtype of the result.
        pub to: DType,
        /// How numbers that it lacks become some that it has; the default where that is not for attributes to say.
        pub rounding: Rounding as part,
    }
    check Self::as_far_as_it_concerns;
}

impl Cast {
    /// A cast to a dtype, as it is without further attributes.
    pub const fn to(to: DType) -> Self {
        Self { to, rounding: Rounding::DEFAULT }
    }

    #[allow(clippy::unnecessary_wraps, reason = "other checks fail")]
    fn as_far_as_it_concerns(self, _: &Attributes) -> Result<Self, BadAttribute> {
        Ok(Self { rounding: self.rounding.of(self.to), ..self })
    }
}

impl Single for Cast {
    const ROW: Row = Row::new("Cast");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let to = convert::draw(d)?;
        Some(Cast { to, rounding: Rounding::draw(d, to) })
    }
}

impl<D: Dim> TypeRule<D> for Cast {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.need(0)?.with_dtype(self.to)])
    }
}

impl Operator for Cast {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        convert::facts(x, Some(self.to))
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        convert::hazards(x, Some(self.to))
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![convert::convert(c, self.to, self.rounding)]
    }
}

#[cfg(test)]
tables! {
    floats_truncate_integers_wrap_and_truth_is_not_zero: "
        x = f32[4] {-1.9, 0.4, nan, -0}; z = i32[2] {256, -1}
        Cast(x) {to = bool} = bool[4] {true, true, true, false}
        Cast(f32[2] {-1.9, 0.4}) {to = i8} = i8[2] {-1, 0}
        Cast(z) {to = u8} = u8[2] {0, 255}
        Cast(z) {to = bool} = bool[2] {true, true}
        Cast(i32[] {257}) {to = bf16} = bf16[] {256}
    ";
}
