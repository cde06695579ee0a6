//! The Reduce operators: one number from all elements along some axes.

use ir::{DType, DTypes, Dim, Sym, Type};

use crate::about::functions;
use crate::arith::{Arith, Class, Fun};
use crate::attributes::attributes;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::family::Family;
use crate::lanes;
use crate::operator::{Batch, Cost, Edge, Facts, Hazard, Operator, Reads, TypeRule};
use crate::rule::{self, Args, Reject, Rule};
use crate::spec::{Row, list};

attributes! {
    /// A Reduce operator.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Reduce of ReduceFn {
        /// The axes to combine; none given means all, unless `noop_with_empty_axes`.
        pub axes: Option<Vec<i64>>,
        /// Whether the combined axes stay, with size 1.
        pub keepdims: bool = true,
        /// Whether no axes given means that no axis is combined.
        pub noop_with_empty_axes: bool = false,
    }
}

functions! {
    /// How elements are combined.
    pub enum ReduceFn of "`x: [s…] → y: s without axes, or with 1 in their place`" with &[list("axes")]; {
        /// The sum of the elements along some axes.
        ///
        /// Of nothing it is 0. Integers wrap.
        Sum = "ReduceSum",
        /// The mean of the elements along some axes.
        ///
        /// There must be some. Integers are divided towards 0.
        Mean = "ReduceMean",
        /// The largest of the elements along some axes.
        ///
        /// NaN, if one of them is. Of nothing it is -∞ or the least integer.
        Max = "ReduceMax",
        /// The least of the elements along some axes.
        ///
        /// NaN, if one of them is. Of nothing it is ∞ or the largest integer.
        Min = "ReduceMin",
        /// The product of the elements along some axes.
        ///
        /// Of nothing it is 1. Integers wrap.
        Prod = "ReduceProd",
        /// Σx² along some axes.
        ///
        /// Of nothing it is 0. Integers wrap.
        SumSquare = "ReduceSumSquare",
        /// Σ|x| along some axes.
        ///
        /// Of nothing it is 0. Integers wrap.
        L1 = "ReduceL1",
        /// √Σx² along some axes.
        ///
        /// Of nothing it is 0.
        L2 = "ReduceL2",
        /// ln Σx along some axes.
        ///
        /// Of nothing, and where the sum is 0, it is -∞; below, NaN.
        LogSum = "ReduceLogSum",
        /// ln Σeˣ along some axes.
        ///
        /// Of nothing it is -∞. What is added is eˣ over its largest, so that nothing overflows.
        LogSumExp = "ReduceLogSumExp",
    }
}

impl ReduceFn {
    /// Whether the function is one of real numbers only: what ONNX allows on integers beyond that has no
    /// stated rounding, so graphs are not generated with it.
    const fn only_real(self) -> bool {
        matches!(self, Self::L2 | Self::LogSum | Self::LogSumExp)
    }

    /// Whether twice the elements give twice the result, and so for every power of two.
    const fn is_linear(self) -> bool {
        match self {
            Self::Sum | Self::Mean | Self::Max | Self::Min | Self::L1 => true,
            Self::Prod | Self::SumSquare | Self::L2 | Self::LogSum | Self::LogSumExp => false,
        }
    }

    /// Numbers on which implementations part.
    fn edges(self) -> Vec<(usize, Edge)> {
        match self {
            Self::Max | Self::Min => vec![(0, Edge::NonFinite), (0, Edge::Limits)],
            Self::LogSumExp => vec![(0, Edge::Saturation)],
            Self::Prod | Self::LogSum => Vec::new(),
            Self::Sum | Self::Mean | Self::L1 | Self::L2 | Self::SumSquare => {
                vec![(0, Edge::Stall), (0, Edge::Wide)]
            }
        }
    }

    /// The function on reals, of at least one element or with a neutral one for none.
    fn real<A: Arith>(self, a: &A, xs: &[A::R]) -> A::R {
        let all = xs.iter().copied();
        match self {
            Self::Sum => a.sum(all),
            Self::Mean => a.average(all, xs.len()),
            // From the neutral element on, as implementations go: where NaN may lose, it may lose alone.
            Self::Max => all.fold(a.real(f64::NEG_INFINITY), |x, y| a.max(x, y)),
            Self::Min => all.fold(a.real(f64::INFINITY), |x, y| a.min(x, y)),
            Self::Prod => a.product(all),
            Self::SumSquare => a.dot(all.map(|x| (x, x))),
            Self::L1 => a.sum(all.map(|x| a.abs(x))),
            Self::L2 => a.call(Fun::Sqrt, a.dot(all.map(|x| (x, x)))),
            Self::LogSum => a.call(Fun::Log, a.sum(all)),
            Self::LogSumExp => log_sum_exp(a, xs),
        }
    }

