//! Expand: an operand broadcast with a shape.

use ir::{Attributes, BadAttribute, Dim, Sym, Type};
use ndarray::ArrayD;

use crate::arith::Arith;
use crate::data::{Call, Data, Movement, rearrange};
use crate::draw::Draw;
use crate::family::Single;
use crate::operator::{Operator, TypeRule};
use crate::rule::{Args, Reject, Rule, broadcast_shapes};
use crate::spec::{Row, list};

/// Expand. The broadcasting is multidirectional: where `shape` says 1 or is shorter, the operand's size holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Expand<D = i64> {
    /// The shape to broadcast with.
    pub shape: Vec<D>,
}

impl Single for Expand {
    type Over<D: Dim> = Expand<D>;
    const ROW: Row = Row::new("Expand").with(&[list("shape")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(0..=d.limits.max_rank)?;
        let rank = d.rank(0..=d.limits.max_rank)?;
        Some(Expand { shape: (0..rank).map(|_| d.dim()).collect() })
    }

    fn parse(a: &Attributes) -> Result<Self, BadAttribute> {
        Ok(Expand { shape: a.need_ints("shape")? })
    }
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
