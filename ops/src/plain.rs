//! The plainest number system: `f64` and `i128`, no bounds.
//!
//! Long sums are compensated, so that a sum of `f64` elements is as good as one in twice the precision
//! (Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26, 2005). With that, every step
//! of the reference is correctly rounded in `f64` or one ULP off it, and no double-double type is needed. Sums of products
//! of narrower elements are plain `f64` sums, which are far better than what they judge and can be made many at a time
//! (`docs/decisions/plain-dots.md`).

use std::cell::Cell;

use ir::format::FloatFormat;
use ir::graph::OPSETS;
use ir::round::round_to;
use ir::{DType, DTypes, Tensor, Type};
use ndarray::{ArrayD, ArrayView2, IxDyn};

use crate::arith::{self, Arith, Class, Comparison, Fun, Step};
use crate::data::{Call, Data};
use crate::list::Op;
use crate::matrix;
use crate::operator::Operator;

/// Values without bounds. Undefined reals are NaN, undefined integers 0; nothing is undecidable.
#[derive(Clone, Copy, Debug)]
pub struct Plain<'u> {
    /// The float dtype of the node: integers convert to it. Non-float where no real number occurs.
    dtype: DType,
    /// Who counts undefined steps, if anybody does.
    undefined: Option<&'u Undefined>,
}

/// How many steps on integers were undefined.
///
/// An undefined real is NaN, which the results show. An undefined integer is a number like any other, so it has to be counted
/// where it arises: a division by zero, a shift by too much, a cast out of range. An index out of range leaves every integer open, and
/// is told by its [`Hazard`](crate::Hazard) instead.
#[derive(Default, Debug)]
pub struct Undefined(Cell<usize>);

impl Undefined {
    /// The count since the last look.
    pub fn take(&self) -> usize {
        self.0.take()
    }

    fn one_more(&self) {
        self.0.set(self.0.get() + 1);
    }
}

/// A sum under way, twice: compensated, and as a loop over the terms has it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Total {
    high: f64,
    low: f64,
    /// The sum in the order of its terms, each addition rounded.
    pub plain: f64,
}

impl Total {
    /// Adds a term, and what was lost when it was rounded.
    pub fn add(&mut self, term: f64, rest: f64) {
        let (sum, error) = two_sum(self.high, term);
        self.high = sum;
        self.low += error + rest;
        self.plain += term;
    }

    /// Adds x·y.
    pub fn add_product(&mut self, x: f64, y: f64) {
        let product = x * y;
        self.add(product, x.mul_add(y, -product));
    }

    /// The sum as if made in twice the precision and rounded once. Compensation turns an infinite one into NaN; then the
    /// plain one is right.
    pub fn compensated(&self) -> f64 {
        let compensated = self.high + self.low;
        if compensated.is_finite() { compensated } else { self.plain }
    }
}

/// x + y of integers, as `times` has products.
pub fn plus(x: i128, y: i128) -> i128 {
    x.checked_add(y).unwrap_or_else(|| beyond(x.wrapping_add(y), x < 0))
}

/// x · y of integers. Of one that 128 bits do not hold, the low 64 bits and the sign are right, and it is beyond every
/// dtype: so that its overflow is seen whatever a product of many factors leaves in the low bits.
pub fn times(x: i128, y: i128) -> i128 {
    x.checked_mul(y).unwrap_or_else(|| beyond(x.wrapping_mul(y), (x < 0) != (y < 0)))
}

fn beyond(wrapped: i128, is_negative: bool) -> i128 {
    let low_bits = wrapped & i128::from(u64::MAX);
    if is_negative { low_bits - (1 << 100) } else { low_bits + (1 << 100) }
}

/// Σ x, compensated.
pub fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let mut total = Total::default();
    terms.for_each(|x| total.add(x, 0.0));
    total.compensated()
}

/// a + b and its rounding error (Knuth).
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// The smaller of two numbers, or NaN; -0 counts as smaller than 0.
pub fn min(x: f64, y: f64) -> f64 {
    -max(-x, -y)
}

