//! The number systems in which an operator's meaning is read.
//!
//! The reference semantics of an operator is written once, over any [`Arith`]. Read over plain numbers it gives
//! the value; over numbers with error bounds it gives the value, how far a correct implementation may be off and
//! whether the element is decidable; over a tape it gives gradients for value search. So an operator states its
//! error model, its hazards and its gradient by stating its meaning: they are those of the primitive steps it is
//! made of, and the accuracy of each step is data of a backend's profile. See `docs/decisions/one-meaning.md`.

use ir::DType;
use ir::round::Conversion;
use ndarray::ArrayView2;

/// A function of one real variable that a math library offers; its accuracy is stated by accuracy profiles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Fun {
    Sqrt,
    Exp,
    Log,
    /// eˣ - 1
    Expm1,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    /// 1 - erf x
    Erfc,
    /// 1 / (1 + e⁻ˣ)
    Sigmoid,
    /// ln(1 + eˣ)
    Softplus,
}

/// A function of one real variable with steps: exact where it is continuous, undecidable at its jumps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// To the integer below.
    Floor,
    /// To the integer above.
    Ceil,
    /// To the nearest integer, ties to even.
    Round,
    /// To the integer towards zero.
    Trunc,
    /// -1, 0 or 1; NaN stays NaN.
    Sign,
    /// To a number of a format that operators do not compute in.
    Convert(Conversion),
}

impl Fun {
    /// The function in `f64`, by `libm`: the same on every platform, and within a few ULP of `f64`.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Sqrt => libm::sqrt(x),
            Self::Exp => libm::exp(x),
            Self::Log => libm::log(x),
            Self::Expm1 => libm::expm1(x),
            Self::Log1p => libm::log1p(x),
            Self::Sin => libm::sin(x),
            Self::Cos => libm::cos(x),
            Self::Tan => libm::tan(x),
            Self::Asin => libm::asin(x),
            Self::Acos => libm::acos(x),
            Self::Atan => libm::atan(x),
            Self::Sinh => libm::sinh(x),
            Self::Cosh => libm::cosh(x),
            Self::Tanh => libm::tanh(x),
            Self::Asinh => libm::asinh(x),
            // `libm` cancels to something finite on some numbers below its domain.
            Self::Acosh if x < 1.0 => f64::NAN,
            Self::Acosh => libm::acosh(x),
            Self::Atanh => libm::atanh(x),
            Self::Erf => libm::erf(x),
            Self::Erfc => libm::erfc(x),
            // Both forms below are stable where the other overflows or cancels.
            Self::Sigmoid if x >= 0.0 => 1.0 / (1.0 + libm::exp(-x)),
            Self::Sigmoid => libm::exp(x) / (1.0 + libm::exp(x)),
            Self::Softplus if x.is_nan() => x,
            Self::Softplus => x.max(0.0) + libm::log1p(libm::exp(-x.abs())),
        }
    }
}

impl Step {
    /// The function in `f64`, exact.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Floor => x.floor(),
            Self::Ceil => x.ceil(),
            Self::Round => x.round_ties_even(),
            Self::Trunc => x.trunc(),
            Self::Sign if x == 0.0 || x.is_nan() => x,
            Self::Sign => x.signum(),
            Self::Convert(conversion) => conversion.of(x),
        }
    }
}

impl Class {
    /// Whether the number is of the class.
    pub fn holds(self, x: f64) -> bool {
        match self {
            Self::NaN => x.is_nan(),
            Self::PositiveInfinity => x == f64::INFINITY,
            Self::NegativeInfinity => x == f64::NEG_INFINITY,
        }
    }
}

/// How two numbers compare.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Comparison {
    /// a = b
    Equal,
    /// a < b
    Less,
    /// a ≤ b
    LessOrEqual,
    /// a > b
    Greater,
    /// a ≥ b
    GreaterOrEqual,
}

impl Comparison {
    /// Whether it holds; with a NaN it does not.
    pub fn holds<T: PartialOrd + Copy>(self, a: T, b: T) -> bool {
        match self {
            Self::Equal => a == b,
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterOrEqual => a >= b,
        }
    }
}

/// A class of floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Class {
    NaN,
    PositiveInfinity,
    NegativeInfinity,
}

