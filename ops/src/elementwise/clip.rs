//! Clip: elements kept between a lower and an upper bound, either of which may be absent.

use ir::format::FloatFormat;

use crate::prelude::*;

attributes! {
    /// The elements kept between a lower and an upper bound: min(max(x, low), high).
    ///
    /// `x: any shape, low: [], high: [] → y: as x`
    ///
    /// Either bound may be absent. An absent one does not bind, not even infinities: that is what the standard's
    /// function body says, where its prose names the largest finite number. Where the bounds cross, the upper one wins.
    ///
    /// ONNX: [Clip](https://onnx.ai/onnx/operators/onnx__Clip.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Clip;
}

impl Single for Clip {
    const ROW: Row = Row::new("Clip").but(&[Deviation::DTypes {
        of: "T",
        without: DTypes::of(&[DType::BF16]),
        opsets: 13..=15,
        why: "the function body is ill-typed there: it uses Where, which learns bf16 only in 16",
    }]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(0..=d.limits.max_rank)?;
        let (min, max) = (d.chance(0.75), d.chance(0.75));
        if min {
            d.of(x.dtype, 0..=0)?;
        } else if max {
            d.absent();
        }
        if max {
            d.of(x.dtype, 0..=0)?;
        }
        Some(Clip)
    }
}

impl<D: Dim> TypeRule<D> for Clip {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let input = x.need(0)?;
        for bound in 1..=2 {
            if x.opt(bound).is_some() {
                rule::same_dtype(&[input, x.ranked(bound, 0..=0)?])?;
            }
        }
        Ok(vec![input.clone()])
    }
}

impl Operator for Clip {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let bounds = (1..3).filter(|&bound| x.get(bound).is_some_and(Option::is_some));
        let edges = bounds.map(|bound| (0, Edge::Meets(bound))).chain([(0, Edge::NonFinite)]).collect();
        Facts::calculates(Cost::PerOutput(2), Batch::meeting(x, &[]), None, edges)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        // The upper bound last: where the bounds cross, every element becomes the upper one.
        vec![match c.data(0) {
            Data::Real(x) => {
                let [low, high] = [1, 2].map(|i| c.opt_real(i).and_then(|b| b.first().copied()));
                // Without a bound there is none, or the dtype's largest number is: ONNX's text says the latter, and it
                // differs on infinities alone.
                let most =
                    c.types[0].and_then(|t| t.dtype.float()).map_or(f64::INFINITY, FloatFormat::max_finite);
                Data::Real(lanes::each(x, |x| {
                    let x = match low {
                        Some(low) => a.max(x, low),
                        None => a.either(x, || a.max(x, a.real(-most))),
                    };
                    match high {
                        Some(high) => a.min(x, high),
                        None => a.either(x, || a.min(x, a.real(most))),
                    }
                }))
            }
            Data::Int(x) => {
                let [low, high] = [1, 2].map(|i| c.opt_int(i).and_then(|b| b.first().copied()));
                Data::Int(lanes::each(x, |x| {
                    let x = low.map_or(x, |low| a.exact([x, low], |[x, low]| Some(x.max(low))));
                    high.map_or(x, |high| a.exact([x, high], |[x, high]| Some(x.min(high))))
                }))
            }
        }]
    }
}

#[cfg(test)]
tables! {
    bounds_may_be_absent_or_cross: "
        x = f32[3] {-2, inf, 0.5}; low = f32[] {-1}; high = f32[] {1}
        Clip(x, low, high) = f32[3] {-1, 1, 0.5}
        Clip(x, high, low) = f32[3] {-1, -1, -1}
        Clip(x, low) = f32[3] {-1, inf, 0.5}
        Clip(x, _, high) = f32[3] {-2, 1, 0.5}
        Clip(x, f32[1] {0}) is refused: operand 1 has rank 1, but must have rank 0
    ";
}
