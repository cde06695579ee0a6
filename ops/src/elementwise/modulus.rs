//! Mod: the remainder of a division, with the divisor's sign (Python's `%`) or the dividend's (C's `fmod`).

use crate::prelude::*;

attributes! {
    /// What a division leaves over.
    ///
    /// `a, b: shapes that broadcast → y: the common shape`
    ///
    /// With the sign of the divisor, as in Python; with `fmod`, that of the dividend, as in C. Dividing an integer by 0 is
    /// undefined; the least integer by -1 leaves 0. Floats may have the sign of the divisor from opset 28 on: of an infinite
    /// divisor with another sign than the dividend that is the result.
    ///
    /// ONNX: [Mod](https://onnx.ai/onnx/operators/onnx__Mod.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Mod {
        /// Whether the result has the dividend's sign instead of the divisor's; floats need it before opset 28.
        pub fmod: bool = false,
    }
}

/// The first opset in which floats and integers have remainders of both signs.
const FREE: u32 = 28;

impl Single for Mod {
    const ROW: Row = Row::new("Mod");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let a = d.any(0..=d.limits.max_rank)?;
        if a.dtype.is_float() {
            // Where a quotient of 1 is rounded first, it is truncated to either side.
            d.apart();
        }
        d.broadcast_with(a.dtype, &a)?;
        // The text of opsets before 28 keeps either to one kind of numbers.
        Some(Mod { fmod: if d.limits.opset < FREE { a.dtype.is_float() } else { d.flag() } })
    }
}

impl Mod {
    /// The remainder of integers; `None` for a zero divisor, which ONNX leaves undefined.
    fn int(self, p: i128, q: i128) -> Option<i128> {
        let remainder = p.checked_rem(q)?;
        let wrong_sign = remainder != 0 && (remainder < 0) != (q < 0);
        Some(if wrong_sign && !self.fmod { remainder + q } else { remainder })
    }

    /// The remainder of floats. One that is 0 has the sign of the divisor as well. With `fmod` the text of opsets
    /// before 28 says that it is exact; without, `A - floor(A / B) * B`, whose steps may round.
    fn real<A: Arith>(self, a: &A, x: A::R, y: A::R) -> A::R {
        let remainder = a.fmod(x, y);
        if self.fmod {
            return remainder;
        }
        let zero = a.real(0.0);
        let is_negative = |v: A::R| a.compare(Comparison::Less, v, zero);
        let is_zero = a.compare(Comparison::Equal, remainder, zero);
        let signs = [is_zero, is_negative(remainder), is_negative(y)];
        let has_other_sign = a.exact(signs, |[zero, r, y]| Some(i128::from(zero == 0 && r != y)));
        let moved = a.select(has_other_sign, a.add(remainder, y), remainder);
        let exact = a.select(is_zero, a.select(is_negative(y), a.real(-0.0), zero), moved);
        // Of infinite divisors the text says itself what is left.
        let is_infinite = a.is(Class::PositiveInfinity, a.abs(y));
        let by_formula = || a.sub(x, a.mul(a.step(Step::Floor, a.div(x, y)), y));
        a.select(is_infinite, exact, a.either(exact, by_formula))
    }
}

impl<D: Dim> TypeRule<D> for Mod {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![rule::broadcast(r, &[x.need(0)?, x.need(1)?])?])
    }
}

impl Operator for Mod {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let is_real = x.iter().flatten().any(|ty| ty.dtype.is_float());
        let edges = vec![(0, Edge::Meets(1)), (0, Edge::Limits), (1, Edge::Limits), (1, Edge::Poles)];
        Facts {
            since: if is_real && !self.fmod { FREE } else { 13 },
            ..Facts::calculates(Cost::PerOutput(1), Batch::Together, None, edges)
        }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        // The smallest integer modulo -1 is 0, although x86 division traps there: worth visiting, not a hazard.
        let mut hazards = vec![Hazard::Zero { operand: 1 }];
        if x.iter().flatten().any(|ty| ty.dtype.is_float()) {
            // A quotient that is whole is truncated to either side where it is rounded first, as WGSL has it.
            hazards.push(Hazard::Ties { operand: 1 });
        }
        hazards
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        c.zip(|x, y| self.real(a, x, y), |x, y| a.exact([x, y], |[p, q]| self.int(p, q)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{run, tensor};

    tables! {
        the_sign_is_the_divisors_or_the_dividends: "
            x = i32[6] {-4, 7, 5, 4, -7, 8}; y = i32[6] {2, -3, 8, -2, 3, 5}
            Mod(x, y) = i32[6] {0, -2, 5, 0, 2, 3}
            Mod(x, y) {fmod = 1} = i32[6] {0, 1, 5, 0, -1, 3}
        ";
        an_infinite_divisor_leaves_the_dividend_or_is_left_itself: "
            x = f32[4] {1.5, -1.5, inf, -1.5}; y = f32[4] {inf, inf, 2, -inf}
            Mod(x, y) = f32[4] {1.5, inf, nan, -1.5}
            Mod(x, f32[] {0}) = f32[4] {nan, nan, nan, nan}
        ";
        floats_have_the_divisors_sign_from_opset_28_on: "
            Mod(f32[], f32[]) is there since 28
            Mod(f32[], f32[]) {fmod = 1} is there since 13
            Mod(i8[], i8[]) is there since 13
        ";
    }

    #[test]
    fn the_remainder_of_floats_has_either_sign() {
        let x = tensor(DType::F64, &[5], &[-4.3, 7.0, 5.5, -6.0, 0.0]);
        let y = tensor(DType::F64, &[5], &[2.0, -3.0, 8.0, 3.0, -1.0]);
        assert_eq!(run(Mod { fmod: true }, &[&x, &y]), [-4.3 + 4.0, 1.0, 5.5, 0.0, 0.0]);
        let floored = run(Mod { fmod: false }, &[&x, &y]);
        assert_eq!(floored, [-4.3 + 6.0, -2.0, 5.5, 0.0, 0.0]);
        assert_eq!([3, 4].map(|i: usize| floored[i].is_sign_negative()), [false, true]);
    }
}
