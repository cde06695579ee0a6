//! `EyeLike`: ones on a diagonal, of a matrix' shape.

use crate::prelude::*;

attributes! {
    /// Ones on a diagonal, and zeros, of the shape of an operand whose elements do not matter.
    ///
    /// `x: [M, N] → y: the same, of dtype`
    ///
    /// Without `dtype`, y has that of x.
    ///
    /// ONNX: [EyeLike](https://onnx.ai/onnx/operators/onnx__EyeLike.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct EyeLike {
        /// Which diagonal: above the main one where positive, below where negative.
        pub k: i64 { Clamped } = 0,
        /// The dtype of the output; without it, the operand's.
        pub dtype: Option<DType>,
    }
}

impl Single for EyeLike {
    const ROW: Row = Row::new("EyeLike");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(2..=2)?;
        let allowed = d.results(0);
        let dtype = if d.chance(0.6) { Some(d.dtype(allowed)?) } else { None };
        Some(EyeLike { dtype, k: if d.chance(0.5) { d.int(-3, 3) } else { 0 } })
    }
}

impl<D: Dim> TypeRule<D> for EyeLike {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.ranked(0, 2..=2)?;
        Ok(vec![x.with_dtype(self.dtype.unwrap_or(x.dtype))])
    }
}

impl Operator for EyeLike {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Types, None)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let on = |at: &[usize]| at[0] as i64 + self.k == at[1] as i64;
        let shape = c.extents(0);
        vec![if c.outputs[0].dtype.is_float() {
            Data::Real(lanes::build(&shape, |at| c.arith.real(f64::from(u8::from(on(at))))))
        } else {
            Data::Int(lanes::build(&shape, |at| c.arith.int(on(at).into())))
        }]
    }
}

#[cfg(test)]
tables! {
    the_diagonal_and_the_dtype_are_chosen: "
        x = f32[2, 3] {9, 9, 9, 9, 9, 9}
        EyeLike(x) = f32[2, 3] {1, 0, 0, 0, 1, 0}
        EyeLike(x) {k = 1, dtype = bool} = bool[2, 3] {false, true, false, false, false, true}
        EyeLike(x) {k = -1} = f32[2, 3] {0, 0, 0, 1, 0, 0}
    ";
}