/// The larger of two numbers, or NaN; 0 counts as larger than -0.
pub fn max(x: f64, y: f64) -> f64 {
    match x.partial_cmp(&y) {
        Some(std::cmp::Ordering::Less) => y,
        Some(std::cmp::Ordering::Greater) => x,
        Some(std::cmp::Ordering::Equal) => {
            if x.is_sign_negative() {
                y
            } else {
                x
            }
        }
        None => f64::NAN,
    }
}

/// xʸ: correctly rounded for the exponents that norms have, else as libm has it, which is one ULP off at most.
pub fn pow(x: f64, y: f64) -> f64 {
    match y {
        1.0 => x,
        2.0 => x * x,
        // The root of -0 would be -0, and that of -∞ NaN.
        0.5 if x > 0.0 => x.sqrt(),
        _ => libm::pow(x, y),
    }
}

/// The position of the largest number, NaN counting as largest; the first or the last of equal ones.
pub fn arg_max(xs: &[f64], last: bool) -> usize {
    let mut best = 0;
    for (i, &x) in xs.iter().enumerate().skip(1) {
        let b = xs[best];
        let (greater, equal) = (x > b || (x.is_nan() && !b.is_nan()), x == b || (x.is_nan() && b.is_nan()));
        if greater || (last && equal) {
            best = i;
        }
    }
    best
}

impl<'u> Plain<'u> {
    /// The system for a node that calculates in a dtype.
    pub const fn new(dtype: DType) -> Self {
        Self { dtype, undefined: None }
    }

    /// The same, where undefined steps are counted.
    pub const fn counting(dtype: DType, undefined: &'u Undefined) -> Self {
        Self { dtype, undefined: Some(undefined) }
    }

    fn count(&self) {
        if let Some(undefined) = self.undefined {
            undefined.one_more();
        }
    }

    /// Whether sums of products are compensated.
    pub fn is_compensated(self) -> bool {
        self.dtype.float().is_none_or(|format| format == FloatFormat::F64)
    }
}

