//! Trilu: the upper or lower triangle of matrices, zero elsewhere.

use ir::{Attributes, BadAttribute, DTypes, Dim, Type};
use ndarray::ArrayD;

use crate::arith::Arith;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::list::Op;
use crate::operator::{Operator, TypeRule};
use crate::rule::{Args, Reject, Rule};
use crate::spec::{Allowed, Field, Place, Spec, one};

/// Trilu, on the last two axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trilu {
    /// Whether the upper triangle stays instead of the lower one.
    pub upper: bool,
    /// How many diagonals above the main one the triangle's edge lies; it belongs to the triangle.
    pub k: i64,
}

const T: Allowed = &[(14, DTypes::IR4)];

/// The row of the registry.
pub static SPECS: &[Spec] = &[Spec {
    name: "Trilu",
    inputs: &[one("input", T)],
    outputs: &[T],
    fields: &[Field { name: "k", places: &[(14, Place::Scalar(1))] }],
    draw,
    parse,
}];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    d.any(2..=d.limits.max_rank)?;
    let k = if d.chance(0.3) { 0 } else { d.int(-4, 4) };
    Some(Trilu { upper: d.chance(0.5), k }.into())
}

fn parse(a: &Attributes) -> Result<Op, BadAttribute> {
    // No matrix has a diagonal beyond the limit, so every such number means the same.
    let k = a.get_int("k", Some(0))?.clamp(-ir::dim::LIMIT, ir::dim::LIMIT);
    Ok(Trilu { upper: a.get_flag("upper", true)?, k }.into())
}

impl Trilu {
    fn triangle<T: Copy>(self, x: &ArrayD<T>, zero: T) -> ArrayD<T> {
        let (rows, columns) = (x.ndim() - 2, x.ndim() - 1);
        let mut out = x.clone();
        for (place, item) in out.indexed_iter_mut() {
            let diagonal = place[columns] as i64 - place[rows] as i64;
            let outside = if self.upper { diagonal < self.k } else { diagonal > self.k };
            if outside {
                *item = zero;
            }
        }
        out
    }
}

impl<D: Dim> TypeRule<D> for Trilu {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.ranked(0, 2..=usize::from(u8::MAX))?.clone()])
    }
}

impl Operator for Trilu {
    fn spec(&self) -> &'static Spec {
        &SPECS[0]
    }

    fn flops(&self, _: &[Option<&Type>], _: &[Type]) -> u64 {
        0
    }

    fn attributes(&self) -> Attributes {
        Attributes::new().flag("upper", self.upper).int("k", self.k)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![match c.data(0) {
            Data::Real(x) => Data::Real(self.triangle(x, c.arith.real(0.0))),
            Data::Int(x) => Data::Int(self.triangle(x, c.arith.int(0))),
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{parse, run, tensor};
    use ir::DType;

    #[test]
    fn the_edge_belongs_to_the_triangle() {
        let x = tensor(DType::I64, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
        let y = |upper, k| run(Trilu { upper, k }, &[&x]);
        assert_eq!(y(true, 0), [1., 2., 3., 0., 5., 6.]);
        assert_eq!(y(false, 0), [1., 0., 0., 4., 5., 0.]);
        assert_eq!(y(true, 1), [0., 2., 3., 0., 0., 6.]);
        assert_eq!(y(false, -1), [0., 0., 0., 4., 0., 0.]);
        let far = parse("Trilu", &Attributes::new().int("k", i64::MIN).flag("upper", true));
        assert_eq!(run(far, &[&x]), [1., 2., 3., 4., 5., 6.]);
    }
}