/// A number system.
///
/// `R` stands for an element of a floating-point tensor, `Z` for one of an integer or `bool` tensor (truth is 0
/// or 1). Each method is one step that an implementation performs in the dtype of the node: it may round there.
/// Integer steps are exact and mathematical; the result is wrapped to the dtype when it is stored.
pub trait Arith {
    /// A real number.
    type R: Copy;
    /// An integer or truth value.
    type Z: Copy;

    /// This system for steps performed in another float dtype than the node's.
    #[must_use]
    fn within(&self, dtype: DType) -> Self
    where
        Self: Sized;

    /// The same for positions among elements, which some compute in a narrower dtype. Only the bounds of a profile that grants it
    /// look at that one.
    #[must_use]
    fn within_or(&self, dtype: DType, _narrower: DType) -> Self
    where
        Self: Sized,
    {
        self.within(dtype)
    }

    /// A number known exactly.
    fn real(&self, v: f64) -> Self::R;
    /// An integer known exactly.
    fn int(&self, v: i128) -> Self::Z;

    /// x + y
    fn add(&self, x: Self::R, y: Self::R) -> Self::R;
    /// x - y
    fn sub(&self, x: Self::R, y: Self::R) -> Self::R;
    /// x · y
    fn mul(&self, x: Self::R, y: Self::R) -> Self::R;
    /// x / y
    fn div(&self, x: Self::R, y: Self::R) -> Self::R;
    /// -x, exact
    fn neg(&self, x: Self::R) -> Self::R;
    /// |x|, exact
    fn abs(&self, x: Self::R) -> Self::R;
    /// The smaller one; NaN if either is.
    fn min(&self, x: Self::R, y: Self::R) -> Self::R;
    /// The larger one; NaN if either is.
    fn max(&self, x: Self::R, y: Self::R) -> Self::R;
    /// The smallest of numbers, compared in whatever order; NaN if any is.
    fn min_of(&self, first: Self::R, others: impl Iterator<Item = Self::R> + Clone) -> Self::R {
        others.fold(first, |x, y| self.min(x, y))
    }
    /// The largest of numbers, likewise.
    fn max_of(&self, first: Self::R, others: impl Iterator<Item = Self::R> + Clone) -> Self::R {
        others.fold(first, |x, y| self.max(x, y))
    }
    /// The number stored in the dtype of the node, after steps [`within`](Self::within) a wider one.
    fn round(&self, x: Self::R) -> Self::R {
        self.mul(x, self.real(1.0))
    }
    /// A number that is a result as well and goes on as it is stored. Only plain numbers round here: elsewhere the error of
    /// the step that made it has that.
    fn stored(&self, x: Self::R) -> Self::R {
        x
    }
    /// A sum of two terms, or their difference, as the result of an operator: where one is a constant, a later operator's factor may be
    /// folded into both. Only bounds for what folds look at that.
    fn foldable(&self, sum: Self::R, _terms: [Self::R; 2]) -> Self::R {
        sum
    }
    /// A number read in another way, which implementations use as well: a factor applied to a sum or to its
    /// terms. They part where a step between overflows, underflows or cancels. Only bounds look at both.
    fn either(&self, x: Self::R, _other: impl FnOnce() -> Self::R) -> Self::R {
        x
    }
    /// A number with factors and addends folded together, as optimisers do. That cancels elsewhere. Only bounds
    /// for what folds look at both.
    fn or_folded(&self, x: Self::R, _folded: impl FnOnce() -> Self::R) -> Self::R {
        x
    }
    /// A library function.
    fn call(&self, f: Fun, x: Self::R) -> Self::R;
    /// A step function.
    fn step(&self, f: Step, x: Self::R) -> Self::R;
    /// x to the power y.
    fn pow(&self, x: Self::R, y: Self::R) -> Self::R;
    /// The remainder of x / y with the sign of x (C's `fmod`), exact where x and y are.
    fn fmod(&self, x: Self::R, y: Self::R) -> Self::R;
    /// The sum, in whatever order.
    fn sum(&self, terms: impl Iterator<Item = Self::R>) -> Self::R;
    /// The sums of no terms, of the first, of the first two …, each in whatever order. Number systems that do this
    /// faster give what each alone gives.
    fn running_sums(&self, terms: &[Self::R]) -> Vec<Self::R> {
        (0..=terms.len()).map(|count| self.sum(terms[..count].iter().copied())).collect()
    }
    /// The sum of products, in whatever order, fused or not.
    fn dot(&self, terms: impl Iterator<Item = (Self::R, Self::R)>) -> Self::R;
    /// The product of two matrices, in row-major order: the [`dot`](Self::dot) of each row with each column. An accumulator
    /// may start from an addend (of the row and the column with these numbers), so it is a term like the others. Number
    /// systems that do this faster give the same as [`each_dot`].
    fn dots(
        &self,
        a: &ArrayView2<'_, Self::R>,
        b: &ArrayView2<'_, Self::R>,
        addend: impl Fn(usize, usize) -> Option<Self::R>,
    ) -> Vec<Self::R>
    where
        Self: Sized,
    {
        each_dot(self, a, b, addend)
    }
    /// x·slope + (offset − centre·slope): how far x is from a centre, scaled and shifted by one multiplication and one addition.
    /// The slope is one number in both places, whatever its error.
    fn affine(&self, x: Self::R, centre: Self::R, slope: Self::R, offset: Self::R) -> Self::R {
        self.dot([(x, slope), (self.neg(centre), slope), (offset, self.real(1.0))].into_iter())
    }
    /// The mean of `count` terms as the normalisations take it: a sum divided, a running mean (Welford), or a mean
    /// and a second pass that corrects it. None of the latter is exact where the sum is.
    fn mean(&self, terms: impl Iterator<Item = Self::R>, count: usize) -> Self::R {
        self.div(self.sum(terms), self.real(count as f64))
    }
    /// The mean of `count` terms as the operators of that name take it: a sum divided, or a sum of terms that were.
    fn average(&self, terms: impl Iterator<Item = Self::R> + Clone, count: usize) -> Self::R {
        let count = self.real(count as f64);
        let shares = || self.sum(terms.clone().map(|x| self.div(x, count)));
        self.or_folded(self.div(self.sum(terms.clone()), count), shares)
    }
    /// The variance of elements about their mean as the normalisations take it: the mean of the squares of what the
    /// subtraction of the mean leaves, or a running one.
    fn variance(&self, lane: &[Self::R], mean: Self::R) -> Self::R {
        let centred = lane.iter().map(|&x| self.sub(x, mean)).map(|d| (d, d));
        self.div(self.dot(centred), self.real(lane.len() as f64))
    }
    /// The sums of products of one image with one filter, as an implementation has them that transforms both first
    /// (Winograd, FFT): its errors are relative to all of the image and the filter. Only bounds look at them.
    fn convolved(&self, _sums: &mut [Self::R], _image: &[Self::R], _filter: &[Self::R]) {}
    /// The determinant of a matrix of so many rows, as elimination by rows gives it that brings the largest element of what
    /// is left of each column to its diagonal.
    fn determinant(&self, matrix: &[Self::R], rows: usize) -> Self::R
    where
        Self: Sized,
    {
        elimination(self, matrix, rows)
    }
    /// The product, in whatever order.
    fn product(&self, terms: impl Iterator<Item = Self::R>) -> Self::R;