impl Arith for Plain<'_> {
    type R = f64;
    type Z = i128;

    fn within(&self, dtype: DType) -> Self {
        Self { dtype, ..*self }
    }
    fn real(&self, v: f64) -> f64 {
        v
    }
    fn int(&self, v: i128) -> i128 {
        v
    }
    fn add(&self, x: f64, y: f64) -> f64 {
        x + y
    }
    fn sub(&self, x: f64, y: f64) -> f64 {
        x - y
    }
    fn stored(&self, x: f64) -> f64 {
        ir::round::round_to(self.dtype, x)
    }
    fn mul(&self, x: f64, y: f64) -> f64 {
        x * y
    }
    fn div(&self, x: f64, y: f64) -> f64 {
        x / y
    }
    fn neg(&self, x: f64) -> f64 {
        -x
    }
    fn abs(&self, x: f64) -> f64 {
        x.abs()
    }
    fn min(&self, x: f64, y: f64) -> f64 {
        min(x, y)
    }
    fn max(&self, x: f64, y: f64) -> f64 {
        max(x, y)
    }
    fn call(&self, f: Fun, x: f64) -> f64 {
        f.value(x)
    }
    fn step(&self, f: Step, x: f64) -> f64 {
        f.value(x)
    }
    fn pow(&self, x: f64, y: f64) -> f64 {
        pow(x, y)
    }
    fn fmod(&self, x: f64, y: f64) -> f64 {
        libm::fmod(x, y)
    }
    fn sum(&self, terms: impl Iterator<Item = f64>) -> f64 {
        sum(terms)
    }
    fn running_sums(&self, terms: &[f64]) -> Vec<f64> {
        let mut total = Total::default();
        let next = terms.iter().map(|&x| {
            total.add(x, 0.0);
            total.compensated()
        });
        std::iter::once(sum(std::iter::empty())).chain(next).collect()
    }
    fn dot(&self, terms: impl Iterator<Item = (f64, f64)>) -> f64 {
        let mut total = Total::default();
        terms.for_each(|(x, y)| total.add_product(x, y));
        if self.is_compensated() { total.compensated() } else { total.plain }
    }
    fn dots(
        &self,
        a: &ArrayView2<'_, f64>,
        b: &ArrayView2<'_, f64>,
        addend: impl Fn(usize, usize) -> Option<f64>,
    ) -> Vec<f64> {
        if self.is_compensated() {
            return arith::each_dot(self, a, b, addend);
        }
        let mut sums = matrix::product(a, b);
        for (i, row) in sums.chunks_exact_mut(b.ncols().max(1)).enumerate() {
            for (j, sum) in row.iter_mut().enumerate() {
                if let Some(addend) = addend(i, j) {
                    *sum += addend;
                }
            }
        }
        sums
    }
    fn product(&self, terms: impl Iterator<Item = f64>) -> f64 {
        terms.product()
    }
    fn compare(&self, c: Comparison, x: f64, y: f64) -> i128 {
        c.holds(x, y).into()
    }
    fn is(&self, class: Class, x: f64) -> i128 {
        class.holds(x).into()
    }
    fn select(&self, condition: i128, x: f64, y: f64) -> f64 {
        if condition == 0 { y } else { x }
    }
    fn truncate(&self, x: f64, to: DType) -> i128 {
        let whole = x as i128;
        let z = to.int_range().map_or(whole, |(low, high)| whole.clamp(low, high));
        // The largest integer of 64 bits is 2^63 - 1, which as a float is 2^63 again: the clamp must be seen on integers.
        if z != whole || x.trunc() != whole as f64 {
            self.count();
        }
        z
    }
    fn bits(&self, x: f64, dtype: DType) -> i128 {
        coded(dtype, x)
    }
    fn convert(&self, z: i128) -> f64 {
        // What is stored is rounded to the dtype, which rounds a wide integer the second time.
        if self.dtype == DType::F64 { z as f64 } else { to_odd(z) }
    }
    fn arg_max(&self, xs: &[f64], last: bool) -> i128 {
        arg_max(xs, last) as i128
    }
    fn exact<const N: usize>(&self, zs: [i128; N], f: impl Fn([i128; N]) -> Option<i128>) -> i128 {
        f(zs).unwrap_or_else(|| {
            self.count();
            0
        })
    }
    fn peek(&self, z: i128) -> Option<i128> {
        Some(z)
    }
    fn unknown_real(&self) -> f64 {
        f64::NAN
    }
    fn unknown_int(&self) -> i128 {
        0
    }
    fn undefined_real(&self) -> f64 {
        f64::NAN
    }
    // Where an operator leaves every integer open, no values would help; so this is not counted.
    fn undefined_int(&self) -> i128 {
        0
    }
    fn unspecified(&self, one: f64) -> f64 {
        one
    }
    fn unspecified_int(&self, one: i128) -> i128 {
        one
    }
}

/// An integer as a number of f64 that rounds to each narrower format as the integer does: where it is between two
/// numbers, that of these which is odd (S. Boldo and G. Melquiond, Emulation of FMA and correctly rounded sums, 2008).
fn to_odd(z: i128) -> f64 {
    let nearest = z as f64;
    if nearest as i128 == z {
        return nearest;
    }
    let is_away_from_zero = (nearest as i128).unsigned_abs() > z.unsigned_abs();
    let towards_zero = nearest.to_bits() - u64::from(is_away_from_zero);
    f64::from_bits(towards_zero | 1)
}

/// The bits of a number of a float dtype, as an integer from 0 on.
pub fn coded(dtype: DType, x: f64) -> i128 {
    let bytes = Tensor::from_f64_fn(&Type::new(dtype, []), |_| x).to_bytes();
    bytes.iter().rev().fold(0, |code, &byte| code << u8::BITS | i128::from(byte))
}

/// The number of a float dtype that has the low bits of an integer.
#[allow(clippy::missing_panics_doc, reason = "as many bytes are taken as a number has")]
pub fn decoded(dtype: DType, code: i128) -> f64 {
    let bytes = &code.to_le_bytes()[..dtype.whole_bytes()];
    Tensor::from_bytes(&Type::new(dtype, []), bytes).expect("as many bytes as a number has").to_f64s()[0]
}

/// A tensor's elements as plain numbers.
#[allow(clippy::missing_panics_doc, reason = "a tensor has as many elements as its shape has places")]
pub fn load<'u>(tensor: &Tensor) -> Data<Plain<'u>> {
    let shape = IxDyn(tensor.shape());
    let expect = "a tensor has as many elements as its shape has places";
    if tensor.dtype().is_float() {
        Data::Real(ArrayD::from_shape_vec(shape, tensor.to_f64s()).expect(expect))
    } else {
        Data::Int(ArrayD::from_shape_vec(shape, tensor.to_i128s()).expect(expect))
    }
}

