//! ArgMax and ArgMin: where along an axis the largest or smallest element is.

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
    fn real<A: Arith>(self, a: &A, lane: &[A::R]) -> A::Z {
        match self.function {
            ArgFn::Max => a.arg_max(lane, self.select_last_index),
            ArgFn::Min => {
                let negated: Vec<A::R> = lane.iter().map(|&x| a.neg(x)).collect();
                a.arg_max(&negated, self.select_last_index)
            }
        }
    }

    fn int<A: Arith>(self, a: &A, lane: &[A::Z]) -> A::Z {
        let Some(zs) = a.peek_all(lane) else { return a.unknown_int() };
        let best = match self.function {
            ArgFn::Max => zs.iter().max(),
            ArgFn::Min => zs.iter().min(),
        };
        let is_best = |z: &i128| Some(z) == best;
        let found =
            if self.select_last_index { zs.iter().rposition(is_best) } else { zs.iter().position(is_best) };
        found.map_or_else(|| a.undefined_int(), |i| a.int(i as i128))
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
        r.le(D::from(1), shape[axis])?;
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

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let axis = c.axis(self.axis);
        let shape = c.extents(0);
        vec![Data::Int(match c.data(0) {
            Data::Real(x) => lanes::reduce(x, &[axis], &shape, |lane| self.real(c.arith, lane)),
            Data::Int(x) => lanes::reduce(x, &[axis], &shape, |lane| self.int(c.arith, lane)),
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
    an_empty_axis_is_refused: "
        ArgMax(f32[0, 2]) {axis = 0} is refused: 1 must not exceed 0
        ArgMax(f32[0, 2]) {axis = 1}: i64[0, 1]
    ";
}
