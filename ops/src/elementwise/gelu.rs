//! Gelu: x weighted by the normal distribution's cumulative function, exact or through tanh.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

use ir::{DType, Dim, Sym, Type};

use crate::arith::{Arith, Fun};
use crate::attributes::attributes;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::family::Single;
use crate::lanes::each;
use crate::operator::{Batch, Cost, Edge, Facts, Hazard, Operator, Reads, TypeRule, rank};
use crate::rule::{Args, Reject, Rule};
use crate::spec::Row;

attributes! {
    /// x·Φ(x), where Φ is the distribution function of the normal distribution, or an approximation by tanh.
    ///
    /// `x: any shape, floats → y: as x`
    ///
    /// x/2·(1 + erf(x/√2)), or x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
    ///
    /// ONNX: [Gelu](https://onnx.ai/onnx/operators/onnx__Gelu.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Gelu {
        /// Whether `approximate` is `tanh` instead of `none`.
        pub tanh: bool as "approximate" { "none" => false, "tanh" => true } = false,
    }
}

impl Single for Gelu {
    const ROW: Row = Row::new("Gelu");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(0..=d.limits.max_rank)?;
        Some(Gelu { tanh: d.flag() })
    }
}

impl Gelu {
    fn real<A: Arith>(self, a: &A, x: A::R, dtype: DType) -> A::R {
        let inner = if self.tanh {
            // √(2/π)·(x + 0.044715·x³)
            let cube = a.mul(x, a.mul(x, x));
            let curve = |two_by_pi: f64, third: f64| {
                a.mul(a.real(two_by_pi.sqrt()), a.add(x, a.mul(a.real(third), cube)))
            };
            let by_formula = curve(FRAC_2_PI, 0.044_715);
            // In the function body both constants are f32, whatever x is.
            let by_body = || curve(f64::from(FRAC_2_PI as f32), f64::from(0.044_715_f32));
            let shows = dtype == DType::F64;
            a.call(Fun::Tanh, if shows { a.either(by_formula, by_body) } else { by_formula })
        } else {
            a.call(Fun::Erf, a.mul(x, a.real(FRAC_1_SQRT_2)))
        };
        a.mul(a.mul(a.real(0.5), x), a.add(a.real(1.0), inner))
    }
}

impl<D: Dim> TypeRule<D> for Gelu {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.need(0)?.clone()])
    }
}

impl Operator for Gelu {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts {
            since: 13,
            reads: Reads::Elements,
            cost: Cost::PerOutput(if self.tanh { 9 } else { 5 }),
            batch: Batch::apart_if(rank(x, 0) >= 1),
            linear: None,
            edges: vec![(0, Edge::Saturation)],
        }
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![Data::Real(each(c.real(0), |x| self.real(c.arith, x, c.dtype(0))))]
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;
    use crate::testing::{run, tensor};

    #[test]
    fn both_forms_give_the_published_values() {
        let x = tensor(DType::F64, &[3], &[-1., 0., 1.]);
        for (tanh, wanted) in [(false, 0.841_344_746_068_543), (true, 0.841_191_990_608_277)] {
            let y = run(Gelu { tanh }, &[&x]);
            assert_abs_diff_eq!(y[..], [wanted - 1.0, 0.0, wanted][..], epsilon = 1e-14);
            assert_eq!(y[1], 0.0);
        }
    }
}
