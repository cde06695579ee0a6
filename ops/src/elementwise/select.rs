//! Where: each element from one of two operands, as a condition says.

use ir::{DType, DTypes, Dim, Type};

use crate::arith::Arith;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::elementwise::binary::zip;
use crate::list::Op;
use crate::operator::{Edge, Operator, TypeRule};
use crate::rule::{Args, Reject, Rule, broadcast_shapes, same_dtype};
use crate::spec::{Allowed, Spec, one};

/// Where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Where;

const CONDITION: Allowed = &[(13, DTypes::BOOL)];
const T: Allowed = &[(13, DTypes::IR4.without(DType::BF16)), (16, DTypes::IR4)];

/// The row of the registry.
pub static SPECS: &[Spec] = &[Spec {
    name: "Where",
    inputs: &[one("condition", CONDITION), one("X", T), one("Y", T)],
    outputs: &[T],
    fields: &[],
    draw,
    parse: |_| Ok(Where.into()),
}];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    let condition = d.any(0..=d.limits.max_rank)?;
    let allowed = d.allowed();
    let dtype = d.dtype(allowed)?;
    let x = d.broadcast_with(dtype, &condition)?;
    d.broadcast_with(dtype, if x.rank() < condition.rank() { &condition } else { &x })?;
    Some(Where.into())
}

impl<D: Dim> TypeRule<D> for Where {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (condition, a, b) = (x.need(0)?, x.need(1)?, x.need(2)?);
        let shape = broadcast_shapes(r, &[&condition.shape, &a.shape, &b.shape])?;
        Ok(vec![Type::new(same_dtype(&[a, b])?, shape)])
    }
}

/// One of two integers; not even an undecidable condition makes a difference where they are the same.
pub(crate) fn choose<A: Arith>(a: &A, condition: A::Z, x: A::Z, y: A::Z) -> A::Z {
    match a.peek(condition) {
        Some(0) => y,
        Some(_) => x,
        None => match (a.peek(x), a.peek(y)) {
            (Some(p), Some(q)) if p == q => x,
            _ => a.unknown_int(),
        },
    }
}

impl Operator for Where {
    fn spec(&self) -> &'static Spec {
        &SPECS[0]
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, shape, condition) = (c.arith, c.extents(0), c.int(0));
        vec![if let (Some(x), Some(y)) = (c.opt_real(1), c.opt_real(2)) {
            let pairs = zip(&shape, x, y, |x, y| (x, y));
            Data::Real(zip(&shape, condition, &pairs, |z, (x, y)| a.select(z, x, y)))
        } else {
            let pairs = zip(&shape, c.int(1), c.int(2), |x, y| (x, y));
            Data::Int(zip(&shape, condition, &pairs, |z, (x, y)| choose(a, z, x, y)))
        }]
    }

    fn edges(&self, _: &[Option<&Type>]) -> Vec<(usize, Edge)> {
        vec![(1, Edge::NonFinite), (2, Edge::NonFinite)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{run, tensor};

    #[test]
    fn three_operands_broadcast() {
        let condition = tensor(DType::Bool, &[2, 1], &[1., 0.]);
        let x = tensor(DType::I16, &[2], &[1., 2.]);
        let y = tensor(DType::I16, &[], &[-9.]);
        assert_eq!(run(Where, &[&condition, &x, &y]), [1., 2., -9., -9.]);
        let [x, y] = [f64::NAN, 2.5].map(|v| tensor(DType::F64, &[1], &[v]));
        assert_eq!(run(Where, &[&tensor(DType::Bool, &[1], &[0.]), &x, &y]), [2.5]);
    }
}
