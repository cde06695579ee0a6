//! `Det`: determinants.

use crate::prelude::*;

attributes! {
    /// The determinant of each square matrix.
    ///
    /// `x: […, M, M] → y: […]`
    ///
    /// That of a matrix without rows is 1, the empty product. What an infinity or a NaN among the elements gives depends on
    /// how the determinant is calculated.
    ///
    /// ONNX: [Det](https://onnx.ai/onnx/operators/onnx__Det.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Det;
}

impl Single for Det {
    const ROW: Row = Row::new("Det");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(2..=d.limits.max_rank)?;
        Some(Det)
    }
}

impl<D: Dim> TypeRule<D> for Det {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.ranked_from(0, 2)?;
        let outer = x.rank() - 2;
        r.eq(x.shape[outer], x.shape[outer + 1])?;
        Ok(vec![Type::new(x.dtype, x.shape[..outer].to_vec())])
    }
}

/// Of elimination on M rows: M²/2 divisions and 2·M³/3 operations, then the product of the diagonal.
fn cost(rows: u64) -> u64 {
    let square = rows.saturating_mul(rows);
    (square.saturating_mul(rows) * 2 / 3).saturating_add(square / 2).saturating_add(rows)
}

impl Operator for Det {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let rows = x[0].and_then(|x| x.shape.last()).map_or(0, |&m| m.max(0) as u64);
        Facts::calculates(
            Cost::PerOutput(cost(rows)),
            Batch::apart_if(operator::rank(x, 0) >= 3),
            None,
            Vec::new(),
        )
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let x = c.real(0);
        let axes = [x.ndim() - 2, x.ndim() - 1];
        let rows = x.shape()[axes[0]];
        let of = |matrix: &[A::R]| c.arith.determinant(matrix, rows);
        vec![Data::Real(lanes::reduce(x, &axes, &c.extents(0), of))]
    }
}

#[cfg(test)]
tables! {
    every_matrix_of_a_stack_has_its_own: "
        Det(f64[3, 2, 2] {1, 2, 3, 4, 0, 2, 3, 0, 1, 2, 2, 4}) = f64[3] {-2, -6, 0}
    ";
    a_matrix_needs_a_pivot_and_may_have_no_rows: "
        Det(f64[3, 3] {0, 2, 0, 0, 0, 3, 4, 0, 0}) = f64[] {24}
        Det(f32[0, 0]) = f32[] {1}
        Det(f32[1, 2]) is refused
    ";
}
