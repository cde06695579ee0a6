//! Softmax, LogSoftmax and Hardmax along one axis.

use crate::prelude::*;

attributes! {
    /// Softmax or one of its relatives.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Softmax of SoftmaxFn {
        /// The axis along which the function is taken.
        pub axis: i64 = -1,
    }
}

functions! {
    /// What becomes of the elements along the axis.
    pub enum SoftmaxFn of "`x: […, n, …] → y: as x`"; {
        /// eˣ over the sum of eˣ along an axis.
        ///
        /// The largest element is subtracted first, which changes nothing but that eˣ stays finite.
        Softmax = "Softmax",
        /// The logarithm of eˣ over the sum of eˣ along an axis.
        ///
        /// The largest element is subtracted first, which changes nothing but that eˣ stays finite.
        LogSoftmax = "LogSoftmax",
        /// 1 at the first of the largest elements along an axis, 0 elsewhere.
        Hardmax = "Hardmax",
    }
}

impl SoftmaxFn {
    fn real<A: Arith>(self, a: &A, lane: &[A::R]) -> Vec<A::R> {
        if self == Self::Hardmax {
            return hardmax(a, lane);
        }
        // Subtracting the largest element changes nothing but keeps eˣ finite.
        let Some(top) = lane.iter().copied().reduce(|x, y| a.max(x, y)) else { return Vec::new() };
        let is = |class: Class, x: A::R, wanted: i128| a.peek(a.is(class, x)) == Some(wanted);
        // The standard's formula subtracts nothing: there an infinity is NaN and leaves the others 0 (or −∞), unless one is NaN.
        let is_infinite = is(Class::PositiveInfinity, top, 1) && lane.iter().all(|&x| is(Class::NaN, x, 0));
        let or_by_formula = |y: A::R| if is_infinite { a.or_folded(y, || a.real(0.0)) } else { y };
        let shifted: Vec<A::R> = lane.iter().map(|&x| a.sub(x, top)).collect();
        let powers: Vec<A::R> = shifted.iter().map(|&x| a.call(Fun::Exp, x)).collect();
        let sum = a.sum(powers.iter().copied());
        if self == Self::Softmax {
            return powers.into_iter().map(|p| or_by_formula(a.div(p, sum))).collect();
        }
        let log = a.call(Fun::Log, sum);
        let about_top = shifted.into_iter().map(|x| a.sub(x, log));
        // Or x - (top + log), where both were added up first.
        let about_zero = |x: A::R| a.sub(x, a.add(top, log));
        about_top.zip(lane).map(|(y, &x)| or_by_formula(a.or_folded(y, || about_zero(x)))).collect()
    }
}

fn hardmax<A: Arith>(a: &A, lane: &[A::R]) -> Vec<A::R> {
    if lane.is_empty() {
        return Vec::new();
    }
    let top = a.arg_max(lane, false);
    let hit = |place: usize| a.exact([top], |[top]| Some((top == place as i128).into()));
    (0..lane.len()).map(|i| a.select(hit(i), a.real(1.0), a.real(0.0))).collect()
}

impl Family for Softmax {
    const ROWS: &'static [(SoftmaxFn, Row)] = ROWS;

    fn draw<'a>(function: SoftmaxFn, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        Some(Softmax { function, axis: d.axis(x.rank())? })
    }
}

impl<D: Dim> TypeRule<D> for Softmax {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        rule::axis(self.axis, x.rank())?;
        Ok(vec![x.clone()])
    }
}

impl Operator for Softmax {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let edges = vec![(0, Edge::Saturation), (0, Edge::Alike), (0, Edge::Zeros)];
        Facts::calculates(Cost::PerOutput(5), Batch::meeting_along(x, self.axis), None, edges)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![Data::Real(lanes::map(c.real(0), &[c.axis(self.axis)], |lane| {
            self.function.real(c.arith, lane)
        }))]
    }
}

#[cfg(test)]
tables! {
    large_elements_do_not_overflow: "
        x = f32[2, 2] {10000, 10000, -10000, 10000}
        Softmax(x) {axis = -1} = f32[2, 2] {0.5, 0.5, 0, 1}
        Softmax(x) {axis = 0} = f32[2, 2] {1, 0.5, 0, 0.5}
        // The logarithm of a half.
        LogSoftmax(x) {axis = 1} = f32[2, 2] {-0.6931472, -0.6931472, -20000, 0}
    ";
    hardmax_takes_the_first_of_equals: "
        x = f16[2, 3] {1, 3, 3, 2, 0, -1}
        Hardmax(x) {axis = -1} = f16[2, 3] {0, 1, 0, 1, 0, 0}
        Hardmax(x) {axis = 0} = f16[2, 3] {0, 1, 1, 1, 0, 0}
        Hardmax(f16[0, 2]) {axis = 0} = f16[0, 2]
    ";
}
