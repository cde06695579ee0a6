//! Pow: base to the power of an exponent, whose dtypes may differ.

use crate::prelude::*;

attributes! {
    /// The base to the power of the exponent.
    ///
    /// `x, exponent: shapes that broadcast → y: the common shape, of the dtype of x`
    ///
    /// Both may have different dtypes; an integer to the power of a float is computed in floats, then cast. A negative
    /// base has no power that is not whole, and 0 none that is negative: there the result is NaN or infinite for
    /// floats, and undefined for integers.
    ///
    /// ONNX: [Pow](https://onnx.ai/onnx/operators/onnx__Pow.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Pow;
}

impl Single for Pow {
    const ROW: Row = Row::new("Pow");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let base = d.any(0..=d.limits.max_rank)?;
        let allowed = d.allowed();
        let same = allowed.contains(base.dtype) && d.chance(0.6);
        let dtype = if same { base.dtype } else { d.dtype(allowed)? };
        d.broadcast_with(dtype, &base)?;
        Some(Pow)
    }
}

/// base^exponent by [`plain::times`], so that the dtype's wrapping gives the exact power's low bits; `None` for a
/// negative exponent, whose result no integer dtype has.
fn integer_power(base: i128, exponent: i128) -> Option<i128> {
    if exponent < 0 {
        return None;
    }
    let (mut result, mut square, mut bits) = (1i128, base, exponent);
    while bits > 0 {
        if bits & 1 == 1 {
            result = plain::times(result, square);
        }
        square = plain::times(square, square);
        bits >>= 1;
    }
    Some(result)
}

impl<D: Dim> TypeRule<D> for Pow {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (base, exponent) = (x.need(0)?, x.need(1)?);
        Ok(vec![Type::new(base.dtype, rule::broadcast_shapes(r, &[&base.shape, &exponent.shape])?)])
    }
}

impl Operator for Pow {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::calculates(Cost::PerOutput(1), Batch::Together, None, vec![(1, Edge::Powers)])
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let [base, exponent] = [0, 1].map(|i| operator::dtype(x, i).unwrap_or(DType::F32));
        match (base.float(), exponent.is_float()) {
            // A negative base has no real power in general, and 0 has no negative one.
            (Some(format), true) => {
                vec![Hazard::Perhaps { operand: 0, low: format.min_normal(), high: format.max_finite() }]
            }
            (Some(format), false) if exponent.is_signed() => {
                vec![Hazard::Perhaps { operand: 0, low: format.min_normal(), high: format.max_finite() }]
            }
            (Some(_), false) => Vec::new(),
            (None, true) => {
                let safe = |operand, low, high| Hazard::Perhaps { operand, low, high };
                vec![safe(0, 1.0, 4.0), safe(1, 0.0, 2.0)]
            }
            (None, false) => {
                // Beyond the width, every base but -1, 0 and 1 overflows.
                let width = f64::from(base.bits());
                vec![Hazard::Outside { operand: 1, low: 0.0, high: width - 1.0 }]
            }
        }
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, shape, dtype) = (c.arith, c.extents(0), c.outputs[0].dtype);
        vec![match (c.data(0), c.data(1)) {
            (Data::Real(x), Data::Real(y)) => Data::Real(lanes::zip(&shape, x, y, |x, y| a.pow(x, y))),
            (Data::Real(x), Data::Int(y)) => {
                Data::Real(lanes::zip(&shape, x, y, |x, y| a.pow(x, a.convert(y))))
            }
            (Data::Int(x), Data::Int(y)) => {
                Data::Int(lanes::zip(&shape, x, y, |x, y| a.exact([x, y], |[p, q]| integer_power(p, q))))
            }
            // ONNX: computed in floating point, then cast to the dtype of the base.
            (Data::Int(x), Data::Real(y)) => {
                Data::Int(lanes::zip(&shape, x, y, |x, y| a.truncated_power(x, y, dtype)))
            }
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    tables! {
        integer_powers_are_exact_and_wrap: "
            // 3⁴¹ is 36472996377170786403, less 2⁶⁵ it is -420491770248316829.
            x = i64[4] {3, -2, 3, 0}; y = u8[4] {39, 63, 41, 0}
            Pow(x, y) = i64[4] {4052555153018976267, -9223372036854775808, -420491770248316829, 1}
        ";
        the_result_has_the_dtype_of_the_base: "
            half = f32[] {0.5}; nine = i32[] {9}
            Pow(nine, half) = i32[] {3}
            Pow(f32[] {2}, nine) = f32[] {512}
            Pow(i32[] {10}, half) = i32[] {3}
        ";
    }

    #[test]
    fn no_integer_is_a_negative_power() {
        assert_eq!(integer_power(3, 39), Some(4_052_555_153_018_976_267));
        assert_eq!((integer_power(2, -1), integer_power(-1, i128::from(u64::MAX))), (None, Some(-1)));
    }
}
