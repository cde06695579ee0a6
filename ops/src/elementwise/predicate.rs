//! IsNaN and IsInf: which elements are not finite numbers.

use crate::prelude::*;

/// A question about each element; the result is `bool`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Predicate {
    /// Whether it is not a number.
    IsNaN,
    /// Whether it is infinite.
    IsInf {
        /// Whether -∞ counts.
        detect_negative: bool,
        /// Whether +∞ counts.
        detect_positive: bool,
    },
}

functions! {
    /// Which question, without its attributes.
    pub enum PredicateFn of "`x: any shape, floats → y: as x, bool`"; {
        /// Whether x is NaN.
        IsNaN = "IsNaN",
        /// Whether x is infinite.
        ///
        /// Without `detect_negative` -∞ does not count, and without `detect_positive` +∞ does not.
        IsInf = "IsInf",
    }
}

impl Declared for Predicate {
    const ABOUT: About = About { text: "A question about each element.", module: module_path!() };
    type Function = PredicateFn;
    type Over<D: Dim> = Predicate;

    fn parse(function: PredicateFn, a: &Attributes) -> Result<Self, BadAttribute> {
        Ok(match function {
            PredicateFn::IsNaN => Self::IsNaN,
            PredicateFn::IsInf => Self::IsInf {
                detect_negative: a.get_flag("detect_negative", true)?,
                detect_positive: a.get_flag("detect_positive", true)?,
            },
        })
    }

    fn function(&self) -> PredicateFn {
        match self {
            Self::IsNaN => PredicateFn::IsNaN,
            Self::IsInf { .. } => PredicateFn::IsInf,
        }
    }

    fn attributes(&self) -> Attributes {
        match *self {
            Self::IsNaN => Attributes::new(),
            Self::IsInf { detect_negative, detect_positive } => Attributes::new()
                .flag("detect_negative", detect_negative)
                .flag("detect_positive", detect_positive),
        }
    }
}

impl Family for Predicate {
    const ROWS: &'static [(PredicateFn, Row)] = ROWS;

    fn draw<'a>(function: PredicateFn, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(0..=d.limits.max_rank)?;
        Some(match function {
            PredicateFn::IsNaN => Self::IsNaN,
            PredicateFn::IsInf => {
                Self::IsInf { detect_negative: d.chance(0.7), detect_positive: d.chance(0.7) }
            }
        })
    }
}

impl<D: Dim> TypeRule<D> for Predicate {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.need(0)?.with_dtype(DType::Bool)])
    }
}

impl Operator for Predicate {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts::calculates(
            Cost::PerOutput(1),
            Batch::apart_if(rank(x, 0) >= 1),
            None,
            vec![(0, Edge::NonFinite), (0, Edge::Limits)],
        )
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        let holds = |x: A::R| match *self {
            Self::IsNaN => a.is(Class::NaN, x),
            Self::IsInf { detect_negative, detect_positive } => {
                let negative = if detect_negative { a.is(Class::NegativeInfinity, x) } else { a.int(0) };
                let positive = if detect_positive { a.is(Class::PositiveInfinity, x) } else { a.int(0) };
                a.exact([negative, positive], |[n, p]| Some(n | p))
            }
        };
        vec![Data::Int(each(c.real(0), holds))]
    }
}

#[cfg(test)]
tables! {
    infinities_count_by_sign: "
        x = f32[4] {nan, inf, -inf, 3e38}
        IsInf(x) {detect_negative = 1, detect_positive = 1} = bool[4] {false, true, true, false}
        IsInf(x) {detect_negative = 1, detect_positive = 0} = bool[4] {false, false, true, false}
        IsInf(x) {detect_negative = 0, detect_positive = 1} = bool[4] {false, true, false, false}
        IsInf(x) {detect_negative = 0, detect_positive = 0} = bool[4] {false, false, false, false}
        IsNaN(x) = bool[4] {true, false, false, false}
    ";
}
