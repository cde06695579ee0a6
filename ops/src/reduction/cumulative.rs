//! `CumSum` and `CumProd`: the elements up to each place along an axis, combined.

use crate::prelude::*;

attributes! {
    /// The elements up to each place along an axis, combined.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Cumulative of CumulativeFn {
        /// The axis.
        pub axis: i64,
        /// Whether each place's own element is left out.
        pub exclusive: bool = false,
        /// Whether the places are walked from the end.
        pub reverse: bool = false,
    }
}

functions! {
    /// How the elements are combined.
    pub enum CumulativeFn of "`x: […, n, …] → y: as x`" with &[spec::scalar("axis")]; {
        /// The sums of the elements up to each place along an axis.
        ///
        /// With `exclusive`, without the element at the place itself; with `reverse`, from the end. Integers wrap.
        Sum = "CumSum",
        /// The products of the elements up to each place along an axis.
        ///
        /// With `exclusive`, without the element at the place itself; with `reverse`, from the end. Integers wrap.
        Prod = "CumProd",
    }
}

impl Family for Cumulative {
    const ROWS: &'static [(CumulativeFn, Row)] = ROWS;

    fn draw<'a>(function: CumulativeFn, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        let axis = d.axis(x.rank())?;
        Some(Cumulative { function, axis, exclusive: d.flag(), reverse: d.flag() })
    }
}

impl CumulativeFn {
    /// What nothing gives.
    fn neutral(self) -> i128 {
        match self {
            Self::Sum => 0,
            Self::Prod => 1,
        }
    }

    /// Of integers, wrapped to the dtype by the caller.
    fn int<A: Arith>(self, a: &A, so_far: A::Z, z: A::Z) -> A::Z {
        let combine = match self {
            Self::Sum => plain::plus,
            Self::Prod => plain::times,
        };
        a.exact([so_far, z], |[x, y]| Some(combine(x, y)))
    }
}

impl Cumulative {
    /// The lane with every place replaced by what the elements that belong to it give. Each is formed anew: implementations
    /// scan in whatever order, so a chain would bound the wrong one.
    fn each<A: Arith>(self, a: &A, lane: &[A::R]) -> Vec<A::R> {
        let own = usize::from(!self.exclusive);
        let in_order = |lane: &[A::R]| match self.function {
            CumulativeFn::Sum => a.running_sums(lane)[own..][..lane.len()].to_vec(),
            CumulativeFn::Prod => {
                (0..lane.len()).map(|i| a.product(lane[..i + own].iter().copied())).collect()
            }
        };
        if !self.reverse {
            return in_order(lane);
        }
        let mut results = in_order(&lane.iter().rev().copied().collect::<Vec<_>>());
        results.reverse();
        results
    }

    /// The lane of integers: their order does not matter, so they are scanned.
    fn scanned<A: Arith>(self, a: &A, lane: &[A::Z]) -> Vec<A::Z> {
        let mut so_far = a.int(self.function.neutral());
        let mut step = |&z: &A::Z| {
            let before = so_far;
            so_far = self.function.int(a, before, z);
            if self.exclusive { before } else { so_far }
        };
        if !self.reverse {
            return lane.iter().map(step).collect();
        }
        let mut from_the_end: Vec<A::Z> = lane.iter().rev().map(&mut step).collect();
        from_the_end.reverse();
        from_the_end
    }
}

impl<D: Dim> TypeRule<D> for Cumulative {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        rule::axis(self.axis, x.rank())?;
        Ok(vec![x.clone()])
    }
}

impl Operator for Cumulative {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let linear = (self.function == CumulativeFn::Sum).then_some(0);
        Facts::calculates(
            Cost::PerOutput(1),
            Batch::meeting_along(x, self.axis),
            linear,
            vec![(0, Edge::Stall)],
        )
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    /// Integers and sums are scanned, and each product of reals is formed anew.
    fn effort(&self, x: &[Option<&Type>], y: &[Type]) -> Effort {
        let Some(Some(ty)) = x.first() else { return Effort::NONE };
        let extent = ty.shape[rule::accepted(rule::axis(self.axis, ty.rank()))].unsigned_abs();
        let is_scanned = self.function == CumulativeFn::Sum || !ty.dtype.is_float();
        let each = if is_scanned { 1 } else { extent.div_ceil(2).max(1) };
        Effort { operations: Cost::PerOutput(each).flops(x, y), scratch: 0 }
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        let axis = c.axis(self.axis);
        vec![match c.data(0) {
            Data::Real(x) => Data::Real(lanes::map(x, &[axis], |lane| self.each(a, lane))),
            Data::Int(x) => Data::Int(lanes::map(x, &[axis], |lane| self.scanned(a, lane))),
        }]
    }
}

#[cfg(test)]
tables! {
    from_either_end_with_and_without_the_element: "
        for T of f64, i32
        x = T[2, 3] {1, 2, 3, 4, 5, 6}
        CumSum(x) {axis = 1} = T[2, 3] {1, 3, 6, 4, 9, 15}
        CumSum(x) {axis = 1, exclusive = 1} = T[2, 3] {0, 1, 3, 0, 4, 9}
        CumSum(x) {axis = -1, reverse = 1} = T[2, 3] {6, 5, 3, 15, 11, 6}
        CumSum(x) {axis = 1, exclusive = 1, reverse = 1} = T[2, 3] {5, 3, 0, 11, 6, 0}
        CumSum(x) {axis = 0} = T[2, 3] {1, 2, 3, 5, 7, 9}
        CumProd(x) {axis = 1} = T[2, 3] {1, 2, 6, 4, 20, 120}
        CumProd(x) {axis = -1, exclusive = 1, reverse = 1} = T[2, 3] {6, 3, 1, 30, 6, 1}
        CumProd(x) {axis = 0, exclusive = 1} = T[2, 3] {1, 1, 1, 1, 2, 3}
    ";
}
