//! Reshape: the same elements in row-major order under another shape.

use ir::{Attributes, BadAttribute, DTypes, Dim, Type};
use ndarray::ArrayD;

use crate::arith::Arith;
use crate::data::{Call, Data, Movement, rearrange};
use crate::draw::Draw;
use crate::list::Op;
use crate::operator::{Operator, TypeRule};
use crate::rule::{Args, Reject, Rule};
use crate::spec::{Field, Place, Spec, one};

/// Reshape. In `shape`, -1 (at most once) stands for what is left over and 0 for the operand's size on that
/// axis, unless `allowzero` is set: then 0 is 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Reshape<D = i64> {
    /// The new shape.
    pub shape: Vec<D>,
    /// Whether 0 in `shape` means an empty axis.
    pub allowzero: bool,
}

/// The row of the registry.
pub static SPECS: &[Spec] = &[Spec {
    name: "Reshape",
    inputs: &[one("data", &[(13, DTypes::IR4)])],
    outputs: &[&[(13, DTypes::IR4)]],
    fields: &[
        Field { name: "shape", places: &[(13, Place::List(1))] },
        Field { name: "allowzero", places: &[(13, Place::Absent), (14, Place::Attribute)] },
    ],
    draw,
    parse,
}];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    d.any(0..=d.limits.max_rank)?;
    let rank = d.rank(0..=d.limits.max_rank)?;
    let high = d.limits.max_dim.saturating_mul(d.limits.max_dim);
    // Sizes from 1 up: a 0 would mean "as in the operand".
    let shape = (0..rank).map(|_| d.unknown(1, high)).collect();
    Some(Reshape { shape, allowzero: false }.into())
}

fn parse(a: &Attributes) -> Result<Op, BadAttribute> {
    Ok(Reshape { shape: a.need_ints("shape")?, allowzero: a.get_flag("allowzero", false)? }.into())
}

impl<D: Dim> Reshape<D> {
    /// This operator with its sizes in another number system.
    pub fn map<E: Dim>(&self, f: &mut dyn FnMut(D) -> E) -> Reshape<E> {
        Reshape { shape: self.shape.iter().map(|&d| f(d)).collect(), allowzero: self.allowzero }
    }
}

impl<D: Dim> TypeRule<D> for Reshape<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        let mut shape = self.shape.clone();
        let mut rest = None;
        for (i, d) in shape.iter_mut().enumerate() {
            match d.known() {
                Some(0) if !self.allowzero => {
                    *d = *x.shape.get(i).ok_or(Reject::Length {
                        name: "shape",
                        found: i + 1,
                        wanted: x.rank(),
                    })?;
                }
                Some(-1) if rest.is_none() => {
                    rest = Some(i);
                    *d = D::from(1);
                }
                _ => r.le(D::from(0), *d)?,
            }
        }
        if let Some(i) = rest {
            let others = D::product(&shape);
            r.le(D::from(1), others)?;
            shape[i] = x.count() / others;
        }
        r.eq(x.count(), D::product(&shape))?;
        Ok(vec![Type::new(x.dtype, shape)])
    }
}

impl Movement for Reshape {
    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        vec![crate::lanes::array(&y[0].extents(), x[0].iter().cloned().collect())]
    }
}

impl Operator for Reshape {
    fn spec(&self) -> &'static Spec {
        &SPECS[0]
    }

    fn flops(&self, _: &[Option<&Type>], _: &[Type]) -> u64 {
        0
    }

    fn attributes(&self) -> Attributes {
        Attributes::new().ints("shape", &self.shape).flag("allowzero", self.allowzero)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        rearrange(self, c)
    }
}
