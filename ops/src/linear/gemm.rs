//! Gemm: alpha·A'·B' + beta·C, where A' and B' are A and B or their transposes.

use ndarray::{ArrayView2, CowArray, Ix2};
use std::cell::LazyCell;

use crate::linear::int_product;
use crate::prelude::*;

attributes! {
    /// alpha·A'·B' + beta·C, where A' and B' are A and B or their transposes.
    ///
    /// `A': [M, K], B': [K, N], C: broadcasts to [M, N] → Y: [M, N]`
    ///
    /// C may be absent. Where K is 0, the product is 0. What a factor of 0 stands before need not be read, be it NaN:
    /// so BLAS has it.
    ///
    /// On integers, the standard does not say how what a fractional alpha or beta gives is rounded, nor whether the
    /// factor is: the result is any number. Only whole ones are drawn there.
    ///
    /// ONNX: [Gemm](https://onnx.ai/onnx/operators/onnx__Gemm.html).
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Gemm {
        /// The factor of the product.
        pub alpha: f32 = 1.0,
        /// The factor of C.
        pub beta: f32 = 1.0,
        /// Whether A is transposed.
        pub trans_a: bool as "transA" = false,
        /// Whether B is transposed.
        pub trans_b: bool as "transB" = false,
    }
}

impl Single for Gemm {
    const ROW: Row = Row::new("Gemm");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let a = d.any(2..=2)?;
        if d.chance(0.3) {
            d.of(a.dtype, 2..=2)?;
        } else {
            d.fresh(a.dtype, 2);
        }
        if d.chance(0.7) {
            if d.chance(0.2) {
                d.of(a.dtype, 0..=2)?;
            } else {
                let rank = d.rank(0..=2)?;
                d.fresh(a.dtype, rank);
            }
        }
        let factors: &[f32] = if a.dtype.is_float() { &[0.5, 0.1, 2.0, -1.0, 0.0] } else { &[2.0, 3.0, 0.0] };
        let mut factor = || if d.chance(0.5) { Some(1.0) } else { d.choose(factors) };
        let (alpha, beta) = (factor()?, factor()?);
        Some(Gemm { alpha, beta, trans_a: d.flag(), trans_b: d.flag() })
    }
}

impl<D: Dim> TypeRule<D> for Gemm {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (a, b) = (x.ranked(0, 2..=2)?, x.ranked(1, 2..=2)?);
        let dtype = rule::same_dtype(&[a, b])?;
        let (m, k) = if self.trans_a { (a.shape[1], a.shape[0]) } else { (a.shape[0], a.shape[1]) };
        let (l, n) = if self.trans_b { (b.shape[1], b.shape[0]) } else { (b.shape[0], b.shape[1]) };
        r.eq(k, l)?;
        if let Some(c) = x.opt(2) {
            rule::same_dtype(&[a, c])?;
            rule::broadcast_to(r, &c.shape, &[m, n])?;
        }
        Ok(vec![Type::new(dtype, [m, n])])
    }
}

/// The operand or its transpose.
fn oriented<T>(x: &ArrayD<T>, transpose: bool) -> ArrayView2<'_, T> {
    let x = x.view().into_dimensionality::<Ix2>().expect("the type rule requires matrices");
    if transpose { x.reversed_axes() } else { x }
}

