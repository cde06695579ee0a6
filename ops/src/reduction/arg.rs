//! ArgMax and ArgMin: where along an axis the largest or smallest element is.

use crate::kind::{Integers, Reals};
use crate::prelude::*;

attributes! {
    /// ArgMax or ArgMin; the result is int64.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Arg of ArgFn {
        /// The axis to search along.
        pub axis: i64 = 0,
        /// Whether the axis stays, with size 1.
        pub keepdims: bool = true,
        /// Whether the last of equal elements counts instead of the first.
        pub select_last_index: bool = false,
    }
}

functions! {
    /// Which element is searched.
    pub enum ArgFn of "`x: […, n, …] → y: […, 1, …] or […, …], i64`"; {
        /// Where the largest element along an axis is.
        ///
        /// NaN counts as the largest. Of equal elements the first one counts, or with `select_last_index` the last one.
        Max = "ArgMax",
        /// Where the least element along an axis is.
        ///
        /// NaN counts as the least. Of equal elements the first one counts, or with `select_last_index` the last one.
        Min = "ArgMin",
    }
}

impl Arg {
    /// Where in a lane the element is.
    fn place<A: Arith, K: Kind<A>>(self, a: &A, lane: &[K::Number]) -> A::Z {
        let last = self.select_last_index;
        match self.function {
            ArgFn::Max => K::arg_max(a, lane, last),
            ArgFn::Min => K::arg_max(a, &lane.iter().map(|&x| K::neg(a, x)).collect::<Vec<_>>(), last),
        }
    }
}

impl Family for Arg {
    const ROWS: &'static [(ArgFn, Row)] = ROWS;

    fn draw<'a>(function: ArgFn, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let keepdims = d.flag();
        let wanted = d.wanted().map(ir::Type::rank);
        let x = match wanted {
            // The rank that leaves the wanted one; any dtype, as the result's says nothing of the operand's.
            Some(rank) if d.chance(0.8) => {
                let rank = rank + usize::from(!keepdims);
                d.one_of(DTypes::IR4, rank.max(1)..=rank.max(1))?
            }
            _ => d.any(1..=d.limits.max_rank)?,
        };
        Some(Arg { function, axis: d.axis(x.rank())?, keepdims, select_last_index: d.chance(0.3) })
    }
}

impl<D: Dim> TypeRule<D> for Arg {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let mut shape = x.need(0)?.shape.clone();
        let axis = rule::axis(self.axis, shape.len())?;
        // Nothing has no largest element.
        r.seek_le(D::from(1), shape[axis])?;
        if self.keepdims {
            shape[axis] = D::from(1);
        } else {
            shape.remove(axis);
        }
        Ok(vec![Type::new(DType::I64, shape)])
    }
}

impl Operator for Arg {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let edges = vec![(0, Edge::Alike), (0, Edge::Zeros), (0, Edge::Limits)];
        Facts::calculates(Cost::PerInput(1), Batch::meeting_along(x, self.axis), None, edges)
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let axis = |x: &Type| rule::accepted(rule::axis(self.axis, x.rank()));
        let is_undefined = x[0].is_some_and(|x| x.shape[axis(x)] == 0);
        is_undefined.then_some(Hazard::Always).into_iter().collect()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let axis = c.axis(self.axis);
        let shape = c.extents(0);
        vec![Data::Int(match c.data(0) {
            Data::Real(x) => lanes::reduce(x, &[axis], &shape, |lane| self.place::<A, Reals>(c.arith, lane)),
            Data::Int(x) => {
                lanes::reduce(x, &[axis], &shape, |lane| self.place::<A, Integers>(c.arith, lane))
            }
        })]
    }
}

#[cfg(test)]
tables! {
    ties_axes_and_kept_dimensions: "
        for T of f32, i8
        x = T[2, 3] {2, 2, 1, -3, 4, -3}
        ArgMax(x) {axis = 1, keepdims = 0} = i64[2] {0, 1}
        ArgMax(x) {axis = -1, keepdims = 0, select_last_index = 1} = i64[2] {1, 1}
        ArgMin(x) {axis = 1, keepdims = 0} = i64[2] {2, 0}
        ArgMin(x) {axis = 1, keepdims = 0, select_last_index = 1} = i64[2] {2, 2}
        ArgMax(x) {axis = 0, keepdims = 0} = i64[3] {0, 1, 0}
        ArgMax(x) {axis = 0}: i64[1, 3]
    ";
    of_an_empty_axis_it_is_undefined: "
        // Which reads as 0 here.
        ArgMax(f32[0, 2]) {axis = 0} = i64[1, 2] {0, 0}
        ArgMin(i8[0, 2]) {axis = 0} has the hazards [Always]
        ArgMax(f32[0, 2]) {axis = 1} has the hazards []
        ArgMax(f32[0, 2]) {axis = 1}: i64[0, 1]
    ";
}
