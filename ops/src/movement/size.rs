//! Size: how many elements a tensor has, as its type says.

use crate::prelude::*;

attributes! {
    /// The number of elements.
    ///
    /// `x: any shape → y: [], i64`
    ///
    /// No element is read.
    ///
    /// ONNX: [Size](https://onnx.ai/onnx/operators/onnx__Size.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Size;
}

impl Single for Size {
    const ROW: Row = Row::new("Size");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.limits.dtypes.contains(DType::I64).then_some(())?;
        d.any(0..=d.limits.max_rank).map(|_| Size)
    }
}

impl<D: Dim> TypeRule<D> for Size {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        x.need(0)?;
        Ok(vec![Type::new(DType::I64, Vec::new())])
    }
}

impl Operator for Size {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Types, None)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![Data::Int(lanes::array(&[], vec![c.arith.int(c.ty(0).count().into())]))]
    }
}

#[cfg(test)]
tables! {
    a_size_of_0_makes_none: "
        Size(bool[2, 0, 4]) = i64[] {0}
        Size(bool[2, 3, 4]) = i64[] {24}
        Size(f32[]) = i64[] {1}
    ";
}
