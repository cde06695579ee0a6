//! Shrink: elements moved towards zero by a bias, those within a threshold set to zero.

use ir::{Dim, Sym, Type};

use crate::arith::{Arith, Comparison};
use crate::attributes::attributes;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::family::Single;
use crate::lanes::each;
use crate::operator::{Batch, Cost, Facts, Hazard, Operator, Reads, TypeRule};
use crate::rule::{Args, Reject, Rule};
use crate::spec::Row;

attributes! {
    /// x + bias below -lambd, x - bias above lambd, else 0.
    ///
    /// `x: any shape → y: as x`
    ///
    /// On integers both attributes are first cast to the dtype, as in the standard's function body. With whole numbers,
    /// which are the only ones drawn, every reading of the standard gives the same.
    ///
    /// ONNX: [Shrink](https://onnx.ai/onnx/operators/onnx__Shrink.html).
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Shrink {
        /// How far elements move.
        pub bias: f32 = 0.0,
        /// The threshold.
        pub lambd: f32 = 0.5,
    }
}

impl Single for Shrink {
    const ROW: Row = Row::new("Shrink");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(0..=d.limits.max_rank)?;
        let shrink = if x.dtype.is_float() {
            let (bias, lambd) = (d.choose(&[0.0, 0.25, 1.5, -1.0])?, d.choose(&[0.5, 0.0, 0.1, 1.5])?);
            Shrink { bias, lambd }
        } else {
            // A bias within the threshold: an unsigned element cannot move beyond zero.
            let lambd = d.int(0, 3);
            Shrink { bias: d.int(0, lambd) as f32, lambd: lambd as f32 }
        };
        Some(shrink)
    }
}

impl Shrink {
    fn real<A: Arith>(self, a: &A, x: A::R) -> A::R {
        let (bias, lambd) = (a.real(f64::from(self.bias)), a.real(f64::from(self.lambd)));
        let above = a.select(a.compare(Comparison::Greater, x, lambd), a.sub(x, bias), a.real(0.0));
        a.select(a.compare(Comparison::Less, x, a.neg(lambd)), a.add(x, bias), above)
    }

    fn int(self, z: i128) -> i128 {
        let (bias, lambd) = (self.bias as i128, self.lambd as i128);
        if z < lambd.saturating_neg() {
            z.wrapping_add(bias)
        } else if z > lambd {
            z.wrapping_sub(bias)
        } else {
            0
        }
    }
}

impl<D: Dim> TypeRule<D> for Shrink {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.need(0)?.clone()])
    }
}

impl Operator for Shrink {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts {
            since: 13,
            reads: Reads::Elements,
            cost: Cost::PerOutput(3),
            batch: Batch::Together,
            linear: None,
            edges: Vec::new(),
        }
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        vec![match c.data(0) {
            Data::Real(x) => Data::Real(each(x, |x| self.real(a, x))),
            Data::Int(x) => Data::Int(each(x, |z| a.exact([z], |[z]| Some(self.int(z))))),
        }]
    }
}

#[cfg(test)]
mod tests {
    use ir::DType;

    use super::*;
    use crate::testing::{run, tensor};

    #[test]
    fn hard_and_soft() {
        let x = [-2., -1., 0., 1., 2.];
        let hard = Shrink { bias: 0.0, lambd: 1.5 };
        assert_eq!(run(hard, &[&tensor(DType::F32, &[5], &x)]), [-2., 0., 0., 0., 2.]);
        let soft = Shrink { bias: 1.5, lambd: 1.5 };
        assert_eq!(run(soft, &[&tensor(DType::F32, &[5], &x)]), [-0.5, 0., 0., 0., 0.5]);
        assert_eq!(
            run(Shrink { bias: 1., lambd: 1. }, &[&tensor(DType::I8, &[5], &x)]),
            [-1., 0., 0., 0., 1.]
        );
    }
}
