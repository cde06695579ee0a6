//! CumSum: sums of the elements up to each place along an axis.

use ir::{Dim, Sym, Type};

use crate::arith::Arith;
use crate::attributes::attributes;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::family::Single;
use crate::lanes;
use crate::operator::{Batch, Cost, Edge, Facts, Hazard, Operator, Reads, TypeRule};
use crate::rule::{Args, Reject, Rule, axis};
use crate::spec::{Row, scalar};

attributes! {
    /// The sums of the elements up to each place along an axis.
    ///
    /// `x: […, n, …] → y: as x`
    ///
    /// With `exclusive`, without the element at the place itself; with `reverse`, from the end. Integers wrap.
    ///
    /// ONNX: [CumSum](https://onnx.ai/onnx/operators/onnx__CumSum.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct CumSum {
        /// The axis to sum along.
        pub axis: i64,
        /// Whether each place's own element is left out of its sum.
        pub exclusive: bool = false,
        /// Whether sums run from the end.
        pub reverse: bool = false,
    }
}

impl Single for CumSum {
    const ROW: Row = Row::new("CumSum").with(&[scalar("axis")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        let axis = d.axis(x.rank())?;
        Some(CumSum { axis, exclusive: d.flag(), reverse: d.flag() })
    }
}

impl CumSum {
    /// The lane with every place replaced by the result of `sum` on the elements that belong to it.
    fn sums<T>(self, lane: &[T], sum: impl Fn(&[T]) -> T) -> Vec<T> {
        let own = usize::from(!self.exclusive);
        let part = |i| if self.reverse { &lane[i + 1 - own..] } else { &lane[..i + own] };
        (0..lane.len()).map(|i| sum(part(i))).collect()
    }
}

impl<D: Dim> TypeRule<D> for CumSum {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        axis(self.axis, x.rank())?;
        Ok(vec![x.clone()])
    }
}

impl Operator for CumSum {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts {
            since: 13,
            reads: Reads::Elements,
            cost: Cost::PerOutput(1),
            batch: Batch::Together,
            linear: None,
            edges: vec![(0, Edge::Stall)],
        }
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, axis) = (c.arith, axis(self.axis, c.data(0).shape().len()).unwrap_or(0));
        // Every sum is formed anew: implementations scan in whatever order, so a chain would bound the wrong one.
        let int_sum =
            |zs: &[A::Z]| zs.iter().fold(a.int(0), |s, &z| a.exact([s, z], |[s, z]| Some(s.wrapping_add(z))));
        vec![match c.data(0) {
            Data::Real(x) => Data::Real(lanes::map(x, &[axis], |lane| {
                self.sums(lane, |xs: &[A::R]| a.sum(xs.iter().copied()))
            })),
            Data::Int(x) => Data::Int(lanes::map(x, &[axis], |lane| self.sums(lane, int_sum))),
        }]
    }
}

#[cfg(test)]
mod tests {
    use ir::DType;

    use super::*;
    use crate::testing::{run, tensor};

    #[test]
    fn from_either_end_with_and_without_the_element() {
        for dtype in [DType::F64, DType::I32] {
            let x = tensor(dtype, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
            let sums = |axis, exclusive, reverse| run(CumSum { axis, exclusive, reverse }, &[&x]);
            assert_eq!(sums(1, false, false), [1., 3., 6., 4., 9., 15.]);
            assert_eq!(sums(1, true, false), [0., 1., 3., 0., 4., 9.]);
            assert_eq!(sums(-1, false, true), [6., 5., 3., 15., 11., 6.]);
            assert_eq!(sums(1, true, true), [5., 3., 0., 11., 6., 0.]);
            assert_eq!(sums(0, false, false), [1., 2., 3., 5., 7., 9.]);
        }
    }
}
