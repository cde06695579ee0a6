//! Softmax along one axis: eˣ over the sum of eˣ.

use ir::{Attributes, BadAttribute, DTypes, Dim, Type};

use crate::arith::{Arith, Fun};
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::lanes;
use crate::list::Op;
use crate::operator::{Cost, Operator, TypeRule, bytes_moved, elements};
use crate::rule::{Args, Reject, Rule, axis};
use crate::spec::{Allowed, Spec, one};

/// Softmax.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Softmax {
    /// The axis along which the outputs sum to 1.
    pub axis: i64,
}

const T: Allowed = &[(13, DTypes::FLOATS)];

/// The row of the registry.
pub static SPECS: &[Spec] =
    &[Spec { name: "Softmax", inputs: &[one("input", T)], outputs: &[T], fields: &[], draw, parse }];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    let x = d.any(1..=d.limits.max_rank)?;
    Some(Softmax { axis: d.axis(x.rank())? }.into())
}

fn parse(a: &Attributes) -> Result<Op, BadAttribute> {
    Ok(Softmax { axis: a.get_int("axis", Some(-1))? }.into())
}

impl<D: Dim> TypeRule<D> for Softmax {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        axis(self.axis, x.rank())?;
        Ok(vec![x.clone()])
    }
}

impl Operator for Softmax {
    fn spec(&self) -> &'static Spec {
        &SPECS[0]
    }

    fn attributes(&self) -> Attributes {
        Attributes::new().int("axis", self.axis)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, x) = (c.arith, c.real(0));
        let axis = axis(self.axis, x.ndim()).unwrap_or(0);
        vec![Data::Real(lanes::map(x, &[axis], |lane| {
            // Subtracting the largest element changes nothing but keeps e^x finite.
            let Some(top) = lane.iter().copied().reduce(|x, y| a.max(x, y)) else { return Vec::new() };
            let powers: Vec<A::R> = lane.iter().map(|&x| a.call(Fun::Exp, a.sub(x, top))).collect();
            let sum = a.sum(powers.iter().copied());
            powers.into_iter().map(|p| a.div(p, sum)).collect()
        }))]
    }

    fn cost(&self, x: &[Option<&Type>], y: &[Type]) -> Cost {
        Cost { flops: elements(&y[0]).saturating_mul(5), bytes: bytes_moved(x, y) }
    }
}
