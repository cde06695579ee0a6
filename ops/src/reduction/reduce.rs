//! The Reduce operators: one number from all elements along some axes.

use ir::format::FloatFormat;

use crate::family::names;
use crate::prelude::*;

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
    pub enum ReduceFn of "`x: [s…] → y: s without axes, or with 1 in their place`" with &[spec::list("axes")]; {
        /// The sum of the elements along some axes.
        ///
        /// Of nothing it is 0. Integers wrap.
        Sum = "ReduceSum",
        /// The mean of the elements along some axes.
        ///
        /// Of nothing it is undefined. Integers are divided towards 0.
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
        /// Of nothing it is 0. The sum of integers wraps; its root is taken in f32 and truncated.
        L2 = "ReduceL2",
        /// ln Σx along some axes.
        ///
        /// Of nothing, and where the sum is 0, it is -∞; below, NaN. Of integers the standard does not say what it is: its function
        /// body takes the logarithm of an integer.
        LogSum = "ReduceLogSum",
        /// ln Σeˣ along some axes.
        ///
        /// Of nothing it is -∞. What is added is eˣ over its largest, so that nothing overflows; ONNX's function body does not shift, so
        /// that the result is undecidable where Σeˣ overflows or vanishes in f64. Of integers it is taken in f64 and
        /// truncated, and undefined where that has no integer, or where Σeˣ overflows or vanishes.
        LogSumExp = "ReduceLogSumExp",
    }
}

/// The names of these operators.
pub const REDUCTIONS: &[&str] = &names::<_, { ROWS.len() }>(ROWS);