    /// Whether the comparison holds.
    fn compare(&self, c: Comparison, x: Self::R, y: Self::R) -> Self::Z;
    /// Whether the number is of the class.
    fn is(&self, class: Class, x: Self::R) -> Self::Z;
    /// `x` where the condition is not 0, else `y`.
    fn select(&self, condition: Self::Z, x: Self::R, y: Self::R) -> Self::R;
    /// Of integers: `x` where the condition is not 0, else `y`.
    fn select_int(&self, condition: Self::Z, x: Self::Z, y: Self::Z) -> Self::Z {
        self.exact([condition, x, y], |[condition, x, y]| Some(if condition == 0 { y } else { x }))
    }
    /// The number converted to an integer dtype: truncated towards zero. Out of range or NaN is undefined.
    fn truncate(&self, x: Self::R, to: DType) -> Self::Z;
    /// A power of an integer, computed in floats and truncated. Only bounds know that some of these are exact.
    fn truncated_power(&self, base: Self::Z, exponent: Self::R, to: DType) -> Self::Z {
        self.truncate(self.pow(self.convert(base), exponent), to)
    }
    /// The bits of the number as a float dtype stores it, as an integer from 0 on.
    fn bits(&self, x: Self::R, dtype: DType) -> Self::Z;
    /// The number that stands in the low bits of an integer, as a function of it tells. NaN and infinities are results of a
    /// step: a device may promise nothing of them. Only bounds know integers that are open.
    fn of_bits(&self, bits: Self::Z, number: impl Fn(i128) -> f64) -> Self::R {
        match self.peek(bits).map(number) {
            Some(x) if x.is_finite() => self.real(x),
            Some(x) => self.mul(self.real(x), self.real(1.0)),
            None => self.unknown_real(),
        }
    }
    /// The integer as a real number, rounded to the float dtype of the node.
    fn convert(&self, z: Self::Z) -> Self::R;
    /// The position of the largest number; the first or the last of equal ones. NaN counts as largest.
    fn arg_max(&self, xs: &[Self::R], last: bool) -> Self::Z;

