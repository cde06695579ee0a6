//! `GatherElements`: for each index, the element at its own position but for one axis.

use ir::{Attributes, BadAttribute, DTypes, Dim, Type};
use ndarray::ArrayD;

use crate::arith::Arith;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::lanes;
use crate::list::Op;
use crate::movement::gather::{INDICES, Pointed, in_range, point};
use crate::operator::{Hazard, Operator, TypeRule};
use crate::rule::{Args, Reject, Rule, axis};
use crate::spec::{Spec, one};

/// `GatherElements`. Negative indices count from the axis' end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GatherElements {
    /// The axis that the indices point into.
    pub axis: i64,
}

/// The row of the registry.
pub static SPECS: &[Spec] = &[Spec {
    name: "GatherElements",
    inputs: &[one("data", &[(13, DTypes::IR4)]), one("indices", INDICES)],
    outputs: &[&[(13, DTypes::IR4)]],
    fields: &[],
    draw,
    parse,
}];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    let rank = d.any(1..=d.limits.max_rank)?.rank();
    let allowed = d.allowed();
    let dtype = d.dtype(allowed)?;
    d.pinned(dtype, rank);
    Some(GatherElements { axis: d.axis(rank)? }.into())
}

fn parse(a: &Attributes) -> Result<Op, BadAttribute> {
    Ok(GatherElements { axis: a.get_int("axis", Some(0))? }.into())
}

impl<D: Dim> TypeRule<D> for GatherElements {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let data = x.need(0)?;
        let along = axis(self.axis, data.rank())?;
        let indices = x.ranked(1, data.rank()..=data.rank())?;
        for (a, (&index, &size)) in indices.shape.iter().zip(&data.shape).enumerate() {
            if a != along {
                r.le(index, size)?;
            }
        }
        // No index points into an empty axis.
        r.le(indices.count(), data.shape[along] * D::from(ir::dim::LIMIT))?;
        Ok(vec![indices.with_dtype(data.dtype)])
    }
}

impl GatherElements {
    fn gather<A: Arith, T: Copy>(
        self,
        c: &Call<'_, A>,
        x: &ArrayD<T>,
        unknown: T,
        undefined: T,
    ) -> ArrayD<T> {
        let axis = axis(self.axis, x.ndim()).unwrap_or(0);
        lanes::build(&c.extents(0), |at| match point(c.arith, c.int(1)[at], x.shape()[axis]) {
            Pointed::At(i) => {
                let mut source = at.to_vec();
                source[axis] = i;
                x[source.as_slice()]
            }
            Pointed::Unknown => unknown,
            Pointed::Undefined => undefined,
        })
    }
}

impl Operator for GatherElements {
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
        let a = c.arith;
        vec![match c.data(0) {
            Data::Real(x) => Data::Real(self.gather(c, x, a.unknown_real(), a.undefined_real())),
            Data::Int(x) => Data::Int(self.gather(c, x, a.unknown_int(), a.undefined_int())),
        }]
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let size = x[0].and_then(|t| Some(t.shape[axis(self.axis, t.rank()).ok()?]));
        size.map(|size| in_range(1, size)).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use ir::DType;

    use super::*;
    use crate::testing::{outputs, parse, run, tensor};

    #[test]
    fn the_examples_of_the_specification() {
        let x = tensor(DType::F32, &[3, 3], &[1., 2., 3., 4., 5., 6., 7., 8., 9.]);
        let indices = tensor(DType::I32, &[2, 3], &[1., -1., 0., 2., 0., 0.]);
        let gather = |axis| parse("GatherElements", &Attributes::new().int("axis", axis));
        assert_eq!(run(gather(0), &[&x, &indices]), [4., 8., 3., 7., 2., 3.]);
        assert_eq!(run(gather(-1), &[&x, &indices]), [2., 3., 1., 6., 4., 4.]);
        let wide = tensor(DType::I32, &[1, 4], &[0.; 4]);
        assert!(outputs(gather(0), &[&x, &wide]).is_err());
        assert_eq!(run(gather(1), &[&x, &wide]), [1.; 4]);
    }
}
