//! Expand: an operand broadcast with a shape.

use ir::{Attributes, BadAttribute, DTypes, Dim, Type};
use ndarray::ArrayD;

use crate::arith::Arith;
use crate::data::{Call, Data, Movement, rearrange};
use crate::draw::Draw;
use crate::list::Op;
use crate::operator::{Operator, TypeRule};
use crate::rule::{Args, Reject, Rule, broadcast_shapes};
use crate::spec::{Field, Place, Spec, one};

/// Expand. The broadcasting is multidirectional: where `shape` says 1 or is shorter, the operand's size holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Expand<D = i64> {
    /// The shape to broadcast with.
    pub shape: Vec<D>,
}

/// The row of the registry.
pub static SPECS: &[Spec] = &[Spec {
    name: "Expand",
    inputs: &[one("input", &[(13, DTypes::IR4)])],
    outputs: &[&[(13, DTypes::IR4)]],
    fields: &[Field { name: "shape", places: &[(13, Place::List(1))] }],
    draw,
    parse,
}];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    d.any(0..=d.limits.max_rank)?;
    let rank = d.rank(0..=d.limits.max_rank)?;
    Some(Expand { shape: (0..rank).map(|_| d.dim()).collect() }.into())
}

fn parse(a: &Attributes) -> Result<Op, BadAttribute> {
    Ok(Expand { shape: a.need_ints("shape")? }.into())
}

impl<D: Dim> Expand<D> {
    /// This operator with its sizes in another number system.
    pub fn map<E: Dim>(&self, f: &mut dyn FnMut(D) -> E) -> Expand<E> {
        Expand { shape: self.shape.iter().map(|&d| f(d)).collect() }
    }
}

impl<D: Dim> TypeRule<D> for Expand<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        self.shape.iter().try_for_each(|&d| r.le(D::from(0), d))?;
        Ok(vec![Type::new(x.dtype, broadcast_shapes(r, &[&x.shape, &self.shape])?)])
    }
}

impl Movement for Expand {
    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        let expanded = x[0].broadcast(y[0].extents());
        vec![expanded.expect("the type rule makes the operand broadcast").to_owned()]
    }
}

impl Operator for Expand {
    fn spec(&self) -> &'static Spec {
        &SPECS[0]
    }

    fn flops(&self, _: &[Option<&Type>], _: &[Type]) -> u64 {
        0
    }

    fn attributes(&self) -> Attributes {
        Attributes::new().ints("shape", &self.shape)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        rearrange(self, c)
    }
}
