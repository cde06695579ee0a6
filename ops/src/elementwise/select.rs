//! Where: each element from one of two operands, as a condition says.

use crate::prelude::*;

attributes! {
    /// Elements of a where the condition is true, else those of b.
    ///
    /// `condition, a, b: shapes that broadcast → y: the common shape`
    ///
    /// The element that is not chosen does not matter, be it NaN.
    ///
    /// ONNX: [Where](https://onnx.ai/onnx/operators/onnx__Where.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Where;
}

impl Single for Where {
    const ROW: Row = Row::new("Where");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let condition = d.any(0..=d.limits.max_rank)?;
        let dtype = d.dtype(d.allowed())?;
        let x = d.broadcast_with(dtype, &condition)?;
        d.broadcast_with(dtype, if x.rank() < condition.rank() { &condition } else { &x })?;
        Some(Where)
    }
}

impl<D: Dim> TypeRule<D> for Where {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (condition, a, b) = (x.need(0)?, x.need(1)?, x.need(2)?);
        let shape = rule::broadcast_shapes(r, &[&condition.shape, &a.shape, &b.shape])?;
        Ok(vec![Type::new(rule::same_dtype(&[a, b])?, shape)])
    }
}

impl EitherKind for Where {
    const OF: usize = 1;

    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        let edges = vec![(1, Edge::NonFinite), (2, Edge::NonFinite)];
        Facts::calculates(Cost::PerOutput(1), Batch::Together, None, edges)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn outputs<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, x: &Numbers<A, K>) -> Vec<Numbers<A, K>> {
        let (shape, y) = (c.extents(0), K::operand(c, 2).expect("the type rule requires one dtype of both"));
        let pairs = lanes::zip(&shape, x, y, |x, y| (x, y));
        vec![lanes::zip(&shape, c.int(0), &pairs, |condition, (x, y)| K::choose(c.arith, condition, x, y))]
    }
}

#[cfg(test)]
tables! {
    three_operands_broadcast: "
        Where(bool[2, 1] {true, false}, i16[2] {1, 2}, i16[] {-9}) = i16[2, 2] {1, 2, -9, -9}
        Where(bool[1] {false}, f64[1] {nan}, f64[1] {2.5}) = f64[1] {2.5}
    ";
}