impl Gemm {
    fn real<A: Arith>(self, c: &Call<'_, A>) -> ArrayD<A::R> {
        let (a, shape) = (c.arith, c.extents(0));
        // A factor of 1 is no step.
        let scaled =
            |x: A::R, factor: f32| if factor == 1.0 { x } else { a.mul(a.real(f64::from(factor)), x) };
        let (left, right) = (oriented(c.real(0), self.trans_a), oriented(c.real(1), self.trans_b));
        let n = right.ncols();
        let addends: Option<Vec<A::R>> = c
            .opt_real(2)
            .map(|b| lanes::broadcast(b, &shape).iter().map(|&b| scaled(b, self.beta)).collect());
        let addend = |i, j| addends.as_ref().map(|addends| addends[i * n + j]);
        // An accumulator may start from the addend and take products that are scaled already, so both are terms. Or
        // the sum is scaled, or the other factor. Few number systems look at more than the first.
        let by_alpha = |x: &ArrayView2<'_, A::R>| x.mapv(|x| scaled(x, self.alpha));
        let scaled_left =
            if self.alpha == 1.0 { CowArray::from(left) } else { CowArray::from(by_alpha(&left)) };
        let sums = a.dots(&scaled_left.view(), &right, addend);
        let without_addend = LazyCell::new(|| a.dots(&scaled_left.view(), &right, |_, _| None));
        let unscaled = LazyCell::new(|| a.dots(&left, &right, |_, _| None));
        let other_scaled = LazyCell::new(|| a.dots(&left, &by_alpha(&right).view(), addend));
        let element = |(at, sum)| {
            let addend = addend(at / n, at % n);
            let sum = self.or_skipped(a, sum, || without_addend[at], addend);
            if self.alpha == 1.0 {
                return sum;
            }
            let sum = a.either(sum, || {
                let product = scaled(unscaled[at], self.alpha);
                addend.map_or(product, |addend| a.add(product, addend))
            });
            a.either(sum, || other_scaled[at])
        };
        lanes::array(&shape, sums.into_iter().enumerate().map(element).collect())
    }

    /// The sum, or what is left of it by the rule of BLAS: what a factor of 0 stands before is not read, be it NaN.
    fn or_skipped<A: Arith>(
        self,
        a: &A,
        sum: A::R,
        product: impl FnOnce() -> A::R,
        addend: Option<A::R>,
    ) -> A::R {
        let without_addend = if self.beta == 0.0 { a.or_folded(sum, product) } else { sum };
        if self.alpha != 0.0 {
            return without_addend;
        }
        let read = addend.filter(|_| self.beta != 0.0);
        a.or_folded(without_addend, || read.unwrap_or(a.real(0.0)))
    }

    fn int<A: Arith>(self, c: &Call<'_, A>) -> ArrayD<A::Z> {
        let (a, shape) = (c.arith, c.extents(0));
        let (alpha, beta) = (self.alpha as i128, self.beta as i128);
        let (left, right) = (oriented(c.int(0), self.trans_a), oriented(c.int(1), self.trans_b));
        let product = int_product(a, &left, &right);
        let product = product.into_iter().map(|p| a.exact([p], |[p]| Some(plain::times(p, alpha))));
        let product = lanes::array(&shape, product.collect());
        match c.opt_int(2) {
            Some(bias) => lanes::zip(&shape, &product, bias, |p, b| {
                a.exact([p, b], |[p, b]| Some(plain::plus(p, plain::times(b, beta))))
            }),
            None => product,
        }
    }
}

impl Operator for Gemm {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let depth = x[0].map_or(0, |a| a.shape[usize::from(!self.trans_a)].max(0) as u64);
        Facts::calculates(
            Cost::PerOutput(2 * depth + 3),
            Batch::Together,
            None,
            vec![(0, Edge::Stall), (1, Edge::Stall)],
        )
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        if c.is_real() {
            return vec![Data::Real(self.real(c))];
        }
        let y = Data::Int(self.int(c));
        let is_whole = self.alpha.fract() == 0.0 && (self.beta.fract() == 0.0 || c.opt_int(2).is_none());
        vec![if is_whole { y } else { y.unspecified(c.arith) }]
    }
}

#[cfg(test)]
tables! {
    transposes_factors_and_a_broadcast_addend: "
        for T of f32, i64
        a = T[3, 2] {1, 4, 2, 5, 3, 6}; b = T[2, 3] {1, 0, 1, 0, 1, 2}
        Gemm(a, b, T[2, 1] {10, 20}) {alpha = 2.0, beta = 3.0, transA = 1, transB = 1} = T[2, 2] {38, 46, 80, 94}
        Gemm(b, a) = T[2, 2] {4, 10, 8, 17}
        Gemm(b, a, T[2] {1, 2}) = T[2, 2] {5, 12, 9, 19}
        Gemm(a, a) is refused
        Gemm(b, a, T[1, 2, 2]) is refused
    ";
    no_products_leave_the_addend: "
        Gemm(f32[1, 0], f32[0, 2], f32[] {7}) = f32[1, 2] {7, 7}
    ";
}
