//! `EyeLike`: ones on a diagonal, of a matrix' shape.

use ir::{Attribute, Attributes, BadAttribute, DType, DTypes, Dim, Type};

use crate::arith::Arith;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::lanes;
use crate::list::Op;
use crate::operator::{Operator, TypeRule};
use crate::rule::{Args, Reject, Rule};
use crate::spec::{Allowed, Spec, at, one};

/// `EyeLike`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EyeLike {
    /// The dtype of the output; without it, the operand's.
    pub dtype: Option<DType>,
    /// Which diagonal: above the main one where positive, below where negative.
    pub k: i64,
}

const T: Allowed = &[(13, DTypes::IR4.without(DType::BF16)), (22, DTypes::IR4)];

/// The row of the registry.
pub static SPECS: &[Spec] =
    &[Spec { name: "EyeLike", inputs: &[one("input", T)], outputs: &[T], fields: &[], draw, parse }];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    d.any(2..=2)?;
    let allowed = at(T, d.limits.opset).unwrap_or(DTypes::NONE);
    let dtype = if d.chance(0.6) { Some(d.dtype(allowed)?) } else { None };
    Some(EyeLike { dtype, k: if d.chance(0.5) { d.int(-3, 3) } else { 0 } }.into())
}

fn parse(a: &Attributes) -> Result<Op, BadAttribute> {
    Ok(EyeLike { dtype: a.get_dtype("dtype")?, k: a.get_int("k", Some(0))? }.into())
}

impl<D: Dim> TypeRule<D> for EyeLike {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.ranked(0, 2..=2)?;
        Ok(vec![x.with_dtype(self.dtype.unwrap_or(x.dtype))])
    }
}

impl Operator for EyeLike {
    fn spec(&self) -> &'static Spec {
        &SPECS[0]
    }

    fn flops(&self, _: &[Option<&Type>], _: &[Type]) -> u64 {
        0
    }

    fn attributes(&self) -> Attributes {
        let mut all = Attributes::new().int("k", self.k);
        if let Some(dtype) = self.dtype {
            all.set("dtype", Attribute::DType(dtype));
        }
        all
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let on = |at: &[usize]| at[0] as i64 + self.k == at[1] as i64;
        let shape = c.extents(0);
        vec![if c.outputs[0].dtype.is_float() {
            Data::Real(lanes::build(&shape, |at| c.arith.real(f64::from(u8::from(on(at))))))
        } else {
            Data::Int(lanes::build(&shape, |at| c.arith.int(on(at).into())))
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outputs, parse, tensor, values};

    #[test]
    fn the_diagonal_and_the_dtype_are_chosen() {
        let x = tensor(DType::F32, &[2, 3], &[9.; 6]);
        let eye = |attributes: &Attributes| {
            let y = outputs(parse("EyeLike", attributes), &[&x]).unwrap().remove(0);
            (y.dtype(), values(&y))
        };
        assert_eq!(eye(&Attributes::new()), (DType::F32, vec![1., 0., 0., 0., 1., 0.]));
        let above = Attributes::new().int("k", 1).dtype("dtype", DType::Bool);
        assert_eq!(eye(&above), (DType::Bool, vec![0., 1., 0., 0., 0., 1.]));
        assert_eq!(eye(&Attributes::new().int("k", -1)).1, [0., 0., 0., 1., 0., 0.]);
    }
}
