//! Concat: several tensors one after the other along an axis.

use ir::{Attributes, BadAttribute, DTypes, Dim, Type};
use ndarray::{ArrayD, Axis};

use crate::arith::Arith;
use crate::data::{Call, Data, Movement, rearrange};
use crate::draw::Draw;
use crate::list::Op;
use crate::operator::{Operator, TypeRule};
use crate::rule::{Args, Reject, Rule, axis, same_dtype};
use crate::spec::{Spec, variadic};

/// Concat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Concat {
    /// The axis along which the operands follow each other.
    pub axis: i64,
}

/// The row of the registry.
pub static SPECS: &[Spec] = &[Spec {
    name: "Concat",
    inputs: &[variadic("inputs", &[(13, DTypes::IR4)])],
    outputs: &[&[(13, DTypes::IR4)]],
    fields: &[],
    draw,
    parse,
}];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    let first = d.any(1..=d.limits.max_rank)?;
    let spelled = d.axis(first.rank())?;
    let mut pattern: Vec<_> = first.shape.iter().map(|&size| Some(size)).collect();
    pattern[axis(spelled, first.rank()).ok()?] = None;
    for _ in 0..d.int(0, 3) {
        d.matching(first.dtype, &pattern)?;
    }
    Some(Concat { axis: spelled }.into())
}

fn parse(a: &Attributes) -> Result<Op, BadAttribute> {
    Ok(Concat { axis: a.get_int("axis", None)? }.into())
}

impl<D: Dim> TypeRule<D> for Concat {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let all = x.all()?;
        let (dtype, first) = (same_dtype(&all)?, all[0]);
        let along = axis(self.axis, first.rank())?;
        let mut shape = first.shape.clone();
        for (i, other) in all.iter().enumerate().skip(1) {
            x.ranked(i, first.rank()..=first.rank())?;
            for (a, &size) in other.shape.iter().enumerate() {
                if a == along {
                    shape[a] = shape[a] + size;
                } else {
                    r.eq(first.shape[a], size)?;
                }
            }
        }
        Ok(vec![Type::new(dtype, shape)])
    }
}

impl Movement for Concat {
    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        let axis = axis(self.axis, y[0].rank()).unwrap_or(0);
        let views: Vec<_> = x.iter().map(|x| x.view()).collect();
        let all = ndarray::concatenate(Axis(axis), &views);
        vec![all.expect("the type rule makes the other axes agree").as_standard_layout().into_owned()]
    }
}

impl Operator for Concat {
    fn spec(&self) -> &'static Spec {
        &SPECS[0]
    }

    fn flops(&self, _: &[Option<&Type>], _: &[Type]) -> u64 {
        0
    }

    fn attributes(&self) -> Attributes {
        Attributes::new().int("axis", self.axis)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        rearrange(self, c)
    }
}
