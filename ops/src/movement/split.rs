//! Split: one tensor cut along an axis into several.

use ir::{Attributes, BadAttribute, DTypes, Dim, Type};
use ndarray::{ArrayD, Axis, Slice};

use crate::arith::Arith;
use crate::data::{Call, Data, Movement, rearrange};
use crate::draw::Draw;
use crate::list::Op;
use crate::operator::{Operator, TypeRule};
use crate::rule::{Args, Reject, Rule, axis};
use crate::spec::{Field, Place, Spec, one};

/// Split into parts of the sizes given. (ONNX's other form, into equal parts by count, is read as the sizes it
/// amounts to.)
#[derive(Clone, PartialEq, Debug)]
pub struct Split<D = i64> {
    /// The axis that is cut.
    pub axis: i64,
    /// The size of each part on that axis.
    pub split: Vec<D>,
}

/// The row of the registry.
pub static SPECS: &[Spec] = &[Spec {
    name: "Split",
    inputs: &[one("input", &[(13, DTypes::IR4)])],
    outputs: &[&[(13, DTypes::IR4)]],
    fields: &[Field { name: "split", places: &[(13, Place::List(1))] }],
    draw,
    parse,
}];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    let x = d.any(1..=d.limits.max_rank)?;
    let axis = d.axis(x.rank())?;
    let parts = d.int(1, 3);
    let split = (0..parts).map(|_| d.dim()).collect();
    Some(Split { axis, split }.into())
}

fn parse(a: &Attributes) -> Result<Op, BadAttribute> {
    Ok(Split { axis: a.get_int("axis", Some(0))?, split: a.need_ints("split")? }.into())
}

impl<D: Dim> Split<D> {
    /// This operator with its sizes in another number system.
    pub fn map<E: Dim>(&self, f: &mut dyn FnMut(D) -> E) -> Split<E> {
        Split { axis: self.axis, split: self.split.iter().map(|&d| f(d)).collect() }
    }
}

impl<D: Dim> TypeRule<D> for Split<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        let axis = axis(self.axis, x.rank())?;
        let mut total = D::from(0);
        let mut parts = Vec::with_capacity(self.split.len());
        for &size in &self.split {
            r.le(D::from(0), size)?;
            total = total + size;
            let mut part = x.clone();
            part.shape[axis] = size;
            parts.push(part);
        }
        r.eq(total, x.shape[axis])?;
        Ok(parts)
    }
}

impl Movement for Split {
    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        let axis = axis(self.axis, x[0].ndim()).unwrap_or(0);
        let mut start = 0;
        let mut part = |ty: &Type| {
            let end = start + ty.shape[axis] as isize;
            let part = x[0].slice_axis(Axis(axis), Slice::new(start, Some(end), 1)).to_owned();
            start = end;
            part
        };
        y.iter().map(&mut part).collect()
    }
}

impl Operator for Split {
    fn spec(&self) -> &'static Spec {
        &SPECS[0]
    }

    fn flops(&self, _: &[Option<&Type>], _: &[Type]) -> u64 {
        0
    }

    fn attributes(&self) -> Attributes {
        Attributes::new().int("axis", self.axis).ints("split", &self.split)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        rearrange(self, c)
    }
}
