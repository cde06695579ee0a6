//! Gelu: x weighted by the normal distribution's cumulative function, exact or through tanh.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

use crate::prelude::*;

attributes! {
    /// x·Φ(x), where Φ is the distribution function of the normal distribution, or an approximation by tanh.
    ///
    /// `x: any shape, floats → y: as x`
    ///
    /// x/2·(1 + erf(x/√2)), or x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
    ///
    /// ONNX: [Gelu](https://onnx.ai/onnx/operators/onnx__Gelu.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Gelu {
        /// Whether `approximate` is `tanh` instead of `none`.
        pub tanh: bool as "approximate" { "none" => false, "tanh" => true } = false,
    }
}

impl Single for Gelu {
    const ROW: Row = Row::new("Gelu");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(0..=d.limits.max_rank)?;
        Some(Gelu { tanh: d.flag() })
    }
}

impl Gelu {
    /// As written, 1 + erf or tanh cancels for negative x. The value is that of a formula that does not: 1 + erf z is
    /// erfc -z, and 1 + tanh z is 2/(1 + e⁻²ᶻ).
    fn real<A: Arith>(self, a: &A, x: A::R, dtype: DType) -> A::R {
        let half = a.mul(a.real(0.5), x);
        let as_written = |inner: A::R| a.mul(half, a.add(a.real(1.0), inner));
        if self.tanh {
            let z = by_tanh(a, x, dtype);
            let twice = a.mul(a.real(2.0), z);
            a.either(a.mul(x, a.call(Fun::Sigmoid, twice)), || as_written(a.call(Fun::Tanh, z)))
        } else {
            let z = a.mul(x, a.real(FRAC_1_SQRT_2));
            let complement = a.call(Fun::Erfc, a.neg(z));
            a.either(a.mul(half, complement), || as_written(a.call(Fun::Erf, z)))
        }
    }
}

/// √(2/π)·(x + 0.044715·x³)
fn by_tanh<A: Arith>(a: &A, x: A::R, dtype: DType) -> A::R {
    let cube = a.mul(x, a.mul(x, x));
    let curve =
        |two_by_pi: f64, third: f64| a.mul(a.real(two_by_pi.sqrt()), a.add(x, a.mul(a.real(third), cube)));
    let by_formula = curve(FRAC_2_PI, 0.044_715);
    // In the function body both constants are f32, whatever x is.
    let by_body = || curve(f64::from(FRAC_2_PI as f32), f64::from(0.044_715_f32));
    if dtype == DType::F64 { a.either(by_formula, by_body) } else { by_formula }
}

impl<D: Dim> TypeRule<D> for Gelu {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.need(0)?.clone()])
    }
}

impl Operator for Gelu {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let cost = Cost::PerOutput(if self.tanh { 9 } else { 5 });
        Facts::calculates(cost, Batch::meeting(x, &[]), None, vec![(0, Edge::Saturation)])
    }

    /// Far out, the tangent is a quotient of infinities where it is one of exponentials, as WGSL has it.
    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let format = operator::dtype(x, 0).and_then(DType::float);
        let Some(format) = format.filter(|_| self.tanh) else { return Vec::new() };
        // Where √(2/π)·0.044715·x³, the most of the argument there, is the largest exponent of e.
        let far = libm::cbrt(libm::log(format.max_finite()) / (FRAC_2_PI.sqrt() * 0.044_715));
        let high = (far - 1.0).floor();
        vec![Hazard::Far { operand: 0, low: -high, high }]
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![Data::Real(lanes::each(c.real(0), |x| self.real(c.arith, x, c.dtype(0))))]
    }
}

#[cfg(test)]
tables! {
    both_forms_give_the_published_values: "
        x = f64[3] {-1, 0, 1}
        Gelu(x) ≈ f64[3] {-0.158655253931457, 0, 0.841344746068543}
        Gelu(x) {approximate = 'tanh'} ≈ f64[3] {-0.158808009391723, 0, 0.841191990608277}
    ";
    /// -9·Φ(-9), Φ(-9) being 1.128588405953840e-19 (tables of the normal distribution); by tanh -9/(1 + exp(2·√(2/π)·41.597235)).
    values_far_below_zero_do_not_cancel: "
        Gelu(f64[1] {-9}) ≈ f64[1] {-1.015729565358456e-18}
        Gelu(f64[1] {-9}) {approximate = 'tanh'} ≈ f64[1] {-1.336459594734881e-28}
    ";
}
