//! Trilu: the upper or lower triangle of matrices, zero elsewhere.

use crate::prelude::*;

attributes! {
    /// The upper or the lower triangle of matrices; the other elements are 0.
    ///
    /// `x: […, M, N] → y: the same`
    ///
    /// ONNX: [Trilu](https://onnx.ai/onnx/operators/onnx__Trilu.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Trilu {
        /// Whether the upper triangle stays instead of the lower one.
        pub upper: bool = true,
        /// How many diagonals above the main one the triangle's edge lies; it belongs to the triangle.
        pub k: i64 { Clamped } = 0,
    }
}

impl Single for Trilu {
    const ROW: Row = Row::new("Trilu").with(&[spec::scalar("k")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(2..=d.limits.max_rank)?;
        let k = if d.chance(0.3) { 0 } else { d.int(-4, 4) };
        Some(Trilu { upper: d.flag(), k })
    }
}

impl EitherKind for Trilu {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let matrix = operator::rank(x, 0).saturating_sub(2);
        Facts { batch: Batch::meeting(x, &[matrix]), ..Facts::moves(Reads::Elements, Some(0)) }
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn outputs<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, x: &Numbers<A, K>) -> Vec<Numbers<A, K>> {
        let (rows, columns) = (x.ndim() - 2, x.ndim() - 1);
        let mut out = x.clone();
        for (place, item) in out.indexed_iter_mut() {
            let diagonal = place[columns] as i64 - place[rows] as i64;
            let outside = if self.upper { diagonal < self.k } else { diagonal > self.k };
            if outside {
                *item = K::zero(c.arith);
            }
        }
        vec![out]
    }
}

impl<D: Dim> TypeRule<D> for Trilu {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.ranked_from(0, 2)?.clone()])
    }
}

#[cfg(test)]
tables! {
    the_edge_belongs_to_the_triangle: "
        x = i64[2, 3] {1, 2, 3, 4, 5, 6}
        Trilu(x) {upper = 1} = i64[2, 3] {1, 2, 3, 0, 5, 6}
        Trilu(x) {upper = 0} = i64[2, 3] {1, 0, 0, 4, 5, 0}
        Trilu(x) {upper = 1, k = 1} = i64[2, 3] {0, 2, 3, 0, 0, 6}
        Trilu(x) {upper = 0, k = -1} = i64[2, 3] {0, 0, 0, 4, 0, 0}
        Trilu(x) {upper = 1, k = -9223372036854775808} = x
    ";
}
