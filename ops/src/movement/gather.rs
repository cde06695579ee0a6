//! Gather: slices of one operand along an axis, chosen by the other.

use ir::{Attributes, BadAttribute, DType, DTypes, Dim, Type};
use ndarray::ArrayD;

use crate::arith::Arith;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::lanes;
use crate::list::Op;
use crate::operator::{Hazard, Operator, TypeRule};
use crate::rule::{Args, Reject, Rule, axis};
use crate::spec::{Allowed, Spec, one};

/// Gather. Negative indices count from the axis' end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gather {
    /// The axis that the indices point into.
    pub axis: i64,
}

/// The dtypes of indices.
pub(super) const INDICES: Allowed = &[(13, DTypes::of(&[DType::I32, DType::I64]))];

/// The row of the registry.
pub static SPECS: &[Spec] = &[Spec {
    name: "Gather",
    inputs: &[one("data", &[(13, DTypes::IR4)]), one("indices", INDICES)],
    outputs: &[&[(13, DTypes::IR4)]],
    fields: &[],
    draw,
    parse,
}];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    let most = d.limits.max_rank;
    let rank = d.rank(0..=most)?;
    // The output has the axes of both operands but one.
    let data_rank = d.int(1, most.min(rank + 1).max(1) as i64) as usize;
    let data = d.any(data_rank..=data_rank)?;
    let axis = d.axis(data.rank())?;
    let allowed = d.allowed();
    let dtype = d.dtype(allowed)?;
    d.pinned(dtype, rank + 1 - data_rank);
    Some(Gather { axis }.into())
}

fn parse(a: &Attributes) -> Result<Op, BadAttribute> {
    Ok(Gather { axis: a.get_int("axis", Some(0))? }.into())
}

/// What an index points to: an element, or nothing that can be said.
pub(super) enum Pointed {
    /// The element at this position.
    At(usize),
    /// One of the elements, but which one is undecidable.
    Unknown,
    /// None: the index is out of range.
    Undefined,
}

/// Reads an index into an axis of `size`.
pub(super) fn point<A: Arith>(a: &A, index: A::Z, size: usize) -> Pointed {
    let Some(index) = a.peek(index) else { return Pointed::Unknown };
    let from_start = if index < 0 { index + size as i128 } else { index };
    if (0..size as i128).contains(&from_start) {
        Pointed::At(from_start as usize)
    } else {
        Pointed::Undefined
    }
}

/// The hazard of indices at operand `i` into an axis of `size`.
pub(super) fn in_range(operand: usize, size: i64) -> Hazard {
    Hazard::Outside { operand, low: -size as f64, high: (size - 1) as f64 }
}

impl<D: Dim> TypeRule<D> for Gather {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (data, indices) = (x.need(0)?, x.need(1)?);
        let axis = axis(self.axis, data.rank())?;
        // No index points into an empty axis.
        r.le(indices.count(), data.shape[axis] * D::from(ir::dim::LIMIT))?;
        let mut shape = data.shape[..axis].to_vec();
        shape.extend(&indices.shape);
        shape.extend(&data.shape[axis + 1..]);
        Ok(vec![Type::new(data.dtype, shape)])
    }
}

impl Gather {
    fn gather<A: Arith, T: Copy>(
        self,
        c: &Call<'_, A>,
        x: &ArrayD<T>,
        unknown: T,
        undefined: T,
    ) -> ArrayD<T> {
        let indices = c.int(1);
        let axis = axis(self.axis, x.ndim()).unwrap_or(0);
        lanes::build(&c.extents(0), |at| {
            let (before, rest) = at.split_at(axis);
            let (which, after) = rest.split_at(indices.ndim());
            match point(c.arith, indices[which], x.shape()[axis]) {
                Pointed::At(i) => x[[before, &[i], after].concat().as_slice()],
                Pointed::Unknown => unknown,
                Pointed::Undefined => undefined,
            }
        })
    }
}

impl Operator for Gather {
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
    use ir::Tensor;

    use super::*;
    use crate::plain::evaluate;

    fn gather(axis: i64, shape: &[i64], indices: &Tensor) -> Result<(Vec<usize>, Vec<i128>), Reject> {
        let x = Tensor::from_i128_fn(&Type::new(DType::I32, shape), |i| i as i128 + 1);
        let y = evaluate(&Gather { axis }.into(), &[Some(&x), Some(indices)])?.remove(0);
        Ok((y.shape().to_vec(), y.to_i128s()))
    }

    fn indices(shape: &[i64], values: &[i128]) -> Tensor {
        Tensor::from_i128_fn(&Type::new(DType::I64, shape), |i| values[i])
    }

    #[test]
    fn the_indices_shape_replaces_the_axis() {
        let two_rows = indices(&[2, 1], &[1, -3]);
        assert_eq!(gather(0, &[3, 2], &two_rows), Ok((vec![2, 1, 2], vec![3, 4, 1, 2])));
        assert_eq!(gather(-1, &[2, 3], &indices(&[], &[2])), Ok((vec![2], vec![3, 6])));
    }

    #[test]
    fn out_of_range_is_undefined_and_an_empty_axis_has_nothing() {
        assert_eq!(gather(0, &[3], &indices(&[2], &[3, -4])), Ok((vec![2], vec![0, 0])));
        assert!(gather(0, &[0, 2], &indices(&[1], &[0])).is_err());
        assert_eq!(gather(0, &[0, 2], &indices(&[0], &[])), Ok((vec![0, 2], vec![])));
    }
}