impl ReduceFn {
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
            Self::Prod => vec![(0, Edge::Stall)],
            Self::LogSum => Vec::new(),
            Self::Sum | Self::Mean | Self::L1 | Self::L2 | Self::SumSquare => {
                vec![(0, Edge::Stall), (0, Edge::Wide)]
            }
        }
    }

    /// The function on reals of a dtype, of at least one element or with a neutral one for none.
    fn real<A: Arith>(self, a: &A, xs: &[A::R]) -> A::R {
        let all = xs.iter().copied();
        match self {
            Self::Sum => a.sum(all),
            Self::Mean if xs.is_empty() => a.undefined_real(),
            Self::Mean => a.average(all, xs.len()),
            // From the neutral element on, as implementations go: where NaN may lose, it may lose alone.
            Self::Max => a.max_of(a.real(f64::NEG_INFINITY), all),
            Self::Min => a.min_of(a.real(f64::INFINITY), all),
            Self::Prod => a.product(all),
            Self::SumSquare => a.dot(all.map(|x| (x, x))),
            Self::L1 => a.sum(all.map(|x| a.abs(x))),
            Self::L2 => a.call(Fun::Sqrt, a.dot(all.map(|x| (x, x)))),
            Self::LogSum => a.call(Fun::Log, a.sum(all)),
            // ONNX's function body casts to f64 and shifts nothing, so that Σeˣ may overflow or vanish there.
            Self::LogSumExp => {
                a.either(log_sum_exp(a, xs), || a.round(log_sum_exp_as_defined(&a.within(DType::F64), xs)))
            }
        }
    }

    /// The function on integers, not wrapped: so that it is seen where it overflows.
    fn whole<A: Arith>(self, a: &A, zs: &[i128], dtype: DType) -> A::Z {
        let all = zs.iter().copied();
        let sum = || WholeSum::of(all.clone());
        let sum_of_squares = || WholeSum::of(all.clone().map(|z| plain::times(z, z)));
        let Some((low, high)) = dtype.int_range() else { return a.undefined_int() };
        match self {
            Self::Sum => of_wrapped(a, sum(), dtype, |sum| a.int(sum)),
            // Integer division truncates.
            Self::Mean => of_wrapped(a, sum(), dtype, |sum| match sum.checked_div(zs.len() as i128) {
                Some(mean) => a.int(mean),
                None => a.undefined_int(),
            }),
            Self::Max => a.int(all.max().unwrap_or(low)),
            Self::Min => a.int(all.min().unwrap_or(high)),
            Self::Prod => a.int(all.fold(1, plain::times)),
            Self::SumSquare => a.int(sum_of_squares().total()),
            Self::L1 => a.int(WholeSum::of(all.map(i128::abs)).total()),
            // ONNX's function body casts the sum to f32.
            Self::L2 => of_wrapped(a, sum_of_squares(), dtype, |sum| {
                let a = &a.within(DType::F32);
                a.truncate(a.call(Fun::Sqrt, a.convert(a.int(sum))), dtype)
            }),
            Self::LogSum | Self::LogSumExp if zs.is_empty() => a.undefined_int(),
            // ONNX's function body gives Log an integer, which it does not take; so this is one reading of several.
            Self::LogSum => {
                let a = &a.within(DType::F64);
                let sum = a.convert(a.int(dtype.wrap(sum().total())));
                a.unspecified_int(a.truncate(a.call(Fun::Log, sum), dtype))
            }
            // ONNX's function body casts to f64, and back what comes of it.
            Self::LogSumExp => {
                let a = &a.within(DType::F64);
                let xs: Vec<A::R> = all.map(|z| a.convert(a.int(z))).collect();
                a.truncate(a.either(log_sum_exp_as_defined(a, &xs), || log_sum_exp(a, &xs)), dtype)
            }
        }
    }

    /// The elements of reals of which the result is a number, if not all are.
    fn safe_reals(self, format: FloatFormat) -> Option<(f64, f64)> {
        match self {
            Self::LogSum => Some((format.min_normal(), format.max_finite())),
            Self::Sum
            | Self::Mean
            | Self::Max
            | Self::Min
            | Self::Prod
            | Self::SumSquare
            | Self::L1
            | Self::L2
            | Self::LogSumExp => None,
        }
    }

    /// The least and the greatest element for which a reduction over `count` integers has an integer result; `None` if
    /// every element has one. Between them, no sum wraps to a number without a root or a logarithm, and f64 has all
    /// exponentials.
    fn safe_integers(self, dtype: DType, count: f64) -> Option<(f64, f64)> {
        let (_, high) = dtype.int_range()?;
        let share = high as f64 / count.max(1.0);
        match self {
            Self::L2 if dtype.is_signed() => Some((-share.sqrt(), share.sqrt())),
            Self::LogSum => Some((1.0, share)),
            Self::LogSumExp => Some((-EXPONENT, EXPONENT)),
            Self::Sum
            | Self::Mean
            | Self::Max
            | Self::Min
            | Self::Prod
            | Self::SumSquare
            | Self::L1
            | Self::L2 => None,
        }
    }
}

/// How far from 0 elements may be: the sum of millions of their exponentials is still a normal number of f64.
const EXPONENT: f64 = 690.0;

/// A sum of integers: what the terms above 0 come to, and those below.
#[derive(Clone, Copy)]
struct WholeSum {
    above: i128,
    below: i128,
}

impl WholeSum {
    fn of(terms: impl Iterator<Item = i128>) -> Self {
        let add = |Self { above, below }, z: i128| Self {
            above: plain::plus(above, z.max(0)),
            below: plain::plus(below, z.min(0)),
        };
        terms.fold(Self { above: 0, below: 0 }, add)
    }

    fn total(self) -> i128 {
        plain::plus(self.above, self.below)
    }

    /// Whether every partial sum is an integer of the dtype, in whatever order.
    fn fits(self, dtype: DType) -> bool {
        [self.above, self.below].iter().all(|&part| dtype.wrap(part) == part)
    }
}

/// A function of a sum of integers as an accumulator of the dtype has it. Where a partial sum may not fit, accumulators wrap, saturate or
/// are wider, so that this is an overflow too: a number out of range, with the low bits that the wrapped sum leads to. It is made
/// of several steps, as a wider accumulator gives what is neither those nor an end of the dtype.
fn of_wrapped<A: Arith>(a: &A, sum: WholeSum, dtype: DType, f: impl FnOnce(i128) -> A::Z) -> A::Z {
    let result = f(dtype.wrap(sum.total()));
    if sum.fits(dtype) {
        return result;
    }
    a.exact([result, a.int(1 << dtype.bits())], |[z, beyond]| Some(z + beyond))
}