    /// The function on integers, not wrapped: so that it is seen where it overflows. Mean truncates, as integer division
    /// does.
    fn int(self, zs: &[i128], dtype: DType) -> Option<i128> {
        let all = zs.iter().copied();
        let (low, high) = dtype.int_range()?;
        Some(match self {
            Self::Sum => all.fold(0, i128::wrapping_add),
            Self::Mean => {
                let sum = all.fold(0, i128::wrapping_add);
                let wrapped = dtype.wrap(sum);
                let mean = wrapped.checked_div(zs.len() as i128)?;
                // Every mean fits, but not every sum. Where it does not, accumulators wrap or are wider, so that this is
                // an overflow too: a number out of range, with the low bits that a wrapped sum leads to.
                if wrapped == sum { mean } else { mean + (high - low + 1) }
            }
            Self::Max => all.max().unwrap_or(low),
            Self::Min => all.min().unwrap_or(high),
            Self::Prod => all.fold(1, i128::wrapping_mul),
            Self::SumSquare => all.fold(0, |s, z| s.wrapping_add(z.wrapping_mul(z))),
            Self::L1 => all.fold(0, |s, z| s.wrapping_add(z.abs())),
            Self::L2 | Self::LogSum | Self::LogSumExp => return None,
        })
    }
}

/// ln Σ eˣ, about the largest element so that nothing overflows.
fn log_sum_exp<A: Arith>(a: &A, xs: &[A::R]) -> A::R {
    let Some(top) = xs.iter().copied().reduce(|x, y| a.max(x, y)) else { return a.real(f64::NEG_INFINITY) };
    // The definition knows no shift, so an infinity is not subtracted from itself.
    let is_infinite = |x| {
        let infinities = [Class::PositiveInfinity, Class::NegativeInfinity];
        infinities.into_iter().any(|class| a.peek(a.is(class, x)) == Some(1))
    };
    if is_infinite(top) {
        return a.add(top, top);
    }
    // Beside a NaN that may lose, an infinity may be the largest, and then nothing else is looked at.
    if a.peek(a.is(Class::NaN, top)).is_none() && xs.iter().any(|&x| is_infinite(x)) {
        return a.unknown_real();
    }
    let sum = a.sum(xs.iter().map(|&x| a.call(Fun::Exp, a.sub(x, top))));
    a.add(a.call(Fun::Log, sum), top)
}

impl Reduce {
    /// The axes that are combined, as ascending indices.
    pub fn reduced(&self, rank: usize) -> Result<Vec<usize>, Reject> {
        let mut axes = match &self.axes {
            Some(list) if !list.is_empty() => rule::axes(list, rank)?,
            _ if self.noop_with_empty_axes => Vec::new(),
            _ => (0..rank).collect(),
        };
        axes.sort_unstable();
        Ok(axes)
    }
}

impl Family for Reduce {
    const ROWS: &'static [(ReduceFn, Row)] = ROWS;

    fn row(&self) -> usize {
        self.function as usize
    }

    fn draw<'a>(function: ReduceFn, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let dtypes = if function.only_real() { DTypes::FLOATS } else { DTypes::IR4 };
        let x = d.one_of(dtypes, 0..=d.limits.max_rank)?;
        let axes = if d.chance(0.8) { Some(d.axes(x.rank(), 1)).filter(|a| !a.is_empty()) } else { None };
        Some(Reduce { function, axes, keepdims: d.flag(), noop_with_empty_axes: false })
    }
}

impl<D: Dim> TypeRule<D> for Reduce {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        let reduced = self.reduced(x.rank())?;
        if self.function == ReduceFn::Mean {
            // The mean of nothing is undefined.
            reduced.iter().try_for_each(|&a| r.le(D::from(1), x.shape[a]))?;
        }
        let mut shape = Vec::with_capacity(x.rank());
        for (i, &d) in x.shape.iter().enumerate() {
            match reduced.contains(&i) {
                false => shape.push(d),
                true if self.keepdims => shape.push(D::from(1)),
                true => {}
            }
        }
        Ok(vec![Type::new(x.dtype, shape)])
    }
}

impl Operator for Reduce {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts {
            since: 13,
            reads: Reads::Elements,
            cost: Cost::PerInput(1),
            batch: Batch::Together,
            linear: self.function.is_linear().then_some(0),
            edges: self.function.edges(),
        }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let Some(format) = x[0].and_then(|t| t.dtype.float()) else { return Vec::new() };
        match self.function {
            ReduceFn::LogSum => {
                let (low, high) = (format.min_normal(), format.max_finite());
                vec![Hazard::Perhaps { operand: 0, low, high }]
            }
            ReduceFn::Sum
            | ReduceFn::Mean
            | ReduceFn::Max
            | ReduceFn::Min
            | ReduceFn::Prod
            | ReduceFn::SumSquare
            | ReduceFn::L1
            | ReduceFn::L2
            | ReduceFn::LogSumExp => Vec::new(),
        }
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let axes = self.reduced(c.data(0).shape().len()).unwrap_or_default();
        let shape = c.extents(0);
        vec![match c.data(0) {
            Data::Real(x) => {
                Data::Real(lanes::reduce(x, &axes, &shape, |lane| self.function.real(c.arith, lane)))
            }
            Data::Int(x) => Data::Int(lanes::reduce(x, &axes, &shape, |lane| {
                let known: Option<Vec<i128>> = lane.iter().map(|&z| c.arith.peek(z)).collect();
                match known {
                    None => c.arith.unknown_int(),
                    Some(zs) => match self.function.int(&zs, c.dtype(0)) {
                        Some(z) => c.arith.int(z),
                        None => c.arith.undefined_int(),
                    },
                }
            })),
        }]
    }
}