/// Plain numbers as a tensor, rounded or wrapped to the type's dtype.
///
/// # Panics
/// If there are fewer than the type has places.
pub fn store(data: &Data<Plain<'_>>, ty: &Type) -> Tensor {
    let expect = "a meaning gives as many elements as its type has";
    match data {
        Data::Real(a) => {
            let mut items = a.iter();
            Tensor::from_f64_fn(ty, |_| *items.next().expect(expect))
        }
        Data::Int(a) => {
            let mut items = a.iter();
            Tensor::from_i128_fn(ty, |_| *items.next().expect(expect))
        }
    }
}

/// The float dtype in which a node calculates: that of its first output, or else of its first operand. Floats that are only
/// stored do not count.
pub fn working_dtype(types: &[Option<&Type>], outputs: &[Type]) -> DType {
    let all = outputs.iter().chain(types.iter().copied().flatten()).map(|t| t.dtype);
    all.into_iter().find(|&d| DTypes::FLOATS.contains(d)).unwrap_or(DType::I64)
}

/// Rounds or wraps every element to the dtype, as storing it does.
pub fn settle(data: &mut Data<Plain<'_>>, dtype: DType) {
    match data {
        Data::Real(a) => a.mapv_inplace(|v| round_to(dtype, v)),
        Data::Int(a) => a.mapv_inplace(|v| dtype.wrap(v)),
    }
}

/// What an operator means in plain numbers. It is compiled here, once: every crate that asks an [`Op`] itself compiles
/// all operators anew.
pub fn eval<'u>(op: &Op, call: &Call<'_, Plain<'u>>) -> Vec<Data<Plain<'u>>> {
    op.eval(call)
}

/// The value of one operator on tensors whose types its rule accepts, and which give outputs of these types.
pub fn evaluate(op: &Op, operands: &[Option<&Tensor>], outputs: &[Type]) -> Vec<Tensor> {
    evaluate_by(&|call| eval(op, call), operands, outputs)
}

/// The value of one operator that [reads](crate::operator::Reads) types alone, on operands of these types.
pub fn of_types(op: &Op, types: &[Option<&Type>], outputs: &[Type]) -> Vec<Tensor> {
    run(&|call| eval(op, call), types, &vec![None; types.len()], outputs)
}

/// A meaning in plain numbers.
pub(crate) type Meaning<'m> = &'m dyn Fn(&Call<'_, Plain<'static>>) -> Vec<Data<Plain<'static>>>;

/// What a meaning gives on tensors.
pub(crate) fn evaluate_by(
    meaning: Meaning<'_>,
    operands: &[Option<&Tensor>],
    outputs: &[Type],
) -> Vec<Tensor> {
    let types: Vec<Option<Type>> = operands.iter().map(|t| t.map(Tensor::ty)).collect();
    let types: Vec<Option<&Type>> = types.iter().map(Option::as_ref).collect();
    let data: Vec<Option<Data<Plain<'static>>>> = operands.iter().map(|t| t.map(load)).collect();
    let inputs: Vec<Option<&Data<Plain<'static>>>> = data.iter().map(Option::as_ref).collect();
    run(meaning, &types, &inputs, outputs)
}

fn run(
    meaning: Meaning<'_>,
    types: &[Option<&Type>],
    inputs: &[Option<&Data<Plain<'static>>>],
    outputs: &[Type],
) -> Vec<Tensor> {
    let arith = Plain::new(working_dtype(types, outputs));
    let results = meaning(&Call { arith: &arith, inputs, types, outputs, opset: *OPSETS.end() });
    debug_assert_eq!(results.len(), outputs.len(), "the meaning has as many outputs as the type rule");
    let store = |(data, ty): (&Data<Plain<'_>>, &Type)| {
        debug_assert_eq!(data.shape(), ty.extents(), "the meaning has the shape that the type rule has");
        store(data, ty)
    };
    results.iter().zip(outputs).map(store).collect()
}

#[cfg(test)]
mod tests;