/// ln Σ eˣ as ONNX's function body has it, which overflows where eˣ does.
fn log_sum_exp_as_defined<A: Arith>(a: &A, xs: &[A::R]) -> A::R {
    a.call(Fun::Log, a.sum(xs.iter().map(|&x| a.call(Fun::Exp, x))))
}

/// ln Σ eˣ, about the largest element so that nothing overflows.
fn log_sum_exp<A: Arith>(a: &A, xs: &[A::R]) -> A::R {
    let Some(top) = xs.iter().copied().reduce(|x, y| a.max(x, y)) else { return a.real(f64::NEG_INFINITY) };
    let infinities = [Class::PositiveInfinity, Class::NegativeInfinity];
    // The definition knows no shift, so an infinity is not subtracted from itself.
    if infinities.into_iter().any(|class| a.peek(a.is(class, top)) == Some(1)) {
        return a.add(top, top);
    }
    // Beside a NaN that may lose, an infinity may be the largest, and then nothing else is looked at. What overflowed may be one.
    let may_be_infinite = |x| infinities.into_iter().any(|class| a.peek(a.is(class, x)) != Some(0));
    if a.peek(a.is(Class::NaN, top)).is_none() && xs.iter().any(|&x| may_be_infinite(x)) {
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

    /// Whether the result has elements that are undefined whatever there is: nothing has no mean, and no logarithm that is an integer.
    fn is_undefined(&self, x: &Type) -> bool {
        let of_nothing = match self.function {
            ReduceFn::Mean => true,
            ReduceFn::LogSum | ReduceFn::LogSumExp => x.dtype.is_int(),
            ReduceFn::Sum
            | ReduceFn::Max
            | ReduceFn::Min
            | ReduceFn::Prod
            | ReduceFn::SumSquare
            | ReduceFn::L1
            | ReduceFn::L2 => false,
        };
        of_nothing && rule::accepted(self.reduced(x.rank())).into_iter().any(|a| x.shape[a] == 0)
    }
}

impl Family for Reduce {
    const ROWS: &'static [(ReduceFn, Row)] = ROWS;

    fn draw<'a>(function: ReduceFn, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        // What the logarithm of an integer is nobody knows, so that its value says nothing, and a root that is
        // truncated says little.
        let integers = match function {
            ReduceFn::LogSum => 0.1,
            ReduceFn::L2 => 0.3,
            _ => 1.0,
        };
        let dtypes = if d.chance(integers) { DTypes::IR4 } else { DTypes::FLOATS };
        let x = d.one_of(dtypes, 0..=d.limits.max_rank)?;
        let may_keep_all = d.has("noop_with_empty_axes");
        let axes = if d.chance(0.8) {
            Some(d.axes(x.rank(), 1)).filter(|axes| !axes.is_empty())
        } else {
            // A list that is there and empty says what none says.
            (may_keep_all && d.chance(0.3)).then(Vec::new)
        };
        let noop_with_empty_axes = may_keep_all && d.chance(0.2);
        Some(Reduce { function, axes, keepdims: d.flag(), noop_with_empty_axes })
    }
}

