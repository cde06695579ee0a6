//! PRelu: negative elements scaled by a learned slope.

use crate::prelude::*;

attributes! {
    /// slope·x where x is below 0, else x.
    ///
    /// `x: any shape, slope: broadcasts to x → y: as x`
    ///
    /// The slope broadcasts to the shape of x, not the other way round.
    ///
    /// ONNX: [PRelu](https://onnx.ai/onnx/operators/onnx__PRelu.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct PRelu;
}

impl Single for PRelu {
    const ROW: Row = Row::new("PRelu");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(0..=d.limits.max_rank)?;
        if d.chance(0.5) {
            d.broadcast_with(x.dtype, &x)?;
        } else {
            let rank = d.rank(0..=x.rank())?;
            d.fresh(x.dtype, rank);
        }
        Some(PRelu)
    }
}

impl<D: Dim> TypeRule<D> for PRelu {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (x, slope) = (x.need(0)?, x.need(1)?);
        rule::same_dtype(&[x, slope])?;
        rule::broadcast_to(r, &slope.shape, &x.shape)?;
        Ok(vec![x.clone()])
    }
}

impl Operator for PRelu {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::calculates(Cost::PerOutput(1), Batch::Together, Some(0), vec![(0, Edge::NonFinite)])
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        let int = |[x, slope]: [i128; 2]| Some(if x < 0 { x.wrapping_mul(slope) } else { x });
        c.zip(
            |x, slope| a.select(a.compare(Comparison::Less, x, a.real(0.0)), a.mul(slope, x), x),
            |x, slope| a.exact([x, slope], int),
        )
    }
}

#[cfg(test)]
tables! {
    the_slope_broadcasts_one_way: "
        x = f32[2, 2] {-1, 2, -3, -4}; slope = f32[2] {0.5, 2}
        PRelu(x, slope) = f32[2, 2] {-0.5, 2, -1.5, -8}
        PRelu(slope, x) is refused
        PRelu(f32[1, 1], f32[1, 2]) is refused
    ";
}
