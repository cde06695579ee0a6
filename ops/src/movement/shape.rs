//! Shape and Size: what a tensor's type says, as a tensor.

use ir::{Attribute, Attributes, BadAttribute, DType, DTypes, Dim, Type};

use crate::arith::Arith;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::lanes::array;
use crate::list::Op;
use crate::operator::{Operator, TypeRule};
use crate::rule::{Args, Reject, Rule};
use crate::spec::{Allowed, Field, Place, Spec, one};

/// Shape: the sizes of the axes from `start` to before `end`. Both count from the end where negative and are then
/// clamped to the axes there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The first axis.
    pub start: i64,
    /// The axis to stop before; without it, all that follow.
    pub end: Option<i64>,
}

/// Size: the number of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size;

const T: Allowed = &[(13, DTypes::IR4)];
const I64: Allowed = &[(13, DTypes::of(&[DType::I64]))];

/// The row of Shape in the registry.
pub static SHAPE: &[Spec] = &[Spec {
    name: "Shape",
    inputs: &[one("data", T)],
    outputs: &[I64],
    fields: &[
        Field { name: "start", places: &[(13, Place::Absent), (15, Place::Attribute)] },
        Field { name: "end", places: &[(13, Place::Absent), (15, Place::Attribute)] },
    ],
    draw,
    parse,
}];

/// The row of Size in the registry.
pub static SIZE: &[Spec] = &[Spec {
    name: "Size",
    inputs: &[one("data", T)],
    outputs: &[I64],
    fields: &[],
    draw: |d| {
        d.limits.dtypes.contains(DType::I64).then_some(())?;
        d.any(0..=d.limits.max_rank).map(|_| Size.into())
    },
    parse: |_| Ok(Size.into()),
}];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    d.limits.dtypes.contains(DType::I64).then_some(())?;
    let beyond = d.any(0..=d.limits.max_rank)?.rank() as i64 + 1;
    let sliced = d.limits.opset >= 15 && d.chance(0.5);
    let start = if sliced { d.int(-beyond, beyond) } else { 0 };
    let end = (sliced && d.chance(0.7)).then(|| d.int(-beyond, beyond));
    Some(Shape { start, end }.into())
}

fn parse(a: &Attributes) -> Result<Op, BadAttribute> {
    // Numbers beyond any rank mean the same as the highest possible one.
    let clamp = |v: i64| v.clamp(-ir::dim::LIMIT, ir::dim::LIMIT);
    let end = a.get("end").map(|_| a.get_int("end", None)).transpose()?;
    Ok(Shape { start: clamp(a.get_int("start", Some(0))?), end: end.map(clamp) }.into())
}

impl Shape {
    /// The axes whose sizes are told.
    pub fn axes(self, rank: usize) -> std::ops::Range<usize> {
        let rank = rank as i64;
        let index = |v: i64| (if v < 0 { v + rank } else { v }).clamp(0, rank) as usize;
        let (start, end) = (index(self.start), index(self.end.unwrap_or(rank)));
        start..end.max(start)
    }
}

impl<D: Dim> TypeRule<D> for Shape {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let axes = self.axes(x.need(0)?.rank());
        Ok(vec![Type::new(DType::I64, vec![D::from(axes.len() as i64)])])
    }
}

impl<D: Dim> TypeRule<D> for Size {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        x.need(0)?;
        Ok(vec![Type::new(DType::I64, Vec::new())])
    }
}

impl Operator for Shape {
    fn spec(&self) -> &'static Spec {
        &SHAPE[0]
    }

    fn flops(&self, _: &[Option<&Type>], _: &[Type]) -> u64 {
        0
    }

    fn attributes(&self) -> Attributes {
        let mut all = Attributes::new().int("start", self.start);
        if let Some(end) = self.end {
            all.set("end", Attribute::Int(end));
        }
        all
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let shape = c.data(0).shape();
        let sizes = shape[self.axes(shape.len())].iter().map(|&size| c.arith.int(size as i128)).collect();
        vec![Data::Int(array(&c.extents(0), sizes))]
    }
}

impl Operator for Size {
    fn spec(&self) -> &'static Spec {
        &SIZE[0]
    }

    fn flops(&self, _: &[Option<&Type>], _: &[Type]) -> u64 {
        0
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let count: usize = c.data(0).shape().iter().product();
        vec![Data::Int(array(&[], vec![c.arith.int(count as i128)]))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{parse, run, tensor};

    #[test]
    fn axes_are_clamped() {
        let x = tensor(DType::Bool, &[2, 0, 4], &[]);
        let shape = |start: Option<i64>, end: Option<i64>| {
            let mut attributes = Attributes::new();
            for (name, value) in [("start", start), ("end", end)] {
                if let Some(value) = value {
                    attributes.set(name, Attribute::Int(value));
                }
            }
            run(parse("Shape", &attributes), &[&x])
        };
        assert_eq!(shape(None, None), [2., 0., 4.]);
        assert_eq!(shape(Some(-1), None), [4.]);
        assert_eq!(shape(None, Some(-1)), [2., 0.]);
        assert_eq!(shape(Some(-9), Some(i64::MAX)), [2., 0., 4.]);
        assert_eq!(shape(Some(2), Some(1)), [] as [f64; 0]);
        assert_eq!(run(Size, &[&x]), [0.]);
    }
}