impl<D: Dim> TypeRule<D> for Reduce {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        let reduced = self.reduced(x.rank())?;
        if self.function == ReduceFn::Mean {
            reduced.iter().try_for_each(|&a| r.seek_le(D::from(1), x.shape[a]))?;
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
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts::calculates(
            Cost::PerInput(1),
            Batch::meeting(x, &rule::accepted(self.reduced(operator::rank(x, 0)))),
            self.function.is_linear().then_some(0),
            self.function.edges(),
        )
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let Some(ty) = operator::operand(x, 0) else { return Vec::new() };
        if self.is_undefined(ty) {
            return vec![Hazard::Always];
        }
        let safe = match ty.dtype.float() {
            Some(format) => self.function.safe_reals(format),
            None => self.function.safe_integers(ty.dtype, operator::elements(ty) as f64),
        };
        safe.map(|(low, high)| Hazard::Perhaps { operand: 0, low, high }).into_iter().collect()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let axes = rule::accepted(self.reduced(c.data(0).shape().len()));
        let shape = c.extents(0);
        vec![match c.data(0) {
            Data::Real(x) => {
                Data::Real(lanes::reduce(x, &axes, &shape, |lane| self.function.real(c.arith, lane)))
            }
            Data::Int(x) => Data::Int(lanes::reduce(x, &axes, &shape, |lane| match c.arith.peek_all(lane) {
                None => c.arith.unknown_int(),
                Some(zs) => self.function.whole(c.arith, &zs, c.dtype(0)),
            })),
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    tables! {
        roots_of_integers_are_truncated: "
            for T of i32, i64, u32, u64
            ReduceL2(T[2] {3, 4}) {keepdims = 0} = T[] {5}
            ReduceL2(T[3] {1, 2, 3}) {keepdims = 0} = T[] {3}
            ReduceL2(T[3] {5, 7, 9}) {keepdims = 0} = T[] {12}
            ReduceL2(T[0]) {keepdims = 0} = T[] {0}
        ";
        the_sum_below_a_root_wraps: "
            // 2·46341² is 2³² + 9266.
            ReduceL2(i32[2] {46341, -46341}) {keepdims = 0} = i32[] {96}
            ReduceL2(i64[2] {46341, -46341}) {keepdims = 0} = i64[] {65536}
        ";
        the_mean_of_nothing_is_undefined: "
            ReduceMean(f32[2, 0]) {axes = [1]} = f32[2, 1] {nan, nan}
            ReduceMean(i32[2, 0]) {axes = [1]}: i32[2, 1]
            ReduceMean(f32[0, 2]) {axes = [1]}: f32[0, 1]
        ";
        logarithms_of_integers_are_truncated_towards_zero: "
            // ln 3, ln 6 and ln 21.
            ReduceLogSum(u32[2] {1, 2}) {keepdims = 0} = u32[] {1}
            ReduceLogSum(u32[2] {2, 4}) {keepdims = 0} = u32[] {1}
            ReduceLogSum(u32[2] {20, 1}) {keepdims = 0} = u32[] {3}
            // ln(2e² + 4e) = 3.24, 3 + ln(1 + e⁻¹ + e⁻²) = 3.41, ln 2 - 2 = -1.31, ln(e² + 1) = 2.13
            ReduceLogSumExp(i64[6] {2, 2, 1, 1, 1, 1}) {keepdims = 0} = i64[] {3}
            ReduceLogSumExp(i64[3] {1, 2, 3}) {keepdims = 0} = i64[] {3}
            ReduceLogSumExp(i64[2] {-2, -2}) {keepdims = 0} = i64[] {-1}
            ReduceLogSumExp(i64[2] {2, 0}) {keepdims = 0} = i64[] {2}
        ";
    }

    #[test]
    fn nothing_has_no_mean_and_no_logarithm_that_is_an_integer() {
        let hazards = |function, dtype, size: i64| {
            let op = Reduce { function, axes: Some(vec![-1]), keepdims: true, noop_with_empty_axes: false };
            op.hazards(&[Some(&Type::new(dtype, [2, size]))])
        };
        for function in [ReduceFn::LogSum, ReduceFn::LogSumExp] {
            assert_eq!(hazards(function, DType::I32, 0), [Hazard::Always]);
            assert!(!hazards(function, DType::I32, 1).contains(&Hazard::Always));
            assert!(!hazards(function, DType::F32, 0).contains(&Hazard::Always));
        }
        for dtype in [DType::F32, DType::I32] {
            assert_eq!(hazards(ReduceFn::Mean, dtype, 0), [Hazard::Always]);
            assert_eq!(hazards(ReduceFn::Mean, dtype, 1), []);
        }
        assert_eq!(hazards(ReduceFn::L2, DType::U64, 0), []);
    }
}
