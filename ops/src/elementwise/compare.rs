//! Comparisons of two elements, with multidirectional broadcasting.

use crate::prelude::*;

attributes! {
    /// An element-by-element comparison; the result is `bool`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Compare(Comparison);
}

/// A row: its name, and what the operator does.
macro_rules! row {
    ($name:literal, $does:literal) => {
        Row::new($name).about(About {
            text: concat!(
                $does,
                "\n\n`a, b: shapes that broadcast → y: the common shape, bool`\n\nWith NaN it is false.\n\n",
                "ONNX: [",
                $name,
                "](https://onnx.ai/onnx/operators/onnx__",
                $name,
                ".html)."
            ),
            module: module_path!(),
        })
    };
}

impl Family for Compare {
    /// In the order of [`Comparison`].
    const ROWS: &'static [(Comparison, Row)] = &[
        (Comparison::Equal, row!("Equal", "Whether a = b.")),
        (Comparison::Less, row!("Less", "Whether a < b.")),
        (Comparison::LessOrEqual, row!("LessOrEqual", "Whether a ≤ b.")),
        (Comparison::Greater, row!("Greater", "Whether a > b.")),
        (Comparison::GreaterOrEqual, row!("GreaterOrEqual", "Whether a ≥ b.")),
    ];

    fn draw<'a>(function: Comparison, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        // A wanted `bool` is the result's; it says nothing of the operands.
        let dtypes = if d.chance(0.8) { DTypes::NUMERIC } else { DTypes::IR4 };
        let a = d.one_of(dtypes, 0..=d.limits.max_rank)?;
        d.broadcast_with(a.dtype, &a)?;
        Some(Compare(function))
    }
}

impl<D: Dim> TypeRule<D> for Compare {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![rule::broadcast(r, &[x.need(0)?, x.need(1)?])?.with_dtype(DType::Bool)])
    }
}

impl Operator for Compare {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        // A zero is met by either of both, so that some have to be there.
        let met = [(0, Edge::Meets(1)), (1, Edge::Meets(0)), (1, Edge::Zeros)];
        let edges = met.into_iter().chain([(0, Edge::NonFinite), (1, Edge::NonFinite)]).collect();
        Facts::calculates(Cost::PerOutput(1), Batch::Together, None, edges)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, shape) = (c.arith, c.extents(0));
        vec![Data::Int(if c.is_real() {
            lanes::zip(&shape, c.real(0), c.real(1), |x, y| a.compare(self.0, x, y))
        } else {
            lanes::zip(&shape, c.int(0), c.int(1), |x, y| {
                a.exact([x, y], |[p, q]| Some(self.0.holds(p, q).into()))
            })
        })]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const EVERY: [Comparison; 5] = [
        Comparison::Equal,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ];

    #[test]
    fn rows_stand_in_the_order_of_the_enum() {
        for c in EVERY {
            assert_eq!(Compare::ROWS[Compare(c).row()].1.name, format!("{c:?}"));
        }
        assert_eq!(Compare::ROWS.len(), EVERY.len());
    }

    tables! {
        nothing_holds_of_nan_and_zeros_are_equal: "
            x = f32[3] {nan, -0, 1}; y = f32[3] {nan, 0, 2}
            Equal(x, y) = bool[3] {false, true, false}
            Less(x, y) = bool[3] {false, false, true}
            LessOrEqual(x, y) = bool[3] {false, true, true}
            Greater(x, y) = bool[3] {false, false, false}
            GreaterOrEqual(x, y) = bool[3] {false, true, false}
            Equal(u64[] {1152921504606846976}, u64[] {1152921504606846977}) = bool[] {false}
        ";
    }
}