    /// An exact function of integers; undecidable if one of them is. `None` says that the function is undefined
    /// there (division by zero, a shift by too much).
    fn exact<const N: usize>(&self, zs: [Self::Z; N], f: impl Fn([i128; N]) -> Option<i128>) -> Self::Z;
    /// The integer, if it is decidable.
    fn peek(&self, z: Self::Z) -> Option<i128>;
    /// The integers, if all are decidable.
    fn peek_all<'a>(&self, zs: impl IntoIterator<Item = &'a Self::Z>) -> Option<Vec<i128>>
    where
        Self::Z: 'a,
    {
        zs.into_iter().map(|&z| self.peek(z)).collect()
    }
    /// A real number about which nothing is known, because something it depends on is undecidable.
    fn unknown_real(&self) -> Self::R;
    /// An integer about which nothing is known.
    fn unknown_int(&self) -> Self::Z;
    /// A real number that the specification leaves undefined (an index out of range, say).
    fn undefined_real(&self) -> Self::R;
    /// An integer that the specification leaves undefined.
    fn undefined_int(&self) -> Self::Z;
    /// One of several real numbers, where the specification does not say which. Unlike what is undefined, that may not
    /// be refused.
    fn unspecified(&self, one: Self::R) -> Self::R;
    /// One of several integers, likewise.
    fn unspecified_int(&self, one: Self::Z) -> Self::Z;
}

/// The dot of each row with each column, one by one: what [`Arith::dots`] means.
pub fn each_dot<A: Arith>(
    arith: &A,
    a: &ArrayView2<'_, A::R>,
    b: &ArrayView2<'_, A::R>,
    addend: impl Fn(usize, usize) -> Option<A::R>,
) -> Vec<A::R> {
    // Columns are read once for each row.
    let columns = b.t().as_standard_layout().into_owned();
    let mut dots = Vec::with_capacity(a.nrows() * b.ncols());
    for (i, row) in a.rows().into_iter().enumerate() {
        for (j, column) in columns.rows().into_iter().enumerate() {
            let addend = addend(i, j).map(|addend| (addend, arith.real(1.0)));
            dots.push(arith.dot(row.iter().copied().zip(column.iter().copied()).chain(addend)));
        }
    }
    dots
}

/// The determinant, by elimination with partial pivoting. Unknown where what is largest cannot be told.
pub fn elimination<A: Arith>(a: &A, matrix: &[A::R], rows: usize) -> A::R {
    let mut m = matrix.to_vec();
    let mut is_negative = false;
    for k in 0..rows {
        let column: Vec<A::R> = (k..rows).map(|r| a.abs(m[r * rows + k])).collect();
        let Some(place) = a.peek(a.arg_max(&column, false)) else { return a.unknown_real() };
        let from = k + place as usize;
        if from != k {
            (0..rows).for_each(|c| m.swap(from * rows + c, k * rows + c));
            is_negative = !is_negative;
        }
        let pivot = m[k * rows + k];
        if a.peek(a.compare(Comparison::Equal, pivot, a.real(0.0))) == Some(1) {
            return a.real(0.0);
        }
        for r in k + 1..rows {
            let factor = a.div(m[r * rows + k], pivot);
            for c in k + 1..rows {
                m[r * rows + c] = a.sub(m[r * rows + c], a.mul(factor, m[k * rows + c]));
            }
        }
    }
    let product = a.product((0..rows).map(|k| m[k * rows + k]));
    if is_negative { a.neg(product) } else { product }
}
