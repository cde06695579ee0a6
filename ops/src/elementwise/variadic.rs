//! Min, Max, Sum and Mean: one element from the elements at the same place of any number of operands.

use crate::prelude::*;

attributes! {
    /// An element-by-element operator on one operand or more, with multidirectional broadcasting.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Variadic(VariadicFn);
}

functions! {
    /// Which function.
    pub enum VariadicFn of "`x₁, x₂, …: shapes that broadcast → y: the common shape`"; {
        /// The least of the elements at each place.
        ///
        /// NaN, if one of them is.
        Min = "Min",
        /// The largest of the elements at each place.
        ///
        /// NaN, if one of them is.
        Max = "Max",
        /// The sum of the elements at each place.
        Sum = "Sum",
        /// The mean of the elements at each place.
        Mean = "Mean",
    }
}

impl VariadicFn {
    /// The function on at least one real number.
    fn real<A: Arith>(self, a: &A, terms: &[A::R]) -> A::R {
        let all = terms.iter().copied();
        let [first, others @ ..] = terms else { return a.undefined_real() };
        match self {
            Self::Min => a.min_of(*first, others.iter().copied()),
            Self::Max => a.max_of(*first, others.iter().copied()),
            Self::Sum => a.sum(all),
            Self::Mean => a.average(all, terms.len()),
        }
    }

    /// The function on two integers; only Min and Max take any.
    fn int(self, p: i128, q: i128) -> i128 {
        if self == Self::Min { p.min(q) } else { p.max(q) }
    }
}

/// The elements of every operand at each place of the common shape, place by place.
fn aligned<T: Copy>(shape: &[usize], operands: &[&ndarray::ArrayD<T>]) -> Vec<Vec<T>> {
    let mut places = vec![Vec::with_capacity(operands.len()); shape.iter().product()];
    for operand in operands {
        places.iter_mut().zip(lanes::broadcast(operand, shape).iter()).for_each(|(place, &x)| place.push(x));
    }
    places
}

impl Family for Variadic {
    const ROWS: &'static [(VariadicFn, Row)] = ROWS;

    fn draw<'a>(function: VariadicFn, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let first = d.any(0..=d.limits.max_rank)?;
        for _ in 1..d.int(1, 4) {
            d.broadcast_with(first.dtype, &first)?;
        }
        Some(Variadic(function))
    }
}

impl<D: Dim> TypeRule<D> for Variadic {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![rule::broadcast(r, &x.all()?)?])
    }
}

impl Operator for Variadic {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let met = if x.len() > 1 { &[(0, Edge::Meets(1)), (1, Edge::Meets(0))][..] } else { &[] };
        let sums = (self.0 == VariadicFn::Sum && x.len() > 1).then_some((0, Edge::Sums(1)));
        let edges =
            (0..x.len()).map(|i| (i, Edge::NonFinite)).chain(met.iter().copied()).chain(sums).collect();
        Facts::calculates(Cost::PerOutput(x.len() as u64), Batch::Together, None, edges)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, shape, count) = (c.arith, c.extents(0), c.inputs.len());
        vec![if c.is_real() {
            let operands: Vec<_> = (0..count).map(|i| c.real(i)).collect();
            let places = aligned(&shape, &operands);
            Data::Real(lanes::array(&shape, places.iter().map(|terms| self.0.real(a, terms)).collect()))
        } else {
            let operands: Vec<_> = (0..count).map(|i| c.int(i)).collect();
            let pick = |p, q| a.exact([p, q], |[p, q]| Some(self.0.int(p, q)));
            let places = aligned(&shape, &operands).into_iter();
            let items =
                places.map(|terms| terms.into_iter().reduce(pick).unwrap_or_else(|| a.undefined_int()));
            Data::Int(lanes::array(&shape, items.collect()))
        }]
    }
}

#[cfg(test)]
tables! {
    operands_broadcast_and_combine: "
        x = f32[2, 1] {1, -2}; y = f32[3] {0, 1, 5}; z = f32[] {3}
        Sum(x, y, z) = f32[2, 3] {4, 5, 9, 1, 2, 6}
        Max(x, y, z) = f32[2, 3] {3, 3, 5, 3, 3, 5}
        Mean(x) = f32[2, 1] {1, -2}
    ";
    integers_and_nan: "
        Min(u8[] {250}, u8[] {3}) = u8[] {3}
        Min(f16[] {3}, f16[] {nan}) = f16[] {nan}
    ";
}
